//! Times sampled values between points and says what it cost: `hops SECONDS NAME=INTERFACE[@NAMESPACE-FILE]:KIND...`.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::collections::BTreeSet;
use std::time::Duration;
use sys::link::find;
use sys::netns::NetNs;
use trace::hops::{HopOptions, HopTracer, Place, Point, PointKind};

/// A point, as it is given.
const POINT: &str = "NAME=INTERFACE[@NAMESPACE-FILE]:KIND";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().ok_or("how long?")?.parse()?;
    let mut points: Vec<Point> = Vec::new();
    for argument in arguments {
        let (name, rest) = argument.split_once('=').ok_or(POINT)?;
        let (interface, word) = rest.split_once(':').ok_or(POINT)?;
        let (interface, namespace) = match interface.split_once('@') {
            Some((interface, file)) => (interface, NetNs::open(file.as_ref())?),
            None => (interface, NetNs::current()?),
        };
        let kind = PointKind::ALL.into_iter().find(|kind| kind.word() == word);
        let place = Place {
            ifindex: namespace.run(|| find(interface).map(|link| link.index))??,
            netns: namespace.inode()?,
            kind: kind.ok_or("no such kind")?,
        };
        points.push(Point {
            name: name.to_owned(),
            places: vec![place],
            parent: points.len().saturating_sub(1),
        });
    }
    let mut tracer = HopTracer::start(HopOptions {
        points,
        max_streams: 256,
        threshold_ns: None,
        tell_all: false,
    })?;
    // From here on only long durations are told, as in a run whose floors have risen.
    std::thread::sleep(Duration::from_millis(500));
    let mut series = BTreeSet::new();
    tracer.durations(|duration| {
        series.insert(duration.series);
    });
    for series in series {
        tracer.set_floor(series, 100_000)?;
    }
    tracer.next_span()?;
    tracer.read()?;
    let counting = HopTracer::count_cost()?;
    std::thread::sleep(Duration::from_secs(seconds));
    drop(counting);
    show_programs()?;
    tracer.stop()?;
    tracer.next_span()?;
    let readings = tracer.read()?;
    let frames: u64 = readings
        .iter()
        .filter(|reading| reading.point == 0)
        .map(|reading| reading.counts.seen)
        .sum();
    for (number, point) in tracer.options().points.iter().enumerate() {
        let here = || readings.iter().filter(|reading| reading.point == number);
        let paired: u64 = here().map(|reading| reading.counts.paired).sum();
        let sum_ns: u64 = here().map(|reading| reading.counts.sum_ns).sum();
        let max_ns = here().map(|reading| reading.hop.max_ns).max().unwrap_or(0);
        println!(
            "{}: paired {paired}, mean {} ns, max {max_ns} ns",
            point.name,
            sum_ns / paired.max(1)
        );
    }
    let cost = tracer.cost()?;
    println!("{frames} frames, {} runs, {} ns", cost.runs, cost.time_ns);
    println!("{:.0} ns per frame", cost.time_ns as f64 / frames.max(1) as f64);
    println!("{:?}", tracer.troubles()?);
    Ok(())
}

/// What each program cost by itself, in the order they were loaded in.
fn show_programs() -> Result<(), Box<dyn std::error::Error>> {
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir("/proc/self/fdinfo")? {
        let text = std::fs::read_to_string(entry?.path()).unwrap_or_default();
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|value| value.trim().parse::<u64>().ok())
        };
        let (Some(id), Some(time_ns), Some(runs)) = (number("prog_id"), number("run_time_ns"), number("run_cnt"))
        else {
            continue;
        };
        if seen.insert(id) {
            let verified = number("verified_insns").unwrap_or(0);
            let mean_ns = time_ns / runs.max(1);
            println!("program {id}: {runs} runs, {mean_ns} ns each; {verified} instructions verified");
        }
    }
    Ok(())
}
