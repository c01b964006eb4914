//! The end of a run: its file is closed, and shown.

use crate::arguments::RunArgs;
use crate::failure::{Failure, say};
use crate::table;
use crate::verdict;
use model::{RunState, setting};
use probes::ProbeError;
use report::limits::Profile;
use report::tables::Layout;
use run::remove;
use session::{Session, SessionError};
use std::path::{Path, PathBuf};
use store::{FilePlace, RunFile};
use sys::SysError;

/// A run that has been measured, and is to be closed and shown.
pub(super) struct Ending {
    pub(super) session: Session,
    pub(super) profile: Option<Profile>,
    pub(super) args: RunArgs,
    pub(super) table: Option<Layout>,
    pub(super) doubts: Vec<String>,
    /// Why it was ended before the disk is full.
    pub(super) used_up: Option<String>,
}

impl Ending {
    /// Closes the file and reports it, unless `outcome` says that nothing was measured. Returns the exit status.
    pub(super) fn report(mut self, outcome: Result<(), SessionError>, state: RunState) -> Result<u8, Failure> {
        let told_to_end = self.session.stop.requested();
        let place = self.session.place();
        let closed = self.session.finish(state);
        let file = found(&place);
        self.args.pages.follow(place.made(), &file);
        match (outcome, closed) {
            (Err(error), Ok(())) if (told_to_end || is_of_the_interface(&error)) && has_something(&file) => {
                // It was measured until then: that is shown, and the status says why it is not all. A step that was told to end while it
                // got ready has seen nothing.
                let status = verdict::show(&file, self.profile, &self.args)?;
                ended_early(status, error.into())
            }
            (Err(error), _) => {
                if has_something(&file) {
                    say(&format_args!("what was measured is in {}", file.display()));
                } else {
                    remove(&file);
                    say_doubts(&self.doubts);
                }
                Err(error.into())
            }
            (Ok(()), Err(error)) => {
                // Windows written before the disk was full are a run; it is shown, and the status says it is not whole.
                let status = verdict::show(&file, self.profile, &self.args)?;
                ended_early(status, error.into())
            }
            (Ok(()), Ok(())) if !has_something(&file) => {
                remove(&file);
                say_doubts(&self.doubts);
                if let Some(why) = self.used_up {
                    return Err(Failure::CouldNotMeasure(why));
                }
                let why = if told_to_end {
                    "ended before anything was measured"
                } else {
                    "nothing came that could be measured"
                };
                Err(Failure::CouldNotMeasure(why.to_owned()))
            }
            (Ok(()), Ok(())) => {
                table::before_the_answer(&file, self.table, &self.args)?;
                let status = verdict::show(&file, self.profile, &self.args)?;
                match self.used_up {
                    Some(why) => ended_early(status, Failure::CouldNotMeasure(why)),
                    None => Ok(status),
                }
            }
        }
    }
}

/// Where the file of a run is that was closed; one that was moved or removed meanwhile is told.
pub(super) fn found(place: &FilePlace) -> PathBuf {
    let was = place.made();
    let (now, what) = match place.now() {
        Some(now) if now == was => return now,
        Some(now) => (now, "moved while it was measured, and is"),
        None => match place.restore() {
            Ok(restored) => (restored, "removed while it was measured, and is written again:"),
            Err(error) => {
                say(&format_args!(
                    "{} was removed while it was measured, and cannot be written again: {error}",
                    was.display()
                ));
                return was.to_owned();
            }
        },
    };
    say(&format_args!("{} was {what} {}", was.display(), now.display()));
    FilePlace::settle(&now);
    now
}

/// The status of a run that ended before its time and was shown: a limit that failed has failed, however much was measured.
fn ended_early(shown: u8, why: Failure) -> Result<u8, Failure> {
    if shown != verdict::LIMIT_FAILED {
        return Err(why);
    }
    say(&why);
    Ok(shown)
}

/// True if an interface that was removed ended the run.
fn is_of_the_interface(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::Probe(ProbeError::Sys(SysError::InterfaceGone { .. }))
    )
}

/// True if anything was measured into the run at `file`, or it says why not. When that cannot be told, it is kept.
fn has_something(file: &Path) -> bool {
    let any = RunFile::open(file).and_then(|run| {
        let series = run.series()?;
        series.iter().try_fold(false, |any, (id, spec)| {
            let says_why = spec.settings.iter().any(|(name, _)| name == setting::NOT_MEASURED);
            Ok(any || says_why || run.totals(*id)?.windows > 0)
        })
    });
    any.unwrap_or(true)
}

/// Says the doubts found before measuring: they may be why nothing came, and are in no report then.
fn say_doubts(doubts: &[String]) {
    for doubt in doubts {
        say(doubt);
    }
}
