//! In which form a result is printed.

use report::Report;
use std::path::Path;

/// Options of every command that prints a run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FaceArgs {
    /// Print the result as one JSON document on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every limit, series, cause and event, not one screen [default where nothing is judged]
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    /// Print the answer in one line, for a log
    #[arg(long, conflicts_with_all = ["json", "full"])]
    pub(crate) summary: bool,
}

impl FaceArgs {
    /// Whether any form was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.json || self.full || self.summary
    }

    /// The report in this form; its page is named where there is one.
    pub(crate) fn of(&self, report: &Report, colour: bool, html: Option<&Path>) -> String {
        match self {
            Self { json: true, .. } => report.json(),
            Self { summary: true, .. } => report.summary(),
            // Of a search, what was tried and what gave way is the answer.
            Self { full: false, .. } if report.is_judged() && report.capacity.is_none() => report.screen(colour, html),
            _ => report.text(colour, html),
        }
    }
}
