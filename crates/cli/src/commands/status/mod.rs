//! `triptime status`: lists the runs on this machine and their state.

mod json;
mod text;

use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::verdict::{self, write};
use session::room::Disk;
use session::roster::{Entry, Found, Roster, Standing};
use std::path::Path;
use store::Room;

/// Shows the runs of this machine: running, stuck, ended; the step, the time left, the largest samples so far, the room on the disk
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
With NAME the exit status is the run's: 0 still running, or ended and no limit failed; 1 ended and a
limit failed; 3 stuck, ended without closing its file, or inconclusive. Before the end, a sample
over its limit is not yet a verdict.

Example: triptime status
         triptime status substation --json")]
pub(crate) struct StatusArgs {
    /// Show this run alone, with everything known about it
    name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// A run for display.
struct Shown {
    entry: Entry,
    standing: Standing,
    /// User that owns the run.
    owner: u32,
    /// Size of its file in bytes.
    octets: Option<u64>,
    /// Free room of its file system in bytes.
    room: Option<Room>,
    /// Instant of this look, in ns on CLOCK_MONOTONIC.
    now_ns: i64,
    /// Answer of its file, in one line; only for an ended run that was requested by name.
    answer: Option<String>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &StatusArgs) -> Result<u8, Failure> {
    let runs = match &args.name {
        Some(name) => vec![Shown::of(find(name)?, true)],
        None => all().into_iter().map(|found| Shown::of(found, false)).collect(),
    };
    let status = match (&args.name, runs.first()) {
        (Some(_), Some(run)) => run.status(),
        _ => 0,
    };
    write(&match args.json {
        true => json::document(&runs)?,
        false => text::text(&runs, args.name.is_some()),
    })?;
    Ok(status)
}

fn all() -> Vec<Found> {
    Roster::all().iter().flat_map(Roster::runs).collect()
}

/// Finds the run with this name: the user's own before those of others.
///
/// # Errors
/// There is no run with this name.
pub(crate) fn find(name: &str) -> Result<Found, Failure> {
    let found = Roster::all().iter().find_map(|roster| roster.find(name));
    found.ok_or_else(|| {
        let names: Vec<String> = all().into_iter().map(|found| found.entry.name).collect();
        let there = match &names[..] {
            [] => "there is no run on this machine".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        Failure::Usage(format!("{name}: no such run; {there}"))
    })
}

/// Answer of the run in a file, in one line.
pub(crate) fn answer(file: &Path) -> Option<String> {
    let report = verdict::read(file, None).ok()?;
    Some(report.summary().trim_end().to_owned())
}

/// Size of a run file in bytes, including the part that is still in its log.
fn octets(file: &Path) -> Option<u64> {
    let of = |path: &Path| std::fs::metadata(path).ok().map(|file| file.len());
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    Some(of(file)? + of(Path::new(&log)).unwrap_or(0))
}

impl Shown {
    fn of(found: Found, by_name: bool) -> Self {
        let Found { entry, owner, .. } = found;
        let standing = entry.standing(owner);
        let file = Path::new(&entry.file);
        let answer = (by_name && standing.is_over()).then(|| answer(file)).flatten();
        Self {
            octets: octets(file),
            room: Disk::of(file).room().ok(),
            now_ns: sys::clock::monotonic().as_ns(),
            answer,
            standing,
            owner,
            entry,
        }
    }

    /// Exit status for a run that was requested by name.
    fn status(&self) -> u8 {
        match &self.standing {
            Standing::Ended => self.entry.end.as_ref().map_or(COULD_NOT_MEASURE, |end| end.status),
            Standing::Stuck(_) | Standing::WithoutAWord(_) | Standing::Unknown(_) => COULD_NOT_MEASURE,
            Standing::Starting | Standing::Measuring | Standing::Finishing => 0,
        }
    }

    /// Time since an instant on CLOCK_MONOTONIC, in ns.
    fn since(&self, at_ns: i64) -> u64 {
        u64::try_from(self.now_ns - at_ns).unwrap_or(0)
    }

    /// Remaining measuring time, in ns.
    fn left_ns(&self) -> Option<u64> {
        let left_ns = self.entry.left_ns.filter(|_| !self.standing.is_over())?;
        Some(left_ns.saturating_sub(self.since(self.entry.seen_ns)))
    }

    /// Expected final size of the file in bytes, while it grows.
    fn expected(&self) -> Option<u64> {
        self.entry.expected.filter(|_| !self.standing.is_over())
    }
}
