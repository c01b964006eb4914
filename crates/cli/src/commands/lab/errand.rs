//! A command in a guest, and the run that results.

use super::carry::Carried;
use crate::arguments::PageArgs;
use crate::ending;
use crate::face::FaceArgs;
use crate::failure::{Failure, say};
use crate::over_host;
use crate::run_file::default_file;
use crate::verdict;
use place::{Away, Job, Place, PlaceError, Returned};
use run::Shared;
use session::runner::Answering;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(50);

/// Place for the run of a command in a guest, and options for its display.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Errand {
    /// Run file to write [default: in ./runs, named after the time and the guest]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Another file for the command's folder in the guest, such as one that a scenario names; files that WORDS name are always there
    #[arg(long, value_name = "FILE")]
    pub(super) with: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) pages: PageArgs,
    #[command(flatten)]
    pub(super) face: FaceArgs,
}

impl Errand {
    /// File for the run, by this name in the guest.
    ///
    /// # Errors
    /// The file already exists.
    pub(super) fn file(&self, guest: &str) -> Result<PathBuf, Failure> {
        let file = self.out.clone().unwrap_or_else(|| default_file(guest));
        match file.exists() {
            true => Err(Failure::Usage(format!("{} exists already", file.display()))),
            false => Ok(file),
        }
    }

    /// Starts these words with `start`, lets `host` answer their questions about late samples, and brings the run to `file`; returns the exit status. A signal ends the command; its run so far is
    /// kept.
    ///
    /// # Errors
    /// The command did not start, or left no run.
    pub(super) fn run(
        &self,
        file: &Path,
        words: &[String],
        host: Option<AnsweringHost>,
        start: impl FnOnce(&Job) -> Result<Box<dyn Away>, PlaceError>,
    ) -> Result<u8, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        ending::on_signals(&stop)?;
        let Carried { mut words, files, .. } = Carried::of(words, &self.with)?;
        if host.is_some() {
            words.insert(0, over_host::FLAG.to_owned());
        }
        let job = Job { words, files };
        let file = finish(&attend(start(&job)?, host, &stop)?, file)?;
        let report = verdict::read(&file, None)?;
        verdict::present(&report, &self.face, &self.pages)
    }
}

/// Prints the guest's messages, and puts its run file at its final place; returns that place.
fn finish(left: &Returned, file: &Path) -> Result<PathBuf, Failure> {
    for line in left.said.lines() {
        say(&format_args!("in the guest: {}", line.trim_start_matches("triptime: ")));
    }
    keep(&left.run, file)
}

/// This machine, as the host of the guest in which the command runs.
pub(super) struct AnsweringHost {
    /// The guest.
    pub(super) guest: Arc<dyn Place>,
    /// Knows the work that ran on this machine's CPUs.
    pub(super) explain: Shared,
}

/// Waits until the command has ended, answers its questions, and passes on a signal to end. Its printed output is made again from its run
/// file.
fn attend(mut away: Box<dyn Away>, host: Option<AnsweringHost>, stop: &AtomicBool) -> Result<Returned, Failure> {
    let lines = away.lines();
    let away = Arc::new(Mutex::new(away));
    let answers = match host {
        Some(host) => {
            let answering = Answering::new(&host.guest, Arc::clone(&away), Some(host.explain));
            let thread = std::thread::Builder::new().spawn(move || answering.answer_all(&lines));
            Some(thread.map_err(|error| Failure::CouldNotMeasure(format!("a thread: {error}")))?)
        }
        None => None,
    };
    let at_it = || away.lock().unwrap_or_else(PoisonError::into_inner);
    let mut is_told = false;
    while !at_it().is_finished() {
        if stop.load(Ordering::Relaxed) && !is_told {
            at_it().stop();
            is_told = true;
        }
        std::thread::sleep(LOOK);
    }
    let left = at_it().finish()?;
    // It has sent everything; nothing keeps the guest for it any longer.
    if let Some(answers) = answers {
        let _ = answers.join();
    }
    Ok(left)
}

/// Puts the run file at its final place: at `file`, or next to it if another file appeared there meanwhile.
fn keep(run: &Path, file: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let others = (2..100).map(|number| file.with_extension(format!("{number}.triptime")));
    for name in std::iter::once(file.to_owned()).chain(others) {
        match File::create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
            Ok(mut to) => {
                // Copied, not moved: a temporary folder may be on another file system.
                let copied = File::open(run).and_then(|mut from| io::copy(&mut from, &mut to));
                return copied.map(|_| name).map_err(failed);
            }
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::keep;

    #[test]
    fn a_run_that_came_first_is_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("runs/one.triptime");
        let kept = ["first", "second"].map(|text| {
            let run = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(run.path(), text).expect("written");
            keep(run.path(), &file).expect("kept")
        });
        assert_eq!(kept[0], file);
        assert_ne!(kept[1], file);
        assert_eq!(
            kept.map(|path| std::fs::read_to_string(path).expect("read")),
            ["first", "second"]
        );
    }
}
