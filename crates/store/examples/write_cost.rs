//! Measures the cost of writing: batches of 20 windows of a million samples' spread, within a file budget.
//!
//! `cargo run --release -p triptime-store --example write_cost -- FILE [BATCHES [BUDGET-MIB]]`

#![forbid(unsafe_code)]

use model::{Counters, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec, Window};
use stats::Histogram;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use store::{Batch, RunFile, RunWriter};
use units::Realtime;

const SERIES: u32 = 20;
const WINDOW_NS: u64 = 20_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("name a file to write")?;
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (batches, budget) = (number(1, 1_000)?, number(2, 64)? << 20);
    let mut writer = RunWriter::create(Path::new(path), &info(), Some(budget))?;
    for index in 0..SERIES {
        writer.add_series(&spec(index))?;
    }
    let histograms: Vec<Histogram> = (0..SERIES).map(histogram).collect();
    let (mut wall, cpu_before) = (Vec::new(), cpu_ms()?);
    for batch in 0..batches {
        let batch = windows(batch, &histograms);
        let begin = Instant::now();
        writer.write(&batch)?;
        wall.push(begin.elapsed().as_micros());
    }
    let cpu = cpu_ms()? - cpu_before;
    wall.sort_unstable();
    let begin = Instant::now();
    writer.finish(RunState::Complete, batches * WINDOW_NS)?;
    let finish = begin.elapsed();
    let begin = Instant::now();
    let run = RunFile::open(Path::new(path))?;
    let samples: u64 = run
        .series()?
        .iter()
        .map(|(id, _)| run.histogram(*id).map_or(0, |all| all.count()))
        .sum();
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{batches} batches of {SERIES} windows, histograms of {} bytes",
        histograms[0].to_bytes().len()
    )?;
    writeln!(out, "CPU per batch: {:.2} ms", cpu / batches as f64)?;
    writeln!(
        out,
        "wall per batch: median {} us, longest {} us",
        wall[wall.len() / 2],
        wall[wall.len() - 1]
    )?;
    writeln!(
        out,
        "finish: {finish:?}; all histograms read ({samples} samples): {:?}",
        begin.elapsed()
    )?;
    writeln!(
        out,
        "file: {} bytes; peak memory: {}",
        std::fs::metadata(path)?.len(),
        status("VmHWM:")?
    )?;
    Ok(())
}

fn info() -> RunInfo {
    RunInfo {
        id: "cost".into(),
        command: "write_cost".into(),
        arguments: Vec::new(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        started: Realtime::from_ns(0),
        window_ns: WINDOW_NS,
    }
}

fn spec(index: u32) -> SeriesSpec {
    SeriesSpec {
        what: "made up".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: None,
        threshold_ns: None,
        settings: Vec::new(),
        ..SeriesSpec::named(&format!("cost/{index}"))
    }
}

/// Wake-up latencies of a busy machine: exponential around 5 µs, with a tail.
fn histogram(seed: u32) -> Histogram {
    let mut histogram = Histogram::new();
    let mut state = u64::from(seed) + 1;
    for _ in 0..80_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        let tail = if state >> 54 == 0 { 40_000.0 } else { 2_000.0 };
        histogram.record(3_000 + (-uniform.ln() * tail) as u64);
    }
    histogram
}

fn windows(number: u64, histograms: &[Histogram]) -> Batch {
    let windows = (0..)
        .zip(histograms)
        .map(|(index, histogram)| Window {
            series: SeriesId(index),
            start_ns: number * WINDOW_NS,
            end_ns: (number + 1) * WINDOW_NS,
            counters: Counters {
                expected: histogram.count(),
                received: histogram.count(),
                ..Counters::default()
            },
            sum_ns: 400_000_000,
            min_ns: histogram.min().and_then(|ns| i64::try_from(ns).ok()),
            max_ns: histogram.max().and_then(|ns| i64::try_from(ns).ok()),
            histogram: histogram.clone(),
        })
        .collect();
    Batch {
        windows,
        ..Batch::default()
    }
}

/// User and system time of this process, from its first two figures in clock ticks of 10 ms.
fn cpu_ms() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? * 10.0)
}

fn status(name: &str) -> Result<String, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .ok_or("no such line")?;
    Ok(line.trim().to_owned())
}
