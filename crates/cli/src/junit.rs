//! The JUnit file of a command. It is an error from the beginning until there is a result: a server that reads it never takes an
//! earlier run's verdict for this one's, whatever ends the command.

use crate::failure::{Failure, say};
use crate::page::JUNIT;
use clap::ArgMatches;
use report::Report;
use report::junit::without_result;
use std::fs;
use std::path::{Path, PathBuf};

/// Text of the file until there is more to say.
const NO_RESULT: &str = "triptime has not come to a result; if it has ended, its standard error says why";

/// Runs a command; when it asks for a file, this says from the beginning that there is no result, and at the end why there is none.
///
/// # Errors
/// Errors of the command; and the file would replace something else.
pub(crate) fn around(matches: &ArgMatches, run: impl FnOnce() -> Result<u8, Failure>) -> Result<u8, Failure> {
    let Some(asked) = Asked::of(matches)? else {
        return run();
    };
    let begun = asked.without(NO_RESULT)?;
    let ended = run();
    // A run that ended early may have had a result before.
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
/// As of [`JUNIT`].
pub(crate) fn write(report: &Report, file: &Path) -> Result<(), Failure> {
    JUNIT.write(file, &report.junit().map_err(cannot)?)
}

fn cannot(error: impl std::fmt::Display) -> Failure {
    Failure::CouldNotMeasure(format!("cannot make the JUnit file: {error}"))
}

/// A file that the command line asks for.
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
        // A file that is not regular keeps nothing: there is no earlier verdict in it.
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

    /// Writes that there is no result; returns what was written.
    fn without(&self, why: &str) -> Result<String, Failure> {
        let text = without_result(&self.command, why).map_err(cannot)?;
        // A file that cannot be there is a mistake in the command line.
        JUNIT
            .write(&self.file, &text)
            .map_err(|failure| Failure::Usage(failure.to_string()))?;
        Ok(text)
    }
}
