//! Lines of the kernel's log that are evidence against real-time work.
//!
//! Only these lines are kept and recorded: the rest of a log may reveal more than its owner wants.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::Facts;
use crate::value::Unknown;
use host::error::{HostError, Unreadable};
use host::reader::Reader;

/// Name of the answer: its first line gives the start of the log, each further one is an alarm, with the seconds since boot.
const ANSWER: &str = "kernel-log";
const WHOLE: &str = "whole";

const SPLIT_LOCK: &str = "split lock";

/// Pattern of a line: all its words must appear. The table also names the kernel's source file.
#[derive(Deserialize)]
struct LogPattern {
    kind: String,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    line: Vec<LogPattern>,
}

static LINES: LazyLock<Vec<LogPattern>> = LazyLock::new(|| {
    let file: Lines = toml::from_str(include_str!("../../../rules/kernel-log.toml"))
        .unwrap_or_else(|error| panic!("rules/kernel-log.toml: {error}"));
    file.line
});

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let log = reader.answer(ANSWER, live).map_err(|error| unread(reader, error));
    let parsed = log.and_then(|text| Log::parse(&text));
    let of = |pick: fn(&Log) -> Vec<String>| parsed.as_ref().map(pick).map_err(Unknown::clone);
    facts.set("kernel.log-alarms", of(Log::summary));
    let complete = parsed.as_ref().map_err(Unknown::clone).and_then(Log::complete);
    facts.set("kernel.log-complete", complete);
    let split = parsed.as_ref().map_err(Unknown::clone).and_then(|log| {
        let count = log.alarms.iter().filter(|(kind, _)| *kind == SPLIT_LOCK).count();
        match count {
            0 => log.complete().map(|_| 0),
            count => Ok(count),
        }
    });
    facts.set("kernel.log-split-locks", split);
}

fn unread(reader: &Reader, error: HostError) -> Unknown {
    if !reader.is_live() && error.is_absent() {
        return Unknown::unclear("the kernel's log was not recorded with this tree");
    }
    match error {
        error if error.is_forbidden() => Unknown {
            text: format!("{error}: reading the kernel's log needs CAP_SYSLOG"),
            ..Unknown::from(error)
        },
        error => Unknown::from(error),
    }
}

/// The relevant lines of this machine's log.
fn live() -> Result<String, HostError> {
    let records = sys::kmsg::records().map_err(|error| HostError::Unreadable {
        path: "/dev/kmsg".to_owned(),
        why: Unreadable::from_io(&error),
    })?;
    let parsed: Vec<LogRecord<'_>> = records.iter().filter_map(|record| LogRecord::parse(record)).collect();
    let begins = match parsed.first() {
        None => return Err(HostError::Undecided("/dev/kmsg gave no record".to_owned())),
        Some(first) if first.sequence == 0 => WHOLE.to_owned(),
        Some(first) => format!("from {}", first.seconds),
    };
    let alarms = parsed.iter().filter(|record| kind(record.text).is_some());
    let lines = alarms.map(|record| format!("\n{} {}", record.seconds, record.text));
    Ok(lines.fold(begins, |answer, line| answer + &line))
}

/// A record of the form `priority,sequence,microseconds,flags;text`; lines with other fields may follow.
struct LogRecord<'a> {
    sequence: u64,
    seconds: u64,
    text: &'a str,
}

impl<'a> LogRecord<'a> {
    fn parse(record: &'a str) -> Option<Self> {
        let (head, rest) = record.split_once(';')?;
        let mut head = head.split(',').skip(1);
        Some(Self {
            sequence: head.next()?.parse().ok()?,
            seconds: head.next()?.parse::<u64>().ok()? / 1_000_000,
            text: rest.lines().next().unwrap_or_default(),
        })
    }
}

fn kind(text: &str) -> Option<&'static str> {
    let has = |line: &&LogPattern| line.words.iter().all(|word| text.contains(word));
    LINES.iter().find(has).map(|line| line.kind.as_str())
}

struct Log {
    /// First second of the log, if its beginning is lost.
    begins: Option<u64>,
    /// Kind and second since boot, in order.
    alarms: Vec<(&'static str, u64)>,
}

impl Log {
    fn parse(text: &str) -> Result<Self, Unknown> {
        let wrong = || Unknown::unclear("the recorded log of the kernel cannot be understood");
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default().trim();
        let begins = match head.strip_prefix("from ") {
            Some(seconds) => Some(seconds.parse().map_err(|_| wrong())?),
            None if head == WHOLE => None,
            None => return Err(wrong()),
        };
        let alarms = lines.filter_map(|line| {
            let (seconds, text) = line.split_once(' ')?;
            Some((kind(text)?, seconds.parse().ok()?))
        });
        Ok(Self {
            begins,
            alarms: alarms.collect(),
        })
    }

    /// Summary by kind: count, first and last.
    fn summary(&self) -> Vec<String> {
        let mut kinds: Vec<&str> = Vec::new();
        for (kind, _) in &self.alarms {
            if !kinds.contains(kind) {
                kinds.push(kind);
            }
        }
        let line = |kind: &str| {
            let times: Vec<u64> = self
                .alarms
                .iter()
                .filter(|(own, _)| *own == kind)
                .map(|(_, at)| *at)
                .collect();
            let (first, last) = (times.first().unwrap_or(&0), times.last().unwrap_or(&0));
            match times.len() {
                1 => format!("{kind} ({first} s after boot)"),
                count => format!("{kind} ({count} times, {first} s to {last} s after boot)"),
            }
        };
        kinds.into_iter().map(line).collect()
    }

    fn complete(&self) -> Result<bool, Unknown> {
        match self.begins {
            None => Ok(true),
            Some(seconds) => Err(Unknown::unclear(format!(
                "the log begins {seconds} s after boot: earlier messages are overwritten"
            ))),
        }
    }
}
