//! The run file of a month, and those that an earlier process left.

use crate::budget::{drop_oldest, files, hold};
use crate::ledger::{Ledger, LedgerLine, Totals};
use crate::settings::{BookError, Now, Settings};
use model::{Counters, Event, EventKind, RunInfo, RunState, SeriesSpec, Window};
use sentinel::{Month, Watched, stamp};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use store::{Batch, RunFile, RunWriter, StoreError};
use units::Realtime;

/// Ending of run files.
pub(crate) const ENDING: &str = "triptime";

/// Files of one second, at most.
const MOST_OF_A_NAME: u32 = 100;

/// Oldest run files that go at once for a new one on a full disk: it may be others who fill it.
const MOST_DROPPED: u32 = 8;

const DAY_NS: i64 = 86_400_000_000_000;

/// The newest files in which the end of the last watch is looked for.
const NEWEST: usize = 4;

/// A run file that is being written.
#[derive(Debug)]
pub(crate) struct MonthRun {
    writer: RunWriter,
    month: Month,
    /// Its begin on the wall clock, in ns since 1970 UTC.
    started_ns: i64,
    /// Its begin on the watch's clock, in ns.
    pub(crate) begun_ns: i64,
    series: Vec<(String, Totals)>,
    watched_before: Vec<Watched>,
    pub(crate) file: PathBuf,
}

impl MonthRun {
    /// Begins a run file now.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn begin(
        settings: &Settings,
        series: &[SeriesSpec],
        watched: Vec<Watched>,
        now: Now,
    ) -> Result<Self, StoreError> {
        let info = RunInfo {
            id: format!("{:x}-{:x}", now.wall_ns, std::process::id()),
            command: "sentinel".to_owned(),
            arguments: settings.arguments.clone(),
            tool_version: settings.tool_version.clone(),
            started: Realtime::from_ns(now.wall_ns),
            window_ns: settings.window_ns,
        };
        let (file, mut writer) = create(settings, &info, now.wall_ns)?;
        for (name, text) in &settings.documents {
            writer.put_document(name, text)?;
        }
        for spec in series {
            writer.add_series(spec)?;
        }
        Ok(Self {
            writer,
            month: Month::of(now.wall_ns),
            started_ns: now.wall_ns,
            begun_ns: now.at_ns,
            series: series
                .iter()
                .map(|spec| (spec.name.clone(), Totals::default()))
                .collect(),
            watched_before: watched,
            file,
        })
    }

    /// True if a new run file is due at this instant of the wall clock.
    pub(crate) fn is_over(&self, wall_ns: i64) -> bool {
        is_over(self.started_ns, wall_ns)
    }

    /// Writes a batch; its windows count from now on.
    ///
    /// # Errors
    /// The disk refuses it; then nothing of it is written.
    pub(crate) fn write(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.writer.write(batch)?;
        for window in &batch.windows {
            if let Some((_, totals)) = self.series.get_mut(window.series.0 as usize) {
                totals.add(window);
            }
        }
        Ok(())
    }

    /// Ends the file, writes its line into the ledger, and takes the right to write from it.
    ///
    /// # Errors
    /// The disk refuses the end or the ledger. The file then reads as interrupted, and a later start writes its line.
    pub(crate) fn end(mut self, settings: &Settings, watched: &[(String, Watched)], now: Now) -> Result<(), BookError> {
        let duration_ns = u64::try_from(now.at_ns - self.begun_ns).unwrap_or(0);
        let mut lines = self.lines();
        let mut events = Vec::new();
        for (number, (relay, time)) in watched.iter().enumerate() {
            let before = self.watched_before.get(number).copied().unwrap_or_default();
            let time = Watched {
                watched_ns: time.watched_ns.saturating_sub(before.watched_ns),
                unwatched_ns: time.unwatched_ns.saturating_sub(before.unwatched_ns),
            };
            lines.push(self.watched_line(relay, time));
            events.push(Event {
                at_ns: duration_ns,
                since_ns: Some(duration_ns),
                kind: EventKind::Note,
                series: None,
                text: format!(
                    "{relay}: watched for {}, not watched for {}",
                    units::Ns(time.watched_ns),
                    units::Ns(time.unwatched_ns)
                ),
            });
        }
        self.writer.write(&Batch {
            events,
            ..Batch::default()
        })?;
        self.writer.finish(RunState::Complete, duration_ns)?;
        Ledger::of(&settings.folder).add(&lines)?;
        seal(&self.file)?;
        hold(&settings.folder, ENDING, settings.runs_octets, Some(&self.file));
        Ok(())
    }

    fn lines(&self) -> Vec<LedgerLine> {
        let series = self.series.iter();
        series.map(|(name, totals)| self.line(name.clone(), *totals)).collect()
    }

    fn watched_line(&self, relay: &str, time: Watched) -> LedgerLine {
        let counters = Counters {
            watched_ns: time.watched_ns,
            ..Counters::default()
        };
        self.line(
            format!("watched/{relay}"),
            Totals {
                counters,
                ..Totals::default()
            },
        )
    }

    fn line(&self, series: String, totals: Totals) -> LedgerLine {
        LedgerLine {
            month: self.month.to_string(),
            run: file_name(&self.file),
            state: "complete".to_owned(),
            series,
            totals,
        }
    }
}

/// True if a run file that began at one instant of the wall clock is not for another: its month is over, or it was begun by a clock that was
/// wrongly ahead. A clock that was set back by less than a day ends none.
fn is_over(started_ns: i64, wall_ns: i64) -> bool {
    let (month, now) = (Month::of(started_ns), Month::of(wall_ns));
    now > month || now < month && wall_ns < started_ns.saturating_sub(DAY_NS)
}

/// Keeps run files within their budget: those of kills count, too. Their lines are in the ledger.
pub(crate) fn make_room(settings: &Settings) {
    hold(&settings.folder, ENDING, settings.runs_octets, None);
}

fn create(settings: &Settings, info: &RunInfo, wall_ns: i64) -> Result<(PathBuf, RunWriter), StoreError> {
    let name = stamp(wall_ns);
    let (mut number, mut dropped) = (1, 0);
    loop {
        let file = match number {
            1 => format!("sentinel-{name}.{ENDING}"),
            _ => format!("sentinel-{name}-{number:02}.{ENDING}"),
        };
        let file = settings.folder.join(file);
        match RunWriter::create(&file, info, Some(settings.file_budget)) {
            Err(StoreError::Exists { .. }) if number < MOST_OF_A_NAME => number += 1,
            Err(StoreError::DiskFull { .. })
                if dropped < MOST_DROPPED && drop_oldest(&settings.folder, ENDING, Some(&file)) =>
            {
                dropped += 1;
            }
            made => return made.map(|writer| (file, writer)),
        }
    }
}

/// Takes the right to write from a file that is complete.
fn seal(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.permissions().mode();
    fs::set_permissions(file, fs::Permissions::from_mode(mode & !0o222))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Writes the lines of run files that an earlier process left without one: it was killed. Returns how many these were.
///
/// # Errors
/// The ledger cannot be read or written.
pub(crate) fn adopt(folder: &Path) -> io::Result<u64> {
    let ledger = Ledger::of(folder);
    ledger.mend()?;
    let known: std::collections::HashSet<String> = ledger.read()?.into_iter().map(|line| line.run).collect();
    let mut adopted = 0;
    for file in files(folder, ENDING)? {
        let name = file_name(&file.path);
        if known.contains(&name) {
            continue;
        }
        // A file that was left before it had a table tells nothing.
        if let Ok(lines) = lines_of(&file.path, &name) {
            ledger.add(&lines)?;
            adopted += 1;
        }
    }
    Ok(adopted)
}

fn lines_of(path: &Path, name: &str) -> Result<Vec<LedgerLine>, StoreError> {
    let run = RunFile::open(path)?;
    let month = Month::of(run.info().started.as_ns()).to_string();
    let state = match run.state() {
        RunState::Complete => "complete",
        // Nobody else writes here: this process holds the folder, and the one that began the file was killed.
        RunState::Interrupted | RunState::Running => "interrupted",
    };
    run.series()?
        .into_iter()
        .map(|(id, spec)| {
            let totals = run.totals(id)?;
            Ok(LedgerLine {
                month: month.clone(),
                run: name.to_owned(),
                state: state.to_owned(),
                series: spec.name,
                totals: Totals {
                    counters: totals.counters,
                    min_ns: totals.min_ns,
                    max_ns: totals.max_ns,
                },
            })
        })
        .collect()
}

/// When the last watch of this folder ended, in ns since 1970 UTC: the end of its last closed window. A watch that was killed before it closed one
/// left nothing: without any other, the begin of the first such watch counts. `None` if there was none.
///
/// # Errors
/// The folder cannot be read.
pub fn last_end_ns(folder: &Path) -> io::Result<Option<i64>> {
    let files = match files(folder, ENDING) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut ends, mut begin) = (Vec::new(), None);
    for run in files.iter().rev().filter_map(|file| RunFile::open(&file.path).ok()) {
        let started_ns = run.info().started.as_ns();
        match i64::try_from(run.duration_ns()).unwrap_or(0) {
            0 => begin = Some(started_ns),
            duration_ns => ends.push(started_ns.saturating_add(duration_ns)),
        }
        if ends.len() == NEWEST {
            break;
        }
    }
    Ok(ends.into_iter().max().or(begin))
}

/// Adds a window to one of the same series that waits before it.
pub(crate) fn join(into: &mut Window, window: &Window) {
    into.end_ns = into.end_ns.max(window.end_ns);
    into.counters.add(&window.counters);
    into.sum_ns += window.sum_ns;
    into.min_ns = into.min_ns.into_iter().chain(window.min_ns).min();
    into.max_ns = into.max_ns.max(window.max_ns);
    into.histogram.merge(&window.histogram);
}

#[cfg(test)]
mod tests {
    use super::{DAY_NS, ENDING, MonthRun, files, is_over, last_end_ns, make_room, seal};
    use crate::settings::{Now, Settings};
    use model::{SeriesId, SeriesSpec, Tally, kind};
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use store::Batch;

    const SECOND: i64 = 1_000_000_000;

    fn settings(folder: &Path) -> Settings {
        Settings {
            name: "bay".into(),
            folder: folder.to_owned(),
            interface: "eth1".into(),
            before_ns: 1,
            after_ns: 1,
            captures_octets: 1 << 20,
            runs_octets: 1 << 20,
            file_budget: 1 << 20,
            window_ns: 60_000_000_000,
            documents: Vec::new(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            metrics: None,
        }
    }

    /// A run file that a kill left, with or without a window of ten seconds.
    fn killed(settings: &Settings, wall_ns: i64, has_window: bool) -> MonthRun {
        let series = [SeriesSpec::of(&kind::TRIP, "main", "one -> the other")];
        let mut run = MonthRun::begin(settings, &series, Vec::new(), Now { at_ns: 0, wall_ns }).expect("a run file");
        if has_window {
            let mut tally = Tally::default();
            tally.sample(1, 1);
            let windows = vec![tally.window(SeriesId(0), 0, 10 * SECOND.unsigned_abs())];
            let batch = Batch {
                windows,
                ..Batch::default()
            };
            run.write(&batch).expect("written");
        }
        run
    }

    #[test]
    fn run_files_of_kills_are_within_the_budget() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = settings(folder.path());
        for start in 1..6 {
            drop(killed(&settings, start * 1_000 * SECOND, true));
        }
        let octets = std::fs::metadata(&files(folder.path(), ENDING).expect("files")[4].path)
            .expect("a file")
            .len();
        settings.runs_octets = octets * 2 + octets / 2;
        make_room(&settings);
        assert_eq!(last_end_ns(folder.path()).expect("a folder"), Some(5_010 * SECOND));
        assert_eq!(files(folder.path(), ENDING).expect("files").len(), 2);
    }

    #[test]
    fn a_sealed_file_is_read_by_nobody_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run");
        std::fs::write(&file, "").expect("a file");
        for (before, after) in [(0o600, 0o400), (0o664, 0o444)] {
            std::fs::set_permissions(&file, Permissions::from_mode(before)).expect("a mode");
            seal(&file).expect("sealed");
            let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, after, "{mode:o}");
        }
    }

    #[test]
    fn a_run_file_of_a_wrong_future_ends_when_the_clock_is_right() {
        // 2026-12-01 and 2099-01-01.
        let (december, wrong) = (20_788 * DAY_NS, 47_117 * DAY_NS);
        assert!(is_over(december - 1, december) && !is_over(december, december + DAY_NS));
        assert!(is_over(wrong, december));
        assert!(!is_over(december, december - DAY_NS), "set back by a day");
        assert!(is_over(december, december - DAY_NS - 1));
    }

    #[test]
    fn a_watch_that_kept_nothing_ends_no_gap() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = settings(folder.path());
        assert_eq!(last_end_ns(folder.path()).expect("a folder"), None);
        drop(killed(&settings, 1_000 * SECOND, false));
        drop(killed(&settings, 2_000 * SECOND, false));
        assert_eq!(last_end_ns(folder.path()).expect("a folder"), Some(1_000 * SECOND));
        drop(killed(&settings, 3_000 * SECOND, true));
        for start in 4..12 {
            drop(killed(&settings, start * 1_000 * SECOND, false));
        }
        assert_eq!(last_end_ns(folder.path()).expect("a folder"), Some(3_010 * SECOND));
    }
}
