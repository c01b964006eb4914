//! The reasons for the verdict: the known facts about a run, combined into a few sentences.

use super::held::{Held, Holder};
use super::limits::{Row, State};
use crate::Report;
use crate::text::{capitalised, count, plural};
use model::{Cause, Event, EventKind, SeriesView, kind};
use units::SignedNs;

/// Maximum number of sentences shown.
const MOST: usize = 3;

/// Group of the inventory in which a plan lists what ran on which CPU; the crate `lab` writes it.
const CPUS: &str = "CPUs of this run";

/// The reasons for the verdict, most important first.
pub(super) fn why(report: &Report, rows: &[Row]) -> Vec<String> {
    let held = all_held(rows);
    let known = [
        contradictions(report),
        emulated(report),
        controls(report),
        held_up(report, &held),
        report.change_with_late_sample(),
        left_out(report),
        not_counted(report),
        shared(report, &held),
        undecided(report, rows),
    ];
    let mut known: Vec<String> = known.into_iter().flatten().take(MOST).collect();
    let clean = clean(rows, known.is_empty() && report.run.events.iter().all(is_ordinary));
    known.splice(0..0, clean);
    known
}

/// Causes of the samples over the limits of all rows.
pub(super) fn all_held(rows: &[Row]) -> Held {
    let mut held = Held::default();
    rows.iter().for_each(|row| held.merge(&row.held));
    held
}

fn contradictions(report: &Report) -> Option<String> {
    let contradictions = &report.judgement.contradictions;
    let first = contradictions.first()?;
    Some(format!(
        "The run file contradicts itself in {}, so nothing of it is decided: {}.",
        first.series, first.text
    ))
}

/// A sentence about a processor emulated in software.
fn emulated(report: &Report) -> Option<String> {
    let mut events = report.run.events.iter();
    events.find(|event| event.kind == EventKind::Emulated)?;
    Some("A processor is emulated: its timing is no evidence, so nothing passes or fails.".to_owned())
}

/// A sentence about negative controls that failed.
fn controls(report: &Report) -> Option<String> {
    let failed = |event: &&Event| event.kind == EventKind::ControlFailed;
    let mut failed = report.run.events.iter().filter(failed);
    let first = failed.next()?;
    let more = match failed.count() as u64 {
        0 => String::new(),
        n => format!(" (and {} more)", count(n)),
    };
    Some(format!(
        "A control did not hold, so that trips may have another cause{more}: {}.",
        first.text.trim_end_matches('.')
    ))
}

/// The causes of late samples, and further evidence for them.
fn held_up(report: &Report, held: &Held) -> Option<String> {
    let Some(first) = held.by.first() else {
        return nobody(report, held);
    };
    let beside = match (first.cause, steal_events(report)) {
        (Cause::Hypervisor, n) if n > 0 => format!(", with {}", plural(n, "steal event")),
        _ => String::new(),
    };
    if held.is_mostly_untold() {
        return Some(mostly_untold(held, first));
    }
    let rest = match held.untold() {
        0 => String::new(),
        n => format!("; {} not explained", count(n)),
    };
    Some(format!(
        "{}: {} of {}{beside}{rest}.{}",
        sentence(first.cause, &first.name),
        count(first.samples),
        plural(held.samples, "late sample"),
        on_the_host(held),
    ))
}

/// A sentence with the host's explanation of the largest sample in its guest, after a space; empty if there is none.
fn on_the_host(held: &Held) -> String {
    let told = held.on_the_host.as_ref();
    told.map(|(value_ns, why)| format!(" On the host, at the largest of {}: {why}.", SignedNs(*value_ns)))
        .unwrap_or_default()
}

/// A sentence for samples that were examined and not explained.
fn nobody(report: &Report, held: &Held) -> Option<String> {
    let mut spikes = report.run.series.iter().flat_map(|series| &series.spikes);
    let is_asked = spikes.any(|spike| spike.explanation.is_some());
    (is_asked && held.samples > 0).then(|| format!("Nothing explains any of {}.", plural(held.samples, "late sample")))
}

/// If most samples are unexplained, this is reported before the causes of the others.
fn mostly_untold(held: &Held, first: &Holder) -> String {
    let told = held.samples - held.untold();
    let cause = in_a_sentence(&sentence(first.cause, &first.name));
    let others = match told {
        1 => format!("The other: {cause}."),
        told => format!("Of the {} others, {cause}: {}.", count(told), count(first.samples)),
    };
    format!(
        "Nothing explains most late samples, {} of {}. {others}{}",
        count(held.untold()),
        count(held.samples),
        on_the_host(held),
    )
}

/// A sentence that does not stand at the begin of one: an article is written small, a name as it is.
fn in_a_sentence(sentence: &str) -> String {
    match sentence.strip_prefix("The ") {
        Some(rest) => format!("the {rest}"),
        None => sentence.to_owned(),
    }
}

fn steal_events(report: &Report) -> u64 {
    let events = report.run.events.iter();
    events.filter(|event| event.kind == EventKind::Steal).count() as u64
}

/// The meaning of a cause, with its name.
fn sentence(cause: Cause, name: &str) -> String {
    let text = match cause {
        Cause::Hypervisor => "The host of this virtual machine took the CPU away",
        Cause::Smi => "The firmware took the CPU (system management interrupts)",
        Cause::Throttled => "The kernel held the thread back: throttling or a CPU quota",
        Cause::Stopped => "The thread was stopped by a signal, a debugger or a freezer",
        Cause::IdleExit => "The CPU was late to leave its idle state",
        Cause::InterruptsOff => "The kernel had interrupts off",
        Cause::Path => "No other thread or interrupt had the CPU: the path itself took the time",
        Cause::Unexplained => "The recorder's events do not show what held samples up",
        Cause::Thread | Cause::Interrupt | Cause::Softirq => return format!("{} had the CPU", capitalised(name)),
    };
    text.to_owned()
}

fn is_sender(series: &SeriesView) -> bool {
    [&kind::PUBLISH, &kind::TALK].iter().any(|kind| series.is(kind))
}

/// Number of frames that this program's own senders left out, and the number of all their frames.
pub(super) fn frames_left_out(report: &Report) -> (u64, u64) {
    let senders = report.run.series.iter().filter(|series| is_sender(series));
    let counters = senders.map(|series| &series.counters);
    counters.fold((0, 0), |(left_out, due), counters| {
        (left_out + counters.missed + counters.lost, due + counters.expected)
    })
}

/// A sentence about frames that this program's own senders left out: these losses are not the host's.
fn left_out(report: &Report) -> Option<String> {
    let (left_out, due) = frames_left_out(report);
    let receives = |series: &&SeriesView| !is_sender(series) && series.counters.lost > 0;
    let follows = match report.run.series.iter().any(|series| receives(&series)) {
        true => "these may be the missing ones",
        false => "their fate is not known",
    };
    (left_out > 0).then(|| {
        format!(
            "The test set itself left out {} of {} frames: {follows}.",
            count(left_out),
            count(due)
        )
    })
}

/// A sentence about shots that do not count.
fn not_counted(report: &Report) -> Option<String> {
    let events = report.run.events.iter();
    let shots = events.filter(|event| event.kind == EventKind::NotCounted).count() as u64;
    (shots > 0).then(|| {
        let verb = if shots == 1 { "does" } else { "do" };
        format!(
            "{} {verb} not count: the test set could not send or see all of them.",
            plural(shots, "shot")
        )
    })
}

/// A sentence about judged CPUs that every thread of the host may use, if something delayed samples.
fn shared(report: &Report, held: &Held) -> Option<String> {
    held.by.first()?;
    let fact = |group: &str, name: &str| {
        let mut facts = report.run.facts.iter();
        let fact = facts.find(|fact| fact.group == group && fact.name == name)?;
        fact.value.as_deref().ok()
    };
    let judged = fact(CPUS, "judged")?;
    let isolated = fact("isolation", "isolated CPUs")?;
    let cpus = judged.split(" (").next().unwrap_or(judged);
    // CPUs of another machine are not known by number, nor is their isolation.
    let are_here = cpus.starts_with(|first: char| first.is_ascii_digit());
    (isolated == "none" && are_here).then(|| {
        format!("The judged CPUs ({cpus}) are not isolated: every thread and interrupt of this machine may run there.")
    })
}

/// The reason why the first undecided limit is undecided, if it was not given yet.
fn undecided(report: &Report, rows: &[Row]) -> Option<String> {
    if !report.judgement.contradictions.is_empty() {
        return None;
    }
    undecided_of(rows).map(|text| text + ".")
}

/// Text such as `wakeup.max is undecided: …`, for the first limit with a reason.
pub(super) fn undecided_of(rows: &[Row]) -> Option<String> {
    let mut rows = rows.iter();
    let open = rows.find(|row| row.state == State::Undecided && !row.why.is_empty())?;
    Some(format!("{} is undecided: {}", open.id, open.why.trim_end_matches('.')))
}

/// True if an event is a normal part of a run and hides nothing.
fn is_ordinary(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::LoadStarted
            | EventKind::LoadStopped
            | EventKind::StepStarted
            | EventKind::StepStopped
            | EventKind::Action
            | EventKind::TimeSync
            | EventKind::ClockGood
            | EventKind::Relay
            | EventKind::Note
    )
}

/// A sentence for a run without problems; `is_all` is true if nothing else was observed.
fn clean(rows: &[Row], is_all: bool) -> Option<String> {
    let (mut bad, mut within) = (false, false);
    for row in rows {
        bad |= matches!(row.state, State::Exceeded | State::Undecided);
        within |= row.state == State::Within;
    }
    let clean = match is_all {
        true => "No figure was beyond its limit, and nothing was seen that could hide one.",
        false => "No figure was beyond its limit.",
    };
    (within && !bad).then(|| clean.to_owned())
}
