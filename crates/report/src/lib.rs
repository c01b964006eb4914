//! From a run to an answer: limits, verdicts, the trip-time budget, and every form in which a person or a program reads
//! them.
//!
//! A [`RunView`] is a run as plain data; [`Report`] holds it against limit profiles.

#![forbid(unsafe_code)]

pub mod about;
pub mod again;
pub mod audit;
pub mod bound;
pub mod budget;
pub mod capacity;
pub mod comparison;
pub mod contradiction;
pub mod document;
mod faces;
mod html;
pub mod insight;
pub mod junit;
pub mod limits;
pub mod matrix;
pub mod one_way;
pub mod pacing;
pub mod recording;
pub mod screen;
mod section;
mod shown;
mod spans;
pub mod stall;
mod subjects;
pub mod tables;
mod terminal;
mod text;
pub mod timeline;
pub mod type_test;
pub mod verdict;

use again::Again;
use budget::Budget;
use capacity::{Capacity, Search};
use insight::Insight;
use limits::Profile;
use model::RunView;
use stall::Stall;
use std::io;
use tables::Layout;
use timeline::Timeline;
use verdict::{Judgement, Verdict};

/// A run, judged.
#[derive(Debug, Clone)]
pub struct Report {
    /// The measured run.
    pub run: RunView,
    /// The profiles it was held against.
    pub profiles: Vec<Profile>,
    /// The verdicts.
    pub judgement: Judgement,
    /// The trip-time budget.
    pub budget: Budget,
    /// Statistics of its series beyond their figures.
    pub insights: Vec<Insight>,
    /// Late samples of all series, put together in time, the longest stall first.
    pub stalls: Vec<Stall>,
    /// The occupants of each CPU around the longest recorded stall.
    pub timeline: Option<Timeline>,
    /// A survey of the recording of every sample, where there is one and it was read.
    pub recording: Option<::recording::Survey>,
    /// How many streams the host holds, of the run of a search for that.
    pub capacity: Option<Capacity>,
    /// The published layout that its plan names.
    pub table: Option<Layout>,
    /// Commands that go on from it.
    pub again: Again,
    /// The way of a frame inside the host, where hops were traced.
    way: Vec<subjects::way::Branch>,
}

impl Report {
    /// Holds a run against profiles.
    pub fn new(run: RunView, profiles: Vec<Profile>) -> Self {
        let judgement = Judgement::of(&run, &profiles);
        let budget = Budget::of(&run, &judgement);
        let insights = insight::of_run(&run, &judgement);
        let stalls = stall::of_run(&run, &judgement);
        Self {
            way: subjects::way::lines(&run.facts),
            run,
            profiles,
            judgement,
            budget,
            insights,
            stalls,
            timeline: None,
            recording: None,
            capacity: None,
            table: None,
            again: Again::default(),
        }
    }

    /// The same with what its recording says.
    pub fn with_recording(mut self, recording: Option<::recording::Survey>) -> Self {
        self.recording = recording;
        self
    }

    /// The same with what had each CPU around a stall.
    pub fn with_timeline(mut self, timeline: Option<Timeline>) -> Self {
        self.timeline = timeline;
        self
    }

    /// The same as the answer to a search for what the host holds.
    pub fn with_search(mut self, search: Option<Search>) -> Self {
        self.capacity = search.map(|search| Capacity::of(search, &self.run));
        self
    }

    /// The same with the published layout that its plan names.
    pub fn with_table(mut self, table: Option<Layout>) -> Self {
        self.table = table;
        self
    }

    /// The same with commands that go on from it.
    pub fn with_again(mut self, again: Again) -> Self {
        self.again = again;
        self
    }

    /// The statistics of a series, where there are some.
    pub fn insight(&self, series: &str) -> Option<&Insight> {
        self.insights.iter().find(|insight| insight.series == series)
    }

    /// The verdict over all checks, and over the number of streams that was asked for.
    pub fn verdict(&self) -> Verdict {
        let of_checks = self.is_judged_by_limits().then_some(self.judgement.verdict);
        Verdict::over(of_checks.into_iter().chain(self.of_capacity()))
    }

    /// True if there is anything to pass or fail.
    pub fn is_judged(&self) -> bool {
        self.is_judged_by_limits() || self.of_capacity().is_some()
    }

    /// True if it passes, and some limits were not measured.
    pub fn is_partial_pass(&self) -> bool {
        self.verdict() == Verdict::Pass && self.judgement.is_partial_pass()
    }

    /// The verdict in words.
    fn words(&self) -> &'static str {
        match self.verdict() {
            _ if self.is_answer() => "answer",
            _ if !self.is_judged() => "not judged",
            verdict if verdict == self.judgement.verdict => self.judgement.words(),
            verdict => verdict.word(),
        }
    }

    /// The excess, in a sentence or two.
    fn sentence(&self) -> String {
        let of_limits = || self.judgement.sentence();
        match &self.capacity {
            Some(capacity) if self.is_judged_by_limits() => format!("{} {}", capacity.sentence(), of_limits()),
            Some(capacity) => capacity.sentence(),
            None => of_limits(),
        }
    }

    /// True if it answers a question, and judges nothing.
    fn is_answer(&self) -> bool {
        self.capacity.is_some() && !self.is_judged()
    }

    fn is_judged_by_limits(&self) -> bool {
        !self.profiles.is_empty()
    }

    fn of_capacity(&self) -> Option<Verdict> {
        self.capacity.as_ref().and_then(Capacity::verdict)
    }

    /// Writes the result document as JSON text, indented, with a line end: names as they are, in which JSON's own escapes stand for what
    /// is not to be shown. In many small pieces: `out` has a buffer.
    ///
    /// # Errors
    /// Of `out`.
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
