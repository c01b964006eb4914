//! Contents of the run files of a traced bed.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The result document of a run file.
pub(crate) fn report(file: &Path) -> Value {
    let output = support::run(&["report", file.to_str().expect("UTF-8"), "--json"]);
    assert!(
        !output.stdout.is_empty(),
        "{}: {}",
        file.display(),
        support::stderr(&output)
    );
    support::json(&output)
}

/// Received and lost of a series.
pub(crate) fn counts(document: &Value, name: &str) -> (u64, u64) {
    let series = support::series(document, name);
    let count = |field: &str| series[field].as_u64().expect("a count");
    (count("received"), count("lost"))
}

/// Frames that a publisher sent.
pub(crate) fn published(file: &Path) -> u64 {
    counts(&report(file), "publish/lateness").0
}

/// Frames of a stream that came to a point and were not timed there, as the run's events say: if the machine stands still for half a second, frames
/// come too late to be distinguished from those of the next round.
pub(crate) fn not_timed(document: &Value, stream: &str, point: &str) -> u64 {
    let events = document["events"].as_array().expect("events").iter();
    // Each is listed once for every hop that it concerns.
    let texts: BTreeSet<&str> = events.filter_map(|event| event["text"].as_str()).collect();
    let counts = texts.into_iter().filter_map(|text| {
        let text = text.strip_prefix(stream)?.strip_prefix(": ")?;
        let (count, rest) = text.split_once(" frames at ")?;
        rest.starts_with(&format!("{point} "))
            .then(|| count.parse::<u64>().expect("a count"))
    });
    counts.sum()
}

/// True if nothing came to a network card for half a second: this machine, or its guest, was delayed.
pub(crate) fn was_held_up(document: &Value) -> bool {
    let events = document["events"].as_array().expect("events");
    let mut texts = events.iter().filter_map(|event| event["text"].as_str());
    texts.any(|text| text.contains(": nothing came to nic for ") || text.contains(": nothing has come to nic for "))
}
