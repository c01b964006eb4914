//! The runs as text for a person.

use super::Shown;
use session::room::{expected, shown as octets};
use session::roster::{FOLDER, Largest, Roster, Standing, StartKind};
use std::fmt::Write;
use units::{foreign, format_ns};

/// Number of series shown for a run that was not requested by name.
const FEW: usize = 3;

/// Shows all series.
pub(super) fn text(runs: &[Shown], in_full: bool) -> String {
    if runs.is_empty() {
        return none();
    }
    let blocks: Vec<String> = runs.iter().map(|run| block(run, in_full)).collect();
    blocks.join("\n")
}

fn none() -> String {
    let folders: Vec<String> = Roster::all()
        .iter()
        .map(|roster| roster.folder().display().to_string())
        .collect();
    match &folders[..] {
        [] => format!("No folder to look into: XDG_RUNTIME_DIR is not set; {FOLDER} names another.\n"),
        folders => format!(
            "No run of triptime on this machine (looked into {}).\n",
            folders.join(", ")
        ),
    }
}

fn block(run: &Shown, in_full: bool) -> String {
    let mut out = format!("{}: {}\n", foreign::shown(&run.entry.name), head(run));
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<8} {}", foreign::shown(&text));
    };
    line("run", origin(run));
    line("file", file(run));
    if let Some(log) = &run.entry.log {
        line("log", log.clone());
    }
    let most = if in_full { usize::MAX } else { FEW };
    for largest in run.entry.largest.iter().take(most) {
        line("largest", sample(largest));
    }
    let more = run.entry.series.saturating_sub(run.entry.largest.len().min(most));
    if more > 0 && !run.entry.largest.is_empty() {
        line("", format!("and {more} more series"));
    }
    if let Some(answer) = &run.answer {
        line("answer", answer.clone());
    }
    out
}

/// Such as `measuring, step 2 of 5, 12.3 h left: noise`.
fn head(run: &Shown) -> String {
    let entry = &run.entry;
    let mut text = match &run.standing {
        Standing::Ended => ending(run),
        Standing::WithoutAWord(why) => format!("ended without closing its file: {why}"),
        Standing::Stuck(why) => format!("STUCK: {why}"),
        Standing::Unknown(why) => format!("not known: {why}"),
        Standing::Starting | Standing::Measuring | Standing::Finishing => run.standing.word().to_owned(),
    };
    if run.standing.is_over() {
        return foreign::shown(&text).into_owned();
    }
    if let Some(step) = entry.step {
        let _ = write!(text, ", step {} of {}", step.number, step.of);
    }
    if let Some(left_ns) = run.left_ns() {
        let _ = write!(text, ", {} left", format_ns(left_ns as f64));
    }
    let over = entry.largest.iter().filter(|largest| largest.is_over()).count();
    if over > 0 {
        let _ = write!(text, ", {over} series over a limit");
    }
    let _ = write!(text, ": {}", entry.doing);
    foreign::shown(&text).into_owned()
}

/// End of a run by its recorded status.
fn ending(run: &Shown) -> String {
    let Some(end) = &run.entry.end else {
        return String::new();
    };
    let means = match end.status {
        0 => "no limit failed",
        1 => "a limit failed",
        2 => "wrong usage",
        _ => "inconclusive, or it could not measure",
    };
    let early = if end.complete { "complete" } else { "ended early" };
    let why = end.why.as_ref().map_or_else(String::new, |why| format!("; {why}"));
    format!("{early} at {}, status {}: {means}{why}", time(end.at_ns), end.status)
}

/// Command of a run, who started it and when.
fn origin(run: &Shown) -> String {
    let entry = &run.entry;
    let plan = entry.plan.as_ref().map_or_else(String::new, |plan| format!(" {plan}"));
    let how = match (entry.way, &entry.unit) {
        (StartKind::Foreground, _) => String::new(),
        (StartKind::Session, _) => ", in a session of its own".to_owned(),
        (StartKind::Unit, unit) => format!(", unit {}", unit.as_deref().unwrap_or_default()),
        (StartKind::LastingUnit, unit) => {
            format!(
                ", unit {}, continues after a reboot",
                unit.as_deref().unwrap_or_default()
            )
        }
    };
    format!(
        "{}{plan}, process {} of user {}{how}, since {}",
        entry.command,
        entry.process.pid,
        run.owner,
        time(entry.started_ns)
    )
}

fn file(run: &Shown) -> String {
    let size = run.octets.map_or_else(|| "not there".to_owned(), octets);
    let free = run.room.map_or_else(
        || "room not known".to_owned(),
        |room| format!("{} free", octets(room.free)),
    );
    let in_the_end = run.expected().zip(run.entry.at_most);
    let in_the_end = in_the_end.map_or_else(String::new, |(usual, most)| {
        format!("; in the end {}", expected(usual, most))
    });
    format!("{}: {size}, {free}{in_the_end}", run.entry.file)
}

fn sample(largest: &Largest) -> String {
    let max = format_ns(largest.max_ns as f64);
    match largest.limit_ns {
        Some(limit_ns) => {
            let over = if largest.is_over() { ", over" } else { "" };
            format!("{} {max} of {}{over}", largest.series, format_ns(limit_ns as f64))
        }
        None => format!("{} {max}", largest.series),
    }
}

fn time(ns: i64) -> String {
    let at = jiff::Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
