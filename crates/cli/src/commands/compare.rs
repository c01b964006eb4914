//! `triptime compare`: two or more runs side by side.

use crate::face::Form;
use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::named::{self, distinct};
use crate::page;
use crate::table::{self, TableArg};
use crate::terminal;
use crate::verdict;
use report::comparison::Comparison;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use units::foreign;

/// Compares runs: does B differ from A, by how much, how sure, and what differs between the machines
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Every run is compared with the first. Series are matched by name. Where each run has one series of a kind, these are \
matched.

Example: triptime compare before.triptime after.triptime --html difference.html")]
pub(crate) struct CompareArgs {
    /// Run files; NAME=FILE shows the run under this name
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<String>,
    /// Also write the comparison as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the comparison as one JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Print every series, statement and fact, not one screen
    #[arg(long, conflicts_with = "json")]
    full: bool,
    /// Print the runs in a published layout instead, as report --table does
    #[arg(long, value_enum, conflicts_with_all = ["json", "full"])]
    table: Option<TableArg>,
}

/// Runs the command; returns its exit status. A difference is an answer, not an error. A run that may lack windows is an error.
pub(crate) fn run(args: &CompareArgs) -> Result<u8, Failure> {
    page::check(args.html.as_deref(), None)?;
    if let Some(layout) = args.table {
        return table::show(layout, &args.runs, Form::Text, args.html.as_deref());
    }
    let (mut runs, mut profiles) = (Vec::new(), Vec::new());
    let mut lacking = false;
    for text in &args.runs {
        let run = named::open(text)?;
        lacking |= !run.is_whole;
        profiles.push(campaign::profile_of(&run.file, None)?);
        runs.push((run.shown_by(), run.view));
    }
    let comparison = Comparison::of(distinct(runs)).judged(&profiles);
    let written = verdict::write(&match (args.json, args.full) {
        (true, _) => comparison.json().map_err(|error| Failure::of_document(&error))?,
        (_, true) => comparison.text(),
        _ if io::stdout().is_terminal() => comparison.answer(terminal::size(), &full(&args.runs)),
        _ => comparison.uncut(&full(&args.runs)),
    });
    if let Some(path) = &args.html {
        let html = comparison
            .html()
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML page: {error}")))?;
        page::HTML.write(path, &html)?;
    }
    written?;
    Ok(if lacking { COULD_NOT_MEASURE } else { 0 })
}

/// The command line that prints the full comparison.
fn full(runs: &[String]) -> String {
    foreign::shown(&format!("triptime compare --full {}", runs.join(" "))).into_owned()
}
