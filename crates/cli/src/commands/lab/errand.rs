//! A command in a guest, and the run that comes of it.

use crate::arguments::PageArgs;
use crate::ending;
use crate::face::FaceArgs;
use crate::failure::{Failure, say};
use crate::run_file::default_file;
use crate::verdict;
use lab::place::{Away, Job, PlaceError, Returned};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(50);

/// Where the run of a command in a guest goes, and how it is shown.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Errand {
    /// Run file to write [default: ./runs/TIME-guest.triptime]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
}

impl Errand {
    /// The file of its run.
    ///
    /// # Errors
    /// It is there already.
    pub(super) fn file(&self) -> Result<PathBuf, Failure> {
        let file = self.out.clone().unwrap_or_else(|| default_file("guest"));
        match file.exists() {
            true => Err(Failure::Usage(format!("{} exists already", file.display()))),
            false => Ok(file),
        }
    }

    /// Runs these words as `start` has them run, and brings the run to `file`; returns the exit status. A signal ends the command,
    /// whose run so far is kept.
    ///
    /// # Errors
    /// It did not start, or left no run.
    pub(super) fn run(
        &self,
        file: &Path,
        words: &[String],
        start: impl FnOnce(&Job) -> Result<Box<dyn Away>, PlaceError>,
    ) -> Result<u8, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        ending::on_signals(&stop)?;
        let job = Job {
            words: words.to_vec(),
            files: Vec::new(),
        };
        finish(attend(start(&job)?, &stop)?, file)?;
        let report = verdict::read(file, None)?;
        verdict::present(&report, &self.face, &self.pages)
    }
}

/// Says what the command said in the guest, and puts its run file where it is to stay.
fn finish(left: Returned, file: &Path) -> Result<(), Failure> {
    for line in left.said.lines() {
        say(&format_args!("in the guest: {}", line.trim_start_matches("triptime: ")));
    }
    keep(left, file)
}

/// Waits until the command has ended, or is told to. What it prints is printed again from its run file.
fn attend(mut away: Box<dyn Away>, stop: &AtomicBool) -> Result<Returned, PlaceError> {
    let mut is_told = false;
    while !away.is_finished() {
        if stop.load(Ordering::Relaxed) && !is_told {
            away.stop();
            is_told = true;
        }
        std::thread::sleep(LOOK);
    }
    away.finish()
}

/// Puts the run file where it is to stay.
fn keep(left: Returned, file: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", file.display()));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match left.run.persist_noclobber(file) {
        Ok(()) => Ok(()),
        // Another file system: there it has to be copied.
        Err(error) => std::fs::copy(&error.path, file).map(|_| ()).map_err(failed),
    }
}
