//! The JSON of `--json`, `file_version` 1.

use super::super::{Bucket, MIN_WITHOUT_SAMPLES, Measurement, System, Thread};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The version of rt-tests with this format, in its own notation.
const FORM_OF: &str = "2.40";

/// The keys in the original order; two of them end with a colon, as in the original.
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

/// Resolution of the average in this format, in its unit.
const RESOLUTION: f64 = 0.01;

/// Writes the format of `--json`. An unknown value is an empty text, or CPU -1; an average with only whole-unit resolution is omitted.
///
/// # Errors
/// `out` cannot be written.
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
    let mut entry = json!({
        "histogram": histogram,
        "cycles": thread.cycles,
        "min": thread.min.unwrap_or(MIN_WITHOUT_SAMPLES),
        "max": thread.max.unwrap_or(0),
        "avg": average(thread).map(|average| (average * 100.0).round() / 100.0),
        "cpu": thread.cpu.map_or(-1, i64::from),
        "node": -1,
    });
    if let Some(entry) = entry.as_object_mut().filter(|entry| entry["avg"].is_null()) {
        entry.shift_remove("avg");
    }
    entry
}

/// The mean with the resolution of a hundredth of a unit that this format requires: the known one, otherwise that of the buckets, as cyclictest
/// writes it. `None` if neither is available: the mean is truncated to a whole unit and some samples are in no bucket.
fn average(thread: &Thread) -> Option<f64> {
    let Some(mean) = thread.mean else { return Some(0.0) };
    if mean.resolution <= RESOLUTION {
        return Some(mean.value);
    }
    let sum: f64 = thread.buckets.iter().map(|(k, count)| *k as f64 * *count as f64).sum();
    (thread.overflows() == 0 && thread.cycles > 0).then(|| sum / thread.cycles as f64)
}

/// A time in cyclictest's format, to the second.
fn instant(ns: Option<i64>) -> String {
    ns.and_then(|ns| Timestamp::from_second(ns.div_euclid(1_000_000_000)).ok())
        .and_then(|at| rfc2822::to_string(&at.to_zoned(TimeZone::UTC)).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::average;
    use crate::cyclictest::{Mean, Thread};

    #[test]
    fn a_mean_cut_to_a_microsecond_is_not_written_as_if_it_were_exact() {
        let mut thread = Thread {
            number: 0,
            cpu: None,
            cycles: 4,
            min: Some(3),
            max: Some(5),
            mean: Some(Mean {
                value: 3.0,
                resolution: 1.0,
            }),
            buckets: vec![(3, 3), (5, 1)],
            interval_ns: None,
            priority: None,
        };
        assert_eq!(average(&thread), Some(3.5), "that of the buckets");
        thread.cycles = 5;
        assert_eq!(average(&thread), None, "one sample is in no bucket");
        thread.mean = Some(Mean {
            value: 3.47,
            resolution: 0.01,
        });
        assert_eq!(average(&thread), Some(3.47));
    }
}
