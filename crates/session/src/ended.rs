//! The end of a run: closes its file, and finds it if it was moved meanwhile.

use crate::keeper::Keeper;
use crate::session::SessionError;
use model::{RunState, setting};
use probes::ProbeError;
use run::remove;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{FilePlace, RunFile};
use sys::SysError;

/// Result of a run whose file was closed.
pub enum Became {
    /// The measurement is complete.
    Whole,
    /// The measurement is incomplete; the error says why.
    Part(SessionError),
    /// The measurement was refused or failed. Its file exists if it has any content.
    Failed(SessionError),
    /// There was nothing to measure: the file was removed.
    Nothing,
}

/// A run that was closed.
pub struct Ended {
    /// How it ended.
    pub state: RunState,
    /// Error that ended the measurement.
    pub(crate) outcome: Result<(), SessionError>,
    /// Error that kept the file from being written, if any.
    pub(crate) closed: Result<(), SessionError>,
    /// Location of the run file.
    pub(crate) place: Arc<FilePlace>,
    /// True if it was requested to end.
    pub told_to_end: bool,
    /// Doubts found before measuring.
    pub doubts: Vec<String>,
    /// Keeper of the run until its answer is known.
    pub keeper: Keeper,
}

impl Ended {
    /// Finds the run file; `say` is called with a message if it has been moved.
    pub fn found(&self, say: &dyn Fn(&str)) -> PathBuf {
        found(&self.place, say)
    }

    /// The path at which the run file was made.
    pub fn made(&self) -> &Path {
        self.place.made()
    }

    /// The result of the run in `file`. A file without content is removed.
    pub fn became(&mut self, file: &Path) -> Became {
        let is_cut_short = self
            .outcome
            .as_ref()
            .is_err_and(|error| self.told_to_end || is_of_the_interface(error) || error.leaves_steps());
        let [outcome, closed] = [&mut self.outcome, &mut self.closed].map(|one| std::mem::replace(one, Ok(())));
        let became = match (outcome, closed) {
            // A step that was ended during its preparation has measured nothing.
            (Err(error), Ok(())) if is_cut_short && has_something(file) => Became::Part(error),
            (Err(error), _) => Became::Failed(error),
            // Windows written before the disk was full make a valid run.
            (Ok(()), Err(error)) => Became::Part(error),
            (Ok(()), Ok(())) if has_something(file) => Became::Whole,
            (Ok(()), Ok(())) => Became::Nothing,
        };
        if matches!(became, Became::Failed(_) | Became::Nothing) && !has_something(file) {
            remove(file);
        }
        became
    }
}

/// Finds the closed file of a run; `say` is called with a message if it was moved or removed meanwhile.
pub(crate) fn found(place: &FilePlace, say: &dyn Fn(&str)) -> PathBuf {
    let was = place.made();
    let (now, what) = match place.now() {
        Some(now) if now == was => return now,
        Some(now) => (now, "moved while it was measured, and is now"),
        None => match place.restore() {
            Ok(restored) => (restored, "removed while it was measured, and was written again to"),
            Err(error) => {
                say(&format!(
                    "{} was removed while it was measured, and cannot be written again: {error}",
                    was.display()
                ));
                return was.to_owned();
            }
        },
    };
    say(&format!("{} was {what} {}", was.display(), now.display()));
    FilePlace::settle(&now);
    now
}

/// True if an interface that was removed ended the run.
fn is_of_the_interface(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::Probe(ProbeError::Sys(SysError::InterfaceGone { .. }))
    )
}

/// True if the run at `file` has any measurement, or a reason why it has none. If it cannot be read, it is kept.
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
