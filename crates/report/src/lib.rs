//! From a run to an answer: limits, verdicts, the trip-time budget, and every form in which a person or a program reads
//! them.
//!
//! A [`RunView`] is a run as plain data; [`Report`] holds it against limit profiles.

#![forbid(unsafe_code)]

pub mod bound;
pub mod budget;
pub mod comparison;
pub mod contradiction;
pub mod document;
mod html;
pub mod insight;
pub mod limits;
mod nics;
pub mod one_way;
pub mod pacing;
pub mod recording;
mod shown;
pub mod tables;
mod terminal;
mod text;
pub mod type_test;
pub mod verdict;

use budget::Budget;
use document::Document;
use insight::Insight;
use limits::Profile;
use model::RunView;
use verdict::{Judgement, Verdict};

/// A run, judged.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was measured.
    pub run: RunView,
    /// The profiles it was held against.
    pub profiles: Vec<Profile>,
    /// The verdicts.
    pub judgement: Judgement,
    /// The trip-time budget.
    pub budget: Budget,
    /// What statistics say of its series beyond their figures.
    pub insights: Vec<Insight>,
    /// What the recording of every sample says, where there is one and it was read.
    pub recording: Option<::recording::Survey>,
}

impl Report {
    /// Holds a run against profiles.
    pub fn new(run: RunView, profiles: Vec<Profile>) -> Self {
        let judgement = Judgement::of(&run, &profiles);
        let budget = Budget::of(&run, &judgement);
        let insights = insight::of_run(&run, &judgement);
        Self {
            run,
            profiles,
            judgement,
            budget,
            insights,
            recording: None,
        }
    }

    /// The same with what its recording says.
    pub fn with_recording(mut self, recording: Option<::recording::Survey>) -> Self {
        self.recording = recording;
        self
    }

    /// What statistics say of a series, where it was looked at.
    pub fn insight(&self, series: &str) -> Option<&Insight> {
        self.insights.iter().find(|insight| insight.series == series)
    }

    /// The verdict over all checks.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// The result document as JSON text: names as they are, in which JSON's own escapes stand for what is not to be shown.
    pub fn json(&self) -> String {
        units::foreign::json(Document::of(self).to_json())
    }
}
