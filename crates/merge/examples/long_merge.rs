//! Makes two long recordings and merges them: how long that takes, and how much memory.
//!
//! `cargo run --release -p triptime-interop --example long_merge -- DIRECTORY SAMPLES STREAMS`
//!
//! A host's run and a guest's of streams of 4000 samples/s in bursts, with some microseconds of jitter; the guest lost one sample in
//! a million. SAMPLES are of each run.

#![allow(missing_docs)]

use merge::{Input, Merge, Relation};
use model::fact::{RECORDED_FROM, RECORDED_TO};
use model::{RunInfo, RunState};
use recording::{Record, SegmentWriter, StreamInfo, instants};
use run::sealing;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use store::RunWriter;
use units::Realtime;

const RATE: u64 = 4_000;
const PERIOD_NS: i64 = 250_000;
const START_NS: i64 = 1_790_000_000_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, samples, streams] = arguments.as_slice() else {
        return Err("long_merge DIRECTORY SAMPLES STREAMS".into());
    };
    let (samples, streams): (u64, u16) = (samples.parse()?, streams.parse()?);
    let path = |name: &str| Path::new(directory).join(name);
    let inputs = [("host", 0), ("guest", 30_000)].map(|(name, later_ns)| {
        let input = Input {
            path: path(&format!("{name}.triptime")),
            label: Some(name.to_owned()),
        };
        (input, later_ns)
    });
    for (input, later_ns) in &inputs {
        record(&input.path, samples, streams, *later_ns)?;
    }
    let before = Instant::now();
    let merge = Merge::open(&inputs.map(|(input, _)| input), Relation::Ptp(1_000))?;
    let out: PathBuf = path("merged.triptime");
    let mut run = RunWriter::create(&out, &info("merge", merge.started()), None)?;
    let merged = merge.write(&mut run)?;
    run.finish(merge.state(), merge.duration_ns())?;
    writeln!(
        std::io::stdout(),
        "{} frames, {} in both: {:.2?}; peak memory: {}; file: {} octets",
        merged.frames,
        merged.whole,
        before.elapsed(),
        peak()?,
        std::fs::metadata(&out)?.len()
    )?;
    Ok(())
}

fn info(command: &str, started: Realtime) -> RunInfo {
    RunInfo {
        id: command.into(),
        command: command.into(),
        arguments: Vec::new(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        started,
        window_ns: 20_000_000_000,
    }
}

/// A run whose frames come `later_ns` after they were sent, and then to a second point.
fn record(path: &Path, samples: u64, streams: u16, later_ns: i64) -> Result<(), Box<dyn Error>> {
    let mut run = RunWriter::create(path, &info("trace", Realtime::from_ns(START_NS)), None)?;
    let instants_of_all = samples / u64::from(streams);
    let end_ns = START_NS + instants_of_all as i64 * PERIOD_NS + 1_000_000_000;
    run.add_facts(&[
        RECORDED_FROM.fact(Ok(Realtime::from_ns(START_NS)), "made"),
        RECORDED_TO.fact(Ok(Realtime::from_ns(end_ns)), "made"),
    ])?;
    let mut segment = SegmentWriter::new(&["nic", "app"]);
    for stream in 0..streams {
        segment.set_stream(StreamInfo {
            rate: Some(RATE as u32),
            ..StreamInfo::named(stream, format!("MU{stream:02}"))
        })?;
    }
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64.wrapping_add(later_ns as u64);
    for number in 0..instants_of_all {
        for stream in 0..streams {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            if later_ns > 0 && noise >> 44 == 0 {
                continue;
            }
            let jitter_ns = i64::from(noise as u16 & 0x0fff);
            let at_ns = START_NS + number as i64 * PERIOD_NS + i64::from(stream) * 700 + later_ns + jitter_ns;
            let record = Record {
                stream,
                samples: 1,
                flags: 0,
                number,
                stamps: instants([Some(at_ns), Some(at_ns + 9_000)]),
            };
            sealing::push::<Box<dyn Error>>(&mut segment, &record, &mut run)?;
        }
    }
    sealing::seal::<Box<dyn Error>>(&mut segment, &mut run)?;
    Ok(run.finish(RunState::Complete, (end_ns - START_NS) as u64)?)
}

fn peak() -> Result<String, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("no VmHWM in /proc/self/status")?.trim().to_owned())
}
