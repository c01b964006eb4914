//! `triptime export`: a run in other programs' formats.

use crate::failure::Failure;
use crate::verdict;
use report::export::{ExportError, csv, hlog};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use store::RunFile;

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The result document
    Json,
    /// One line per window and series
    Csv,
    /// HdrHistogram interval log
    Hlog,
}

/// Writes a run as JSON, CSV or HdrHistogram interval log
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime export runs/20261121T020000-qualify.triptime --format csv > windows.csv")]
pub(crate) struct ExportArgs {
    /// Run file
    run: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &ExportArgs) -> Result<u8, Failure> {
    let run = RunFile::open(&args.run)?;
    match &args.output {
        Some(path) => {
            let file = File::create(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
            write(args, &run, &mut BufWriter::new(file))
        }
        None => write(args, &run, &mut BufWriter::new(std::io::stdout().lock())),
    }
}

fn write(args: &ExportArgs, run: &RunFile, mut out: &mut dyn Write) -> Result<u8, Failure> {
    let written = match args.format {
        Format::Json => {
            let report = verdict::read(&args.run, None)?;
            out.write_all(report.json().as_bytes()).map_err(ExportError::from)
        }
        Format::Csv => csv(run, &mut out),
        Format::Hlog => hlog(run, &mut out),
    };
    match written.and_then(|()| Ok(out.flush()?)) {
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Failure::CouldNotMeasure(format!("cannot export: {error}"))),
        Ok(()) => Ok(0),
    }
}
