//! Turns a run into an answer: limits, verdicts, the trip-time budget, and all output formats for people and programs.
//!
//! A [`RunView`] is a run as plain data; [`Report`] compares it with limit profiles.

#![forbid(unsafe_code)]

pub mod about;
pub mod again;
pub mod audit;
pub mod bound;
pub mod budget;
pub mod capacity;
mod changes;
pub mod comparison;
pub mod contradiction;
pub mod days;
pub mod document;
mod faces;
mod html;
pub mod insight;
pub mod junit;
pub mod limits;
pub mod live;
pub mod matrix;
pub mod one_way;
pub mod pacing;
pub mod picture;
pub mod procedure;
pub mod recording;
pub mod screen;
mod section;
mod shown;
mod spans;
pub mod stall;
mod strain;
mod subjects;
pub mod tables;
mod terminal;
mod text;
pub mod timeline;
pub mod type_test;
mod uncertainty;
mod validators;
pub mod verdict;

use again::Again;
use budget::Budget;
use capacity::{Capacity, Search};
use days::LimitDays;
use insight::Insight;
use limits::Profile;
use model::RunView;
use procedure::Procedure;
use stall::Stall;
use std::io;
pub use subjects::uncertainty::OwnBudgets;
use tables::Layout;
use timeline::Timeline;
use verdict::{Judgement, Verdict};

/// A judged run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The measured run.
    pub run: RunView,
    /// The profiles that it was compared with.
    pub profiles: Vec<Profile>,
    /// The verdicts.
    pub judgement: Judgement,
    /// The limits in the days of steps of two days or longer.
    pub days: Vec<LimitDays>,
    /// The trip-time budget.
    pub budget: Budget,
    /// Further statistics of its series.
    pub insights: Vec<Insight>,
    /// Late samples of all series, grouped in time, longest stall first.
    pub stalls: Vec<Stall>,
    /// The threads on each CPU around the longest recorded stall.
    pub timeline: Option<Timeline>,
    /// A survey of the recording of every sample, if there is one and it was read.
    pub recording: Option<::recording::Survey>,
    /// The number of streams that the host can handle, if the run belongs to a search for it.
    pub capacity: Option<Capacity>,
    /// The published layout that its plan names.
    pub table: Option<Layout>,
    /// Commands that continue from the run.
    pub again: Again,
    /// The procedure that the run was to follow.
    pub procedure: Procedure,
    /// The path of a frame inside the host, if hops were traced.
    way: Vec<subjects::way::Branch>,
}

impl Report {
    /// Judges a run by profiles.
    pub fn new(run: RunView, profiles: Vec<Profile>) -> Self {
        let judgement = Judgement::of(&run, &profiles);
        let budget = Budget::of(&run, &judgement);
        let insights = insight::of_run(&run, &judgement);
        let stalls = stall::of_run(&run, &judgement);
        let days = days::of(&run, &profiles, &judgement);
        Self {
            way: subjects::way::lines(&run.facts),
            run,
            profiles,
            judgement,
            days,
            budget,
            insights,
            stalls,
            timeline: None,
            recording: None,
            capacity: None,
            table: None,
            again: Again::default(),
            procedure: Procedure::default(),
        }
    }

    /// Adds the survey of the run's recording.
    pub fn with_recording(mut self, recording: Option<::recording::Survey>) -> Self {
        self.recording = recording;
        self
    }

    /// Adds the threads on each CPU around a stall.
    pub fn with_timeline(mut self, timeline: Option<Timeline>) -> Self {
        self.timeline = timeline;
        self
    }

    /// Makes the report the answer to a search for the host's capacity.
    pub fn with_search(mut self, search: Option<Search>) -> Self {
        self.capacity = search.map(|search| Capacity::of(search, &self.run));
        self
    }

    /// Adds the published layout that the run's plan names.
    pub fn with_table(mut self, table: Option<Layout>) -> Self {
        self.table = table;
        self
    }

    /// Adds commands that continue from the run.
    pub fn with_again(mut self, again: Again) -> Self {
        self.again = again;
        self
    }

    /// The statistics of a series, if there are any.
    pub fn insight(&self, series: &str) -> Option<&Insight> {
        self.insights.iter().find(|insight| insight.series == series)
    }

    /// The verdict over all checks, and over the required number of streams.
    pub fn verdict(&self) -> Verdict {
        let of_checks = self.is_judged_by_limits().then_some(self.judgement.verdict);
        Verdict::over(of_checks.into_iter().chain(self.of_capacity()))
    }

    /// The decision rule of each profile with its numbers, in sentences: the width of the guard band, the largest expanded uncertainty
    /// of its decided durations, and the largest risk of false acceptance that it allows.
    pub fn decision_rules(&self) -> Vec<String> {
        uncertainty::rules_with_numbers(&self.profiles, &self.judgement)
    }

    /// True if there is anything that can pass or fail.
    pub fn is_judged(&self) -> bool {
        self.is_judged_by_limits() || self.of_capacity().is_some()
    }

    /// True if the run passes, but some limits were not measured.
    pub fn is_partial_pass(&self) -> bool {
        self.verdict() == Verdict::Pass && self.judgement.is_partial_pass()
    }

    /// The verdict as text.
    fn words(&self) -> &'static str {
        match self.verdict() {
            _ if self.is_answer() => "answer",
            _ if !self.is_judged() => "not judged",
            verdict if verdict == self.judgement.verdict => self.judgement.words(),
            verdict => verdict.word(),
        }
    }

    /// The reason for the verdict in one or two sentences.
    fn sentence(&self) -> String {
        let of_limits = || self.judgement.sentence();
        match &self.capacity {
            Some(capacity) if self.is_judged_by_limits() => format!("{} {}", capacity.sentence(), of_limits()),
            Some(capacity) => capacity.sentence(),
            None => of_limits(),
        }
    }

    /// True if the report answers a question without judging anything.
    fn is_answer(&self) -> bool {
        self.capacity.is_some() && !self.is_judged()
    }

    fn is_judged_by_limits(&self) -> bool {
        !self.profiles.is_empty()
    }

    fn of_capacity(&self) -> Option<Verdict> {
        self.capacity.as_ref().and_then(Capacity::verdict)
    }

    /// Writes the result document as indented JSON text that ends with a newline. Names are unchanged; characters that
    /// are not safe to show are written as JSON escapes. The text is written in many small pieces, so `out` should be
    /// buffered.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        faces::document::write(self, out)
    }

    #[cfg(test)]
    fn json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out).expect("room");
        String::from_utf8(out).expect("UTF-8")
    }
}
