//! Events of a relay, as a table.

use ::relay::config::Config;
use ::relay::events::{Change, Subject};
use ::relay::replay::{Replayed, Row, Tally};
use ::relay::words::{reasons, what, who};
use std::fmt::Write;
use std::path::Path;
use units::foreign::shown;

/// Table of the events of a relay that processed a file.
pub(super) fn render(config: &Config, file: &Path, replayed: &Replayed) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} samples at {} a second, {:.3} s, through {}",
        shown(&file.display().to_string()),
        replayed.samples,
        number(replayed.rate),
        replayed.seconds(),
        shown(&config.name),
    );
    for line in &replayed.inputs {
        let _ = writeln!(text, "  {}", shown(line));
    }
    for note in &replayed.notes {
        let _ = writeln!(text, "note: {}", shown(note));
    }
    text.push('\n');
    text.push_str(&events(config, replayed));
    text.push('\n');
    text.push_str(&sums(config, replayed));
    text
}

/// Three decimals, where the value has them.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn ms(ns: i64) -> String {
    format!("{:.2}", ns as f64 / 1e6)
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Starts, operations and resets; blocks of functions appear only in the totals.
fn events(config: &Config, replayed: &Replayed) -> String {
    let head = [
        "at ms",
        "from trigger ms",
        "since start ms",
        "sample",
        "name",
        "node",
        "what",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    let is_shown = |row: &&Row| {
        let is_block = matches!(row.event.change, Change::Blocked(_) | Change::Released);
        !is_block || matches!(row.event.subject, Subject::Stream(_))
    };
    rows.extend(replayed.story.rows.iter().filter(is_shown).map(|row| {
        let (name, node) = who(config, row.event.subject);
        let from_trigger = replayed.trigger_ns.map(|trigger| ms(signed(row.at_ns) - trigger));
        [
            ms(signed(row.at_ns)),
            from_trigger.unwrap_or_else(|| "-".to_owned()),
            row.since_start_ns
                .map_or_else(|| "-".to_owned(), |since| ms(signed(since))),
            row.event.at.to_string(),
            shown(name).into_owned(),
            node,
            what(row.event.change),
        ]
    }));
    if rows.len() == 1 {
        return "nothing happened\n".to_owned();
    }
    let mut text = columns(&rows, 4);
    if replayed.story.left_out > 0 {
        let _ = writeln!(text, "{} more changes are not listed", replayed.story.left_out);
    }
    text
}

/// Totals of each function, also of functions that never started.
fn sums(config: &Config, replayed: &Replayed) -> String {
    let head = [
        "starts",
        "operates",
        "first operate ms",
        "blocked ms",
        "name",
        "node",
        "",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    let story = &replayed.story;
    let functions = story.functions.iter().enumerate();
    rows.extend(functions.map(|(number, tally)| sum(config, Subject::Function(number), tally)));
    let trips = story.trips.iter().enumerate();
    rows.extend(trips.map(|(number, tally)| sum(config, Subject::Trip(number), tally)));
    let breakers = story.breakers.iter().enumerate();
    let breakers = breakers.filter(|(number, _)| config.trips[*number].breaker_failure.is_some());
    rows.extend(breakers.map(|(number, tally)| sum(config, Subject::Breaker(number), tally)));
    let mut text = columns(&rows, 4);
    for (stream, received) in config.streams.iter().zip(&replayed.streams) {
        let _ = writeln!(
            text,
            "stream {}: {} samples, {} lost; {} duplicate, {} contradictory, {} late, {} restarts",
            shown(&stream.name),
            received.status.received,
            received.status.lost,
            received.counters.duplicates,
            received.counters.conflicting,
            received.counters.late,
            received.counters.restarts,
        );
    }
    text
}

fn sum(config: &Config, subject: Subject, tally: &Tally) -> [String; 7] {
    let (name, node) = who(config, subject);
    let is_trip = matches!(subject, Subject::Trip(_));
    let remark = match (tally.starts, tally.operates, is_trip) {
        (_, 0, true) => "never tripped",
        (0, 0, false) => "never started",
        (_, 0, false) => "started, never operated",
        _ => "",
    };
    let why = match tally.reasons.any() {
        true => format!("blocked: {}", reasons(tally.reasons)),
        false => String::new(),
    };
    let parts: Vec<&str> = [remark, &why].into_iter().filter(|part| !part.is_empty()).collect();
    [
        if is_trip {
            "-".to_owned()
        } else {
            tally.starts.to_string()
        },
        tally.operates.to_string(),
        tally
            .first_operate_ns
            .map_or_else(|| "-".to_owned(), |at| ms(signed(at))),
        ms(signed(tally.blocked_ns)),
        shown(name).into_owned(),
        node,
        parts.join("; "),
    ]
}

/// Pads columns to the width of their contents; the first ones are aligned right.
fn columns<const N: usize>(rows: &[[String; N]], to_the_right: usize) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            let _ = match column < to_the_right {
                true => write!(line, "{cell:>width$}"),
                false => write!(line, "{cell:<width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
