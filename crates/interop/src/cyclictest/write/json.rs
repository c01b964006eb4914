//! The JSON of `--json`, `file_version` 1.

use super::super::{Bucket, MIN_WITHOUT_SAMPLES, Measurement, System, Thread};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The version of rt-tests whose form this is, as it writes itself.
const FORM_OF: &str = "2.40";

/// The keys in the order of the original; two of them end with a colon there.
#[derive(Serialize)]
struct File<'a> {
    file_version: u8,
    #[serde(rename = "cmdline:")]
    command_line: &'a str,
    #[serde(rename = "rt_test_version:")]
    version: &'a str,
    start_time: String,
    end_time: String,
    return_code: u8,
    sysinfo: System,
    num_threads: usize,
    resolution_in_ns: u8,
    thread: Map<String, Value>,
}

/// Writes what `--json` writes. What the measurement does not know is an empty text, or CPU -1.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_json(measurement: &Measurement, out: &mut impl Write) -> io::Result<()> {
    let threads = measurement.threads.iter();
    let file = File {
        file_version: 1,
        command_line: measurement.command_line.as_deref().unwrap_or_default(),
        version: measurement.version.as_deref().unwrap_or(FORM_OF),
        start_time: instant(measurement.started_ns),
        end_time: instant(measurement.ended_ns),
        return_code: 0,
        sysinfo: measurement.system.clone().unwrap_or_default(),
        num_threads: measurement.threads.len(),
        resolution_in_ns: u8::from(measurement.bucket == Bucket::Nanosecond),
        thread: threads
            .map(|thread| (thread.number.to_string(), entry(thread)))
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &file)?;
    writeln!(out)
}

fn entry(thread: &Thread) -> Value {
    let histogram: Map<String, Value> = thread
        .buckets
        .iter()
        .map(|(k, count)| (k.to_string(), Value::from(*count)))
        .collect();
    json!({
        "histogram": histogram,
        "cycles": thread.cycles,
        "min": thread.min.unwrap_or(MIN_WITHOUT_SAMPLES),
        "max": thread.max.unwrap_or(0),
        "avg": thread.mean.map_or(0.0, |mean| (mean.value * 100.0).round() / 100.0),
        "cpu": thread.cpu.map_or(-1, i64::from),
        "node": -1,
    })
}

/// An instant as cyclictest writes it, to the second.
fn instant(ns: Option<i64>) -> String {
    ns.and_then(|ns| Timestamp::from_second(ns.div_euclid(1_000_000_000)).ok())
        .and_then(|at| rfc2822::to_string(&at.to_zoned(TimeZone::UTC)).ok())
        .unwrap_or_default()
}
