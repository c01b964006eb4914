//! The JSON of `--json`, `file_version` 1.

use super::super::command::Command;
use super::super::{Bucket, CyclictestError, Mean, Measurement, System, Thread};
use super::repair::repaired;
use jiff::fmt::rfc2822;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The supported format.
const FILE_VERSION: u64 = 1;

/// Two keys end with a colon in every version that writes them.
#[derive(Deserialize)]
struct File {
    file_version: u64,
    #[serde(rename = "cmdline:", alias = "cmdline")]
    command_line: Option<String>,
    #[serde(rename = "rt_test_version:", alias = "rt_test_version")]
    version: Option<String>,
    start_time: Option<String>,
    end_time: Option<String>,
    sysinfo: Option<System>,
    resolution_in_ns: u64,
    thread: BTreeMap<u32, ThreadJson>,
}

#[derive(Deserialize)]
struct ThreadJson {
    histogram: Option<BTreeMap<u64, u64>>,
    cycles: u64,
    min: u64,
    max: u64,
    avg: Option<f64>,
    cpu: Option<i64>,
}

/// The JSON in a text: the whole file, or a part of standard output after its first lines.
pub(super) fn find(text: &str) -> Option<&str> {
    let start = if text.trim_start().starts_with('{') {
        text.find('{')
    } else {
        text.find("\n{").map(|at| at + 1)
    };
    let json = &text[start?..];
    // cyclictest closes the document with a brace on its own line; after it comes its histogram text.
    let end = json.find("\n}").map_or(json.len(), |at| at + 2);
    Some(&json[..end])
}

/// Parses it; see [`super::read`].
pub(super) fn read(json: &str, asked: Option<Bucket>) -> Result<Measurement, CyclictestError> {
    let file: File = serde_json::from_str(json)
        .or_else(|_| serde_json::from_str(&repaired(json)))
        .map_err(|error| CyclictestError::Json(error.to_string()))?;
    if file.file_version != FILE_VERSION {
        return Err(CyclictestError::Json(format!(
            "file_version {}: only {FILE_VERSION} is known",
            file.file_version
        )));
    }
    let bucket = bucket(file.resolution_in_ns, asked)?;
    let command = file.command_line.as_deref().and_then(Command::of);
    let threads = file.thread.into_iter();
    let threads: Vec<Thread> = threads
        .map(|(number, entry)| entry.thread(number, command.as_ref()))
        .collect::<Result<_, _>>()?;
    if threads.is_empty() {
        return Err(CyclictestError::Json("no thread in it".to_owned()));
    }
    let stopped = command
        .as_ref()
        .is_some_and(|command| stopped(command, bucket, &threads));
    Ok(Measurement {
        bucket,
        range: command.and_then(|command| command.buckets),
        threads,
        command_line: file.command_line,
        version: file.version,
        started_ns: file.start_time.as_deref().and_then(instant),
        ended_ns: file.end_time.as_deref().and_then(instant),
        system: file.sysinfo,
        stopped,
    })
}

/// `resolution_in_ns` is 1 with `-N`, otherwise 0.
fn bucket(resolution: u64, asked: Option<Bucket>) -> Result<Bucket, CyclictestError> {
    let found = match resolution {
        0 => Bucket::Microsecond,
        1 => Bucket::Nanosecond,
        other => {
            return Err(CyclictestError::Json(format!(
                "a resolution_in_ns of {other}: only 0 (microseconds) and 1 are known"
            )));
        }
    };
    match asked {
        Some(asked) if asked != found => Err(CyclictestError::OtherBucket { found, asked }),
        _ => Ok(found),
    }
}

/// True if it had to stop at the first sample above a limit (`-b`), and there was one.
fn stopped(command: &Command, bucket: Bucket, threads: &[Thread]) -> bool {
    let limit = command.break_us.map(|us| us.saturating_mul(1_000 / bucket.ns()));
    let max = threads.iter().filter_map(|thread| thread.max).max();
    limit.is_some_and(|limit| max > Some(limit))
}

/// `Sat, 21 Nov 2026 02:06:20 +0000`, in ns since 1970.
fn instant(text: &str) -> Option<i64> {
    let zoned = rfc2822::parse(text).ok()?;
    i64::try_from(zoned.timestamp().as_nanosecond()).ok()
}

impl ThreadJson {
    fn thread(self, number: u32, command: Option<&Command>) -> Result<Thread, CyclictestError> {
        let wrong = |what: String| CyclictestError::Thread { thread: number, what };
        let buckets: Vec<(u64, u64)> = self
            .histogram
            .unwrap_or_default()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        let sum = buckets
            .iter()
            .try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))
            .ok_or_else(|| wrong("the counts add up to more than 2^64".to_owned()))?;
        if sum > self.cycles {
            let cycles = self.cycles;
            return Err(wrong(format!("{sum} samples in the histogram of {cycles} cycles")));
        }
        if let Some((k, _)) = buckets.last().filter(|(k, _)| *k == u64::MAX) {
            return Err(wrong(format!("there is no bucket {k}")));
        }
        let any = self.cycles > 0;
        Ok(Thread {
            number,
            cpu: self.cpu.and_then(|cpu| u32::try_from(cpu).ok()),
            cycles: self.cycles,
            min: any.then_some(self.min),
            max: any.then_some(self.max),
            mean: self.avg.filter(|value| any && *value >= 0.0).map(|value| Mean {
                value,
                resolution: 0.01,
            }),
            buckets,
            interval_ns: command.and_then(|command| command.interval_ns(number)),
            priority: None,
        })
    }
}
