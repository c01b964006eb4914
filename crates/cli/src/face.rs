//! Form of a printed result.

use crate::terminal;
use report::Report;
use std::io::{self, Write};
use std::path::Path;

/// Output form of tables.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Text,
    Json,
    Csv,
}

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
    /// True if any form was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.json || self.full || self.summary
    }

    /// Writes the report in this form, with the name of its page if there is one. `out` must be buffered.
    pub(crate) fn write(
        &self,
        report: &Report,
        colour: bool,
        html: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let text = match self {
            // Large if it contains the single samples of a long run.
            Self { json: true, .. } => return report.write_json(out),
            Self { summary: true, .. } => report.summary(),
            // For a search, the attempts and the broken limit are the answer.
            Self { full: false, .. } if report.is_judged() && report.capacity.is_none() => match colour {
                true => report.screen(terminal::size(), colour, html),
                false => report.uncut(html),
            },
            _ => report.text(colour, html),
        };
        out.write_all(text.as_bytes())
    }
}
