//! The end of a run: its file is closed, and looked for where it is then.

use crate::keeper::Keeper;
use crate::session::SessionError;
use model::{RunState, setting};
use probes::ProbeError;
use run::remove;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{FilePlace, RunFile};
use sys::SysError;

/// State of a run file that was closed.
pub enum Became {
    /// Everything that came was measured into it.
    Whole,
    /// A part was measured into it; why it is not all.
    Part(SessionError),
    /// The measurement was refused or failed. A file with something in it is there all the same.
    Failed(SessionError),
    /// Nothing came that could be measured: there is no file any more.
    Nothing,
}

/// A run that was closed.
pub struct Ended {
    /// How it ended.
    pub state: RunState,
    /// Error that ended the measurement.
    pub(crate) outcome: Result<(), SessionError>,
    /// Error that kept the file from being written.
    pub(crate) closed: Result<(), SessionError>,
    /// The run file's place.
    pub(crate) place: Arc<FilePlace>,
    /// True if it was told to end.
    pub told_to_end: bool,
    /// Doubts found before measuring.
    pub doubts: Vec<String>,
    /// Keeper of the run until its answer is there.
    pub keeper: Keeper,
}

impl Ended {
    /// Where the run file is now; `say` is told where it is not where it was made.
    pub fn found(&self, say: &dyn Fn(&str)) -> PathBuf {
        found(&self.place, say)
    }

    /// The name by which the run file was made.
    pub fn made(&self) -> &Path {
        self.place.made()
    }

    /// State of the run in `file`. One with nothing in it is removed.
    pub fn became(&mut self, file: &Path) -> Became {
        let is_cut_short = self
            .outcome
            .as_ref()
            .is_err_and(|error| self.told_to_end || is_of_the_interface(error));
        let [outcome, closed] = [&mut self.outcome, &mut self.closed].map(|one| std::mem::replace(one, Ok(())));
        let became = match (outcome, closed) {
            // A step that was told to end while it got ready has seen nothing.
            (Err(error), Ok(())) if is_cut_short && has_something(file) => Became::Part(error),
            (Err(error), _) => Became::Failed(error),
            // Windows written before the disk was full are a run.
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

/// Where the file of a run is that was closed; one that was moved or removed meanwhile is told.
pub(crate) fn found(place: &FilePlace, say: &dyn Fn(&str)) -> PathBuf {
    let was = place.made();
    let (now, what) = match place.now() {
        Some(now) if now == was => return now,
        Some(now) => (now, "moved while it was measured, and is"),
        None => match place.restore() {
            Ok(restored) => (restored, "removed while it was measured, and is written again:"),
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
