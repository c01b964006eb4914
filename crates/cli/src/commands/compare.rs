//! `triptime compare`: two or more runs side by side.

use crate::failure::Failure;
use report::comparison::Comparison;
use report::view::RunView;
use std::io::Write;
use std::path::{Path, PathBuf};
use store::RunFile;

/// Compares runs: does B differ from A, by how much, how sure, and what differs between the machines
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Every run is held against the first. Series are matched by name; where a kind has one series in each run, by kind.

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
}

/// Runs the command; returns its exit status: a difference is an answer, not an error.
pub(crate) fn run(args: &CompareArgs) -> Result<u8, Failure> {
    let runs = args.runs.iter().map(|text| read(text)).collect::<Result<Vec<_>, _>>()?;
    let comparison = Comparison::of(distinct(runs));
    if let Some(path) = &args.html {
        let html = comparison
            .html()
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML page: {error}")))?;
        std::fs::write(path, html).map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))?;
    }
    let text = match args.json {
        true => comparison.json(),
        false => comparison.text(),
    };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::CouldNotMeasure(format!("cannot write the output: {error}")))
        }
        _ => Ok(0),
    }
}

/// A run under the name it was given, or that of its file.
fn read(text: &str) -> Result<(String, RunView), Failure> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => (name.to_owned(), path),
        _ => (stem(text), text),
    };
    let run = RunFile::open(Path::new(path))?;
    Ok((name, RunView::read(&run)?))
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
