//! The answer on one screen: the verdict, the limits, reasons, next steps, and the proof that the run gives. At most
//! [`LINES`] lines of [`COLUMNS`] columns, for runs of any size.

mod findings;
mod held;
pub(crate) mod limits;
pub(crate) mod lines;
mod next;
#[cfg(test)]
mod pairs;
#[cfg(test)]
mod tests;
mod text;
mod why;

use crate::Report;
use crate::text::{measured_by, start_of};
use limits::{Row, State, rows, tally};
pub use lines::Size;
use model::fact::{HOST_NAME, JUDGED_CPUS, PLAN, STEPS_LEFT_OUT};
use model::{RunState, RunView};
use std::path::Path;
use units::{Ns, foreign};

/// Maximum number of lines, in a terminal that has one more.
pub const LINES: usize = 24;

/// Maximum number of columns in a line; fewer in a narrow terminal.
pub const COLUMNS: usize = 100;

/// Number of limit rows in the first screen of a page.
const PAGE_ROWS: usize = 12;

const DAY_NS: f64 = 86_400e9;

/// The contents of the screen.
pub(crate) struct Screen {
    /// The verdict in capitals.
    pub(crate) word: String,
    /// The command, its duration, and its start.
    pub(crate) run: String,
    /// The host, the judged CPUs, and the program that measured.
    pub(crate) on: String,
    /// Text such as `4 of 8 limits exceeded, …`.
    pub(crate) tally: String,
    /// The outcome of the trips, if any were timed.
    pub(crate) trip: Option<String>,
    /// One row for each limit, worst first.
    pub(crate) rows: Vec<Row>,
    pub(crate) why: Vec<String>,
    pub(crate) next: Vec<String>,
    pub(crate) proves: Vec<String>,
    /// Path of the page, if there is one.
    pub(crate) page: Option<String>,
    /// The command that prints everything.
    pub(crate) full: String,
}

impl Screen {
    /// The screen of a report whose foreign texts are already safe to show.
    pub(crate) fn of(report: &Report, size: Size, html: Option<&Path>) -> Self {
        let rows = rows(report);
        Self {
            word: report.words().to_uppercase(),
            run: run(report),
            on: on(&report.run),
            tally: match &report.capacity {
                Some(capacity) => capacity.sentence(),
                None if !report.is_judged() => report.sentence(),
                None => {
                    let notices = report.judgement.notices().map(|notice| format!("; {notice}"));
                    tally(&rows) + &notices.collect::<String>()
                }
            },
            trip: report
                .budget
                .answer
                .as_ref()
                .map(|answer| answer.sentence(|verdict| verdict.word().to_owned())),
            why: why::why(report, &rows),
            next: next::next(report, &rows, size),
            proves: proves(&rows),
            rows,
            page: html.map(|html| foreign::shown(&html.to_string_lossy()).into_owned()),
            full: format!(
                "triptime report --full {}",
                foreign::shown(&report.run.file.to_string_lossy())
            ),
        }
    }
}

impl Screen {
    /// The limits that are exceeded or undecided.
    pub(crate) fn open(&self) -> Vec<&Row> {
        let is_open = |row: &&Row| matches!(row.state, State::Exceeded | State::Undecided);
        self.rows.iter().filter(is_open).collect()
    }

    /// The reason why the first undecided limit is undecided.
    pub(crate) fn undecided(&self) -> Option<String> {
        why::undecided_of(&self.rows)
    }

    /// The limits that a page shows as rows: all measured ones if there are few, otherwise those of [`Self::open`].
    pub(crate) fn in_rows(&self) -> Vec<&Row> {
        let is_measured = |row: &&Row| row.state != State::NotMeasured;
        let measured: Vec<&Row> = self.rows.iter().filter(is_measured).collect();
        if measured.len() <= PAGE_ROWS {
            measured
        } else {
            self.open()
        }
    }

    /// Names of the limits that were kept.
    pub(crate) fn within(&self) -> Option<String> {
        self.named(State::Within, "within")
    }

    /// Names of the limits without a measurement.
    pub(crate) fn not_measured(&self) -> Option<String> {
        self.named(State::NotMeasured, "not measured")
    }

    /// Text such as `✓ within: wakeup.max, rtt.max`.
    fn named(&self, state: State, word: &str) -> Option<String> {
        let rows = self.rows.iter().filter(|row| row.state == state);
        let names: Vec<&str> = rows.map(|row| row.id.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} {word}: {}", state.sign(), names.join(", ")))
    }
}

fn run(report: &Report) -> String {
    let run = &report.run;
    let ended = match run.state {
        RunState::Complete => "",
        RunState::Interrupted => ", ended early",
        RunState::Running => ", still measured",
    };
    let profiles: Vec<&str> = report.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let limits = match profiles[..] {
        [] => String::new(),
        _ => format!("; limits: {}", profiles.join(", ")),
    };
    let plan = PLAN.of(&run.facts).map_or_else(String::new, |plan| format!(" {plan}"));
    let left_out = STEPS_LEFT_OUT.of(&run.facts);
    // The names of the steps are in the record.
    let count = left_out.as_deref().and_then(|text| text.split(':').next());
    let part = count.map_or_else(String::new, |count| format!(" without {count} steps"));
    format!(
        "{}{plan}{part}, {} from {}{ended}{limits}",
        run.info.command,
        Ns(run.duration_ns),
        start_of(run),
    )
}

/// Text such as `host relay-01, judged CPUs 2-3; triptime 0.1.0, commit 45e6a826c0d1`.
fn on(run: &RunView) -> String {
    let host = HOST_NAME.word_of(&run.facts).map(|name| format!("host {name}"));
    let judged = JUDGED_CPUS
        .word_of(&run.facts)
        .map(|cpus| format!("judged CPUs {cpus}"));
    let at: Vec<String> = host.into_iter().chain(judged).collect();
    let measured_by = measured_by(run);
    // The build is in the record: a commit is enough to find the program.
    let by = measured_by.split(", build ").next().unwrap_or_default();
    at.into_iter().chain([by.to_owned()]).collect::<Vec<_>>().join("; ")
}

/// The bound that the run proves, and the bound that a longer run would prove.
fn proves(rows: &[Row]) -> Vec<String> {
    if let Some(row) = rows.iter().find(|row| row.state == State::Exceeded) {
        return vec![format!(
            "{} was exceeded in this run; a longer run cannot change that.",
            row.id
        )];
    }
    let within = rows.iter().filter(|row| row.state == State::Within);
    let weakest = within.filter_map(|row| row.proof.map(|proof| (row, proof)));
    let weakest = weakest.max_by(|a, b| a.1.probability.total_cmp(&b.1.probability));
    let Some((row, proof)) = weakest else {
        return Vec::new();
    };
    let longer = proof
        .of_longer(DAY_NS)
        .map(|odds| format!("; a day without one: {odds}"));
    vec![format!(
        "{}: {}{} (95 %, for this load and this set-up).",
        row.id,
        proof.text(),
        longer.unwrap_or_default()
    )]
}
