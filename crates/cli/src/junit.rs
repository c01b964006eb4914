//! The JUnit file of a command. From the start it reports an error until there is a result, so that a server never takes an earlier run's
//! verdict for this one's, whatever ends the command.

use crate::failure::{Failure, say};
use crate::page::JUNIT;
use clap::ArgMatches;
use report::Report;
use report::junit::without_result;
use std::fs;
use std::path::{Path, PathBuf};

/// Text of the file until there is a result.
const NO_RESULT: &str = "triptime has not come to a result; if it has ended, its standard error says why";

/// Runs a command. If it asks for a JUnit file, the file reports from the start that there is no result, and at the end the reason for a
/// missing one.
///
/// # Errors
/// The command fails, or the file would replace a file of another kind.
pub(crate) fn around(matches: &ArgMatches, run: impl FnOnce() -> Result<u8, Failure>) -> Result<u8, Failure> {
    let Some(asked) = Asked::of(matches)? else {
        return run();
    };
    let begun = asked.without(NO_RESULT)?;
    let ended = run();
    // A run that ended early may have written a result; only the initial text is replaced.
    if let Err(failure) = &ended
        && fs::read_to_string(&asked.file).is_ok_and(|text| text == begun)
        && let Err(unwritten) = asked.without(&failure.to_string())
    {
        say(&unwritten);
    }
    ended
}

/// Writes the verdict.
///
/// # Errors
/// The file is of another kind, or cannot be written.
pub(crate) fn write(report: &Report, file: &Path) -> Result<(), Failure> {
    JUNIT.write(file, &report.junit().map_err(cannot)?)
}

fn cannot(error: impl std::fmt::Display) -> Failure {
    Failure::CouldNotMeasure(format!("cannot make the JUnit file: {error}"))
}

/// JUnit file that the command line requests.
struct Asked {
    command: String,
    file: PathBuf,
}

impl Asked {
    fn of(matches: &ArgMatches) -> Result<Option<Self>, Failure> {
        let Some((command, options)) = matches.subcommand() else {
            return Ok(None);
        };
        let path = |id: &str| options.try_get_one::<PathBuf>(id).ok().flatten();
        // Excludes pipes and devices: they keep no earlier verdict.
        let is_kept = |file: &&PathBuf| fs::metadata(file).map_or(true, |there| there.is_file());
        let Some(file) = path("junit").filter(is_kept).cloned() else {
            return Ok(None);
        };
        for (option, id) in [("--out", "out"), ("--html", "html")] {
            JUNIT.check_other(&file, option, path(id).map(PathBuf::as_path))?;
        }
        let command = command.to_owned();
        Ok(Some(Self { command, file }))
    }

    /// Writes that there is no result; returns the text written.
    fn without(&self, why: &str) -> Result<String, Failure> {
        let text = without_result(&self.command, why).map_err(cannot)?;
        // A path that cannot exist is a mistake in the command line.
        JUNIT
            .write(&self.file, &text)
            .map_err(|failure| Failure::Usage(failure.to_string()))?;
        Ok(text)
    }
}
