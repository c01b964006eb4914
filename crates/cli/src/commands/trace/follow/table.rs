//! Passages as text: a block for each sampled value, and the duration of each step over all of them.

use super::Found;
use std::collections::BTreeMap;
use trace::passage::{FollowCounts, Listening, Origin, Passage, PassageStep, SkbEnd, summarize};
use units::foreign::{self, Show};
use units::format_ns;

/// Traced tracepoints and functions, in a line or two.
pub(super) fn listening(listening: &Listening) -> String {
    let mut text = format!("listening to {} tracepoints", listening.tracepoints.len());
    if listening.functions > 0 {
        text.push_str(&format!(" and {} functions", listening.functions));
    }
    text.push('\n');
    if let Some(why) = &listening.no_functions {
        text.push_str(&format!("functions: {why}\n"));
    }
    for (name, why) in &listening.left_out {
        text.push_str(&format!(
            "not listened to: {}\n",
            foreign::shown(&format!("{name}: {why}"))
        ));
    }
    text
}

/// All findings.
pub(super) fn render(found: &Found) -> String {
    let namespaces = Namespaces::of(found);
    let mut text = String::new();
    for passage in &found.passages {
        text.push_str(&block(passage, &namespaces));
        text.push('\n');
    }
    if found.passages.len() > 1 {
        text.push_str(&summary(&found.passages, &namespaces));
    }
    text.push_str(&namespaces.legend());
    for (count, what) in [
        (
            found.counts.lost_events,
            "events found no room in the ring: the lists are incomplete",
        ),
        (
            not_shown(&found.counts),
            "events were not shown by the kernel: the lists may be incomplete",
        ),
        (
            found.counts.not_kept,
            "of the kernel's buffers were not tracked: the lists may be incomplete",
        ),
        (
            found.counts.no_room,
            "frames were of streams that there was no room for (--max-streams)",
        ),
        (found.counts.malformed, "frames were malformed"),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} {what}\n"));
        }
    }
    if found.counts.missed_functions.is_none() {
        text.push_str("this kernel does not report if it left out events of functions\n");
    }
    text
}

/// Events that the kernel is known to have lost.
pub(super) fn not_shown(counts: &FollowCounts) -> u64 {
    counts.missed_runs + counts.missed_functions.unwrap_or(0)
}

/// Short names for the other network namespaces.
struct Namespaces<'a> {
    found: &'a Found,
    numbers: BTreeMap<u32, usize>,
}

impl<'a> Namespaces<'a> {
    fn of(found: &'a Found) -> Self {
        let mut numbers = BTreeMap::new();
        for step in found.passages.iter().flat_map(|passage| &passage.steps) {
            let next = numbers.len() + 1;
            if step.netns != found.netns && step.netns != 0 {
                numbers.entry(step.netns).or_insert(next);
            }
        }
        Self { found, numbers }
    }

    /// Text for an interface and its namespace.
    fn place(&self, interface: &str, netns: u32) -> String {
        let interface = if interface.is_empty() { "-" } else { interface };
        match self.numbers.get(&netns) {
            Some(number) => format!("{interface}@N{number}"),
            None => interface.to_owned(),
        }
    }

    fn legend(&self) -> String {
        let lines = self.numbers.iter().map(|(inode, number)| {
            let owner = self.found.owners.get(inode).map_or("owner unknown", String::as_str);
            (*number, format!("N{number}: network namespace {inode}, {owner}\n"))
        });
        lines.collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

fn block(passage: &Passage, namespaces: &Namespaces<'_>) -> String {
    let stream = &passage.stream;
    let mac: Vec<String> = stream.source.iter().map(|octet| format!("{octet:02x}")).collect();
    let mut text = format!(
        "{} smpCnt {} (APPID {:#06x}, from {}): {}; {}\n",
        String::from_utf8_lossy(&stream.sv_id),
        passage.smp_cnt,
        stream.appid,
        mac.join(":"),
        format_ns(passage.took_ns() as f64),
        ending(passage),
    );
    if passage.lost_events > 0 {
        text.push_str(&format!(
            "{} events were lost: the list is incomplete\n",
            passage.lost_events
        ));
    }
    let head = [
        "since first",
        "delta",
        "cpu",
        "in",
        "thread",
        "skb",
        "interface",
        "event",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(passage.steps.iter().map(|step| row(step, passage, namespaces)));
    text + &columns(&rows, 3)
}

fn row(step: &PassageStep, passage: &Passage, namespaces: &Namespaces<'_>) -> [String; 8] {
    let is_new = passage.steps.iter().find(|other| other.skb == step.skb) == Some(step);
    let origin = match passage.skbs[step.skb - 1].origin {
        Origin::CloneOf(other) if is_new => format!(" clone of #{other}"),
        Origin::Copy if is_new => " copy".to_owned(),
        _ => String::new(),
    };
    let mut event = step.what.name().to_owned();
    if step.what.is_function() {
        event.push_str("()");
    }
    if let Some(reason) = &step.reason {
        event.push_str(&format!(": {reason}"));
    }
    if let Some(location) = &step.location {
        event.push_str(&format!(" by {location}"));
    }
    [
        format_ns(step.since_first_ns as f64),
        format_ns(step.delta_ns as f64),
        step.cpu.to_string(),
        step.context.to_string(),
        format!("{}/{}", step.comm, step.tid),
        format!("#{}{origin}", step.skb),
        namespaces.place(&step.interface, step.netns),
        event,
    ]
}

/// End of the passage: that of each of its `sk_buff`s.
pub(super) fn ending(passage: &Passage) -> String {
    let mut ends: Vec<(String, Vec<String>)> = Vec::new();
    for (number, skb) in passage.skbs.iter().enumerate() {
        let end = end(&skb.end);
        let number = format!("#{}", number + 1);
        match ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, numbers)) => numbers.push(number),
            None => ends.push((end, vec![number])),
        }
    }
    let is_one = ends.len() == 1;
    let parts = ends.into_iter().map(|(end, numbers)| match is_one {
        true => end,
        false => format!("{} {end}", numbers.join(", ")),
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn end(end: &SkbEnd) -> String {
    match end {
        SkbEnd::Consumed => "consumed".to_owned(),
        SkbEnd::Dropped(Some(reason)) => format!("dropped ({reason})"),
        SkbEnd::Dropped(None) => "dropped (this kernel gives no reason)".to_owned(),
        SkbEnd::NotSeen => "not seen to end".to_owned(),
    }
}

fn summary(passages: &[Passage], namespaces: &Namespaces<'_>) -> String {
    let head = [
        "since first, median",
        "delta, median",
        "delta, max",
        "of",
        "interface",
        "event",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for step in summarize(passages) {
        let again = match step.occurrence {
            1 => String::new(),
            number => format!(" (time {number})"),
        };
        rows.push([
            format_ns(step.median_since_first_ns as f64),
            format_ns(step.median_delta_ns as f64),
            format_ns(step.max_delta_ns as f64),
            step.count.to_string(),
            namespaces.place(&step.interface, step.netns),
            format!("{}{again}", step.what.name()),
        ]);
    }
    format!("all {} together\n{}", passages.len(), columns(&rows, 4))
}

/// Pads columns to the width of their contents; the first ones are aligned right.
fn columns<const N: usize>(rows: &[[String; N]], to_the_right: usize) -> String {
    // Names of threads and interfaces may contain any character.
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(Show::shown)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str("  ");
            if column < to_the_right {
                line.push_str(&format!("{cell:>width$}"));
            } else {
                line.push_str(&format!("{cell:<width$}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
