//! `triptime compare`: two or more runs side by side.

use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::page;
use crate::verdict;
use model::RunView;
use report::comparison::Comparison;
use report::tables::{self, Layout};
use std::path::{Path, PathBuf};

/// Compares runs: does B differ from A, by how much, how sure, and what differs between the machines
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Every run is compared with the first. Series are matched by name. Where each run has one series of a kind, these are \
matched.

Example: triptime compare before.triptime after.triptime --html difference.html")]
pub(crate) struct CompareArgs {
    /// Run files; NAME=FILE gives one a name of its own
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<String>,
    /// Also write the comparison as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the comparison as one JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Print the wake-up series in a published layout instead, or each run's round trip by network
    #[arg(long, value_enum, conflicts_with = "json")]
    table: Option<TableArg>,
}

/// Runs the command; returns its exit status: a difference is an answer, not an error; a run of which windows may be missing is.
pub(crate) fn run(args: &CompareArgs) -> Result<u8, Failure> {
    page::check(args.html.as_deref(), None)?;
    let runs = args.runs.iter().map(|text| read(text)).collect::<Result<Vec<_>, _>>()?;
    let lacking = runs.iter().any(|(_, run)| run.lacks_log.is_some());
    let status = if lacking { COULD_NOT_MEASURE } else { 0 };
    if let Some(table) = args.table {
        let views: Vec<RunView> = runs.into_iter().map(|(_, view)| view).collect();
        verdict::write(&tables::print(table.into(), &views))?;
        return Ok(status);
    }
    let comparison = Comparison::of(distinct(runs));
    let text = match args.json {
        true => comparison.json(),
        false => comparison.text(),
    };
    let written = verdict::write(&text);
    if let Some(path) = &args.html {
        let html = comparison
            .html()
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML page: {error}")))?;
        page::HTML.write(path, &html)?;
    }
    written?;
    Ok(status)
}

/// The published layouts, by the word on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TableArg {
    /// VMware ESXi real-time guide: samples, minimum, average, maximum, overflows per CPU
    Vm,
    /// ABB and University of Torino, table 2: max (avg) per environment
    Jitter,
    /// Sienda: classes for AVB
    Avb,
    /// ABB and University of Torino: the round trip over each network beside the others
    Networks,
    /// ABB and University of Torino: the task of a virtual relay, and the age of its samples
    Vpc,
}

impl From<TableArg> for Layout {
    fn from(table: TableArg) -> Self {
        match table {
            TableArg::Vm => Self::Vm,
            TableArg::Jitter => Self::Jitter,
            TableArg::Avb => Self::Avb,
            TableArg::Networks => Self::Networks,
            TableArg::Vpc => Self::Vpc,
        }
    }
}

/// A run under the name it was given, or that of its file.
fn read(text: &str) -> Result<(String, RunView), Failure> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => (name.to_owned(), path),
        _ => (stem(text), text),
    };
    let run = verdict::open(Path::new(path))?;
    Ok((name, run.view()?))
}

fn stem(path: &str) -> String {
    let stem = Path::new(path).file_stem();
    stem.map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Runs whose names are the same are numbered.
fn distinct(mut runs: Vec<(String, RunView)>) -> Vec<(String, RunView)> {
    for index in 0..runs.len() {
        let before = runs[..index].iter().filter(|(name, _)| *name == runs[index].0).count();
        if before > 0 {
            runs[index].0 = format!("{} ({})", runs[index].0, before + 1);
        }
    }
    runs
}
