//! Makes recordings of any length quickly: a run file, or the two files that sv_timestamp_logger would write.
//!
//! `cargo run --release -p triptime-bench --example recording -- run FILE SAMPLES STREAMS`
//! `cargo run --release -p triptime-bench --example recording -- logger PUBLISHER SUBSCRIBER SAMPLES STREAMS`
//!
//! Streams of 4800 samples/s in bursts: a few microseconds of jitter for each burst, 100 ns within it, a late burst now and then
//! (log-normal delays), one sample in a million lost.

#![allow(missing_docs)]

use model::{RunInfo, RunState};
use recording::{Record, SegmentWriter, StreamInfo};
use run::sealing;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use store::RunWriter;
use units::Realtime;

const RATE: u64 = 4_800;
const START_NS: i64 = 1_790_000_000_000_000_000;

/// xorshift64* (Vigna, 2016).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A delay around `median` ns whose logarithm is normal.
    fn delay(&mut self, median: f64, spread: f64) -> i64 {
        let normal = (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        (median * (spread * normal).exp()) as i64
    }
}

/// Passes every record of the recording to `take`.
fn records(
    samples: u64,
    streams: u16,
    mut take: impl FnMut(&Record) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut application = 0;
    for number in 0..samples / u64::from(streams) {
        let due = START_NS + (number * 1_000_000_000 / RATE) as i64;
        let mut kernel = due + noise.delay(4_000.0, 0.3);
        application = (kernel + noise.delay(6_000.0, 0.5)).max(application);
        for stream in 0..streams {
            let bits = noise.next();
            kernel += 600 + (bits & 0x7f) as i64 + (bits >> 8 & 0x7f) as i64;
            application =
                (application + 300 + (bits >> 16 & 0x3f) as i64 + (bits >> 24 & 0x3f) as i64).max(kernel + 900);
            if bits >> 32 & 0xf_ffff == 0 {
                continue;
            }
            take(&Record {
                stream,
                samples: 1,
                flags: 0,
                number,
                stamps: recording::instants([Some(kernel), Some(application)]),
            })?;
        }
    }
    Ok(())
}

fn run_file(path: &str, samples: u64, streams: u16) -> Result<(), Box<dyn Error>> {
    let info = RunInfo {
        id: "bench".into(),
        command: "subscribe".into(),
        arguments: Vec::new(),
        tool_version: "0".into(),
        started: Realtime::from_ns(START_NS),
        window_ns: 20_000_000_000,
    };
    let mut run = RunWriter::create(path.as_ref(), &info, None)?;
    let mut segment = SegmentWriter::new(&["kernel", "application"]);
    for number in 0..streams {
        let rate = Some(RATE as u32);
        segment.set_stream(StreamInfo {
            rate,
            ..StreamInfo::named(number, format!("MU{number:02}"))
        })?;
    }
    records(samples, streams, |record| {
        sealing::push::<Box<dyn Error>>(&mut segment, record, &mut run)
    })?;
    sealing::seal::<Box<dyn Error>>(&mut segment, &mut run)?;
    run.finish(RunState::Complete, samples / u64::from(streams) * 1_000_000_000 / RATE)?;
    Ok(())
}

fn logger_files(publisher: &str, subscriber: &str, samples: u64, streams: u16) -> Result<(), Box<dyn Error>> {
    let open = |path: &str| File::create(path).map(|file| BufWriter::with_capacity(1 << 20, file));
    let (mut publisher, mut subscriber) = (open(publisher)?, open(subscriber)?);
    records(samples, streams, |record| {
        let (pass, count) = (record.number / RATE, record.number % RATE);
        let [Some(sent), Some(came), ..] = record.stamps else {
            return Ok(());
        };
        // The analysis tool accepts only four hexadecimal digits.
        writeln!(publisher, "{pass}:{:04x}:{count}:{}", record.stream, sent / 1_000)?;
        writeln!(subscriber, "{pass}:{:04x}:{count}:{}", record.stream, came / 1_000)?;
        Ok(())
    })?;
    publisher.flush()?;
    subscriber.flush()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["run", path, samples, streams] => run_file(path, samples.parse()?, streams.parse()?),
        ["logger", publisher, subscriber, samples, streams] => {
            logger_files(publisher, subscriber, samples.parse()?, streams.parse()?)
        }
        _ => Err("usage: recording run FILE SAMPLES STREAMS | logger PUBLISHER SUBSCRIBER SAMPLES STREAMS".into()),
    }
}
