//! Disk space for a run file: how much it will need, how much the file system has, and when a run must end before it is full.

use std::io;
use std::path::{Path, PathBuf};
use store::Room;

/// Bytes of a run file without windows: inventory, indices, first pages of the log.
const EMPTY: u64 = 512 << 10;

/// Bytes of a window without its histogram: the minimum, and the measured figure (83 to 85 in runs of 1 476 and 7 085 windows).
const WINDOW_LEAST: u64 = 64;
const WINDOW: u64 = 85;

/// Measured bytes of a histogram: 400 to 3 300, depending on the spread of its samples.
const HISTOGRAM: u64 = 1_500;

/// Bytes of the samples over its limit that a series keeps, ten thousand at most, each with its explanation (measured: 330 to 670).
const OVER: u64 = 10_000 * 700;

/// Bytes of the worst hundred samples of a series, each with the kernel's events around it (measured: 330 and 860 a sample).
const WORST: u64 = 100 * 1_200;

/// Bytes of a stamp that is kept of every frame: measured 2; a stream without jitter takes about half.
const STAMP: u64 = 2;
const STAMP_LEAST: u64 = 1;

/// How often every stamp is on the disk while the recordings of a step's ends are joined: at its end, joined, and in the run file.
const COPIES: u64 = 3;

/// Series, windows and bytes that a run will write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoomNeed {
    /// Number of series, as far as known before the run.
    pub series: u64,
    /// Number of windows of all series together.
    pub windows: u64,
    /// Bytes available for histograms.
    pub budget: u64,
    /// Number of stamps that are kept of every frame, and joined.
    pub stamps: u64,
}

impl RoomNeed {
    /// The need of one or several series with windows of this length.
    pub fn of(series: u64, duration_ns: u64, window_ns: u64) -> Self {
        Self {
            series,
            windows: series.saturating_mul(duration_ns.div_ceil(window_ns.max(1))),
            budget: 0,
            stamps: 0,
        }
    }

    /// The need of both runs, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            series: self.series.saturating_add(other.series),
            windows: self.windows.saturating_add(other.windows),
            budget: self.budget.max(other.budget),
            stamps: self.stamps.saturating_add(other.stamps),
        }
    }

    /// Bytes below which it certainly does not fit.
    pub fn least(&self) -> u64 {
        EMPTY
            .saturating_add(self.windows.saturating_mul(WINDOW_LEAST))
            .saturating_add(self.stamps.saturating_mul(STAMP_LEAST * COPIES))
    }

    /// Bytes that it needs if each series has so many samples over its limit that no more of them are kept.
    pub fn most(&self) -> u64 {
        self.expected().saturating_add(self.series.saturating_mul(OVER))
    }

    /// Bytes that it is expected to need while few samples are over their limits. Recordings that are joined need twice their size more, until
    /// they are.
    pub fn expected(&self) -> u64 {
        let histograms = self.windows.saturating_mul(HISTOGRAM).min(self.budget);
        let windows = self.windows.saturating_mul(WINDOW);
        let worst = self.series.saturating_mul(WORST);
        EMPTY
            .saturating_add(windows)
            .saturating_add(histograms)
            .saturating_add(worst)
            .saturating_add(self.stamps.saturating_mul(STAMP))
    }
}

/// The file system that a run file is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// The file system of a file. The file, and its folder, need not exist yet.
    pub fn of(file: &Path) -> Self {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let there = file.ancestors().skip(1).find(|folder| folder.is_dir());
        Self {
            folder: there.unwrap_or(Path::new("/")).to_owned(),
        }
    }

    /// Reads its space now.
    ///
    /// # Errors
    /// The kernel does not report it.
    pub fn room(&self) -> io::Result<Room> {
        // If the folder was renamed or removed meanwhile, one of its parents still exists.
        let mut folders = self.folder.ancestors().filter(|folder| folder.is_dir());
        Room::of(folders.next().unwrap_or(&self.folder))
    }

    /// Refuses a run that certainly does not fit. If the file system does not report its space, nothing is refused.
    ///
    /// # Errors
    /// The run does not fit: the figures and the remedy.
    pub fn refuse(&self, need: &RoomNeed) -> Result<(), String> {
        let Ok(room) = self.room() else { return Ok(()) };
        self.refuse_in(room, need)
    }

    fn refuse_in(&self, room: Room, need: &RoomNeed) -> Result<(), String> {
        if room.free >= need.least().saturating_add(room.reserve()) {
            return Ok(());
        }
        let joined = match for_joining(need) {
            Some(octets) => format!(
                ", and {} for the frames of record = true while they are joined",
                shown(octets)
            ),
            None => String::new(),
        };
        Err(format!(
            "{}: {} are free, and the run needs at least {} ({} windows of {} series; {} are expected{joined}) in addition to a reserve of \
             {}: make room, name another file with --out, or start it anyway with --force",
            self.folder.display(),
            shown(room.free),
            shown(need.least()),
            need.windows,
            need.series,
            expected(need.expected(), need.most()),
            shown(room.reserve())
        ))
    }

    /// Why recordings of `octets` bytes cannot be joined here: the disk has no room for the joined recording and its copy in the run file.
    /// `None` if it has, or does not report its space.
    pub fn cannot_join(&self, octets: u64) -> Option<String> {
        let room = self.room().ok()?;
        self.cannot_join_in(room, octets)
    }

    fn cannot_join_in(&self, room: Room, octets: u64) -> Option<String> {
        let needs = octets.saturating_mul(COPIES - 1).saturating_add(room.reserve());
        (room.free < needs).then(|| {
            format!(
                "{}: {} are free, and joining recordings of {} needs {}",
                self.folder.display(),
                shown(room.free),
                shown(octets),
                shown(needs)
            )
        })
    }

    /// Why the run must end now: only the reserve of its disk is left. `None` while there is more.
    pub fn used_up(&self) -> Option<String> {
        let room = self.room().ok()?;
        self.used_up_in(room)
    }

    fn used_up_in(&self, room: Room) -> Option<String> {
        (room.free < room.reserve()).then(|| {
            format!(
                "{}: only {} are free, less than the reserve of {}: the run ended before the disk was full, and its measurements are kept; \
                 make room",
                self.folder.display(),
                shown(room.free),
                shown(room.reserve())
            )
        })
    }
}

/// Bytes that recordings need beside the run file while they are joined; `None`: nothing is joined.
fn for_joining(need: &RoomNeed) -> Option<u64> {
    let octets = need.stamps.saturating_mul(STAMP * (COPIES - 1));
    Some(octets).filter(|octets| *octets > 0)
}

/// Bytes that a run is expected to take, in words.
pub fn expected(octets: u64, most: u64) -> String {
    format!(
        "about {}, up to {} where many samples are over their limits",
        shown(octets),
        shown(most)
    )
}

/// A number of bytes, with its unit, for a person.
pub fn shown(octets: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| octets >= *size);
    unit.map_or_else(
        || format!("{octets} bytes"),
        |(size, name)| format!("{:.1} {name}", octets as f64 / *size as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::{Disk, RoomNeed, shown};
    use std::path::Path;
    use store::Room;

    const WEEK_NS: u64 = 7 * 24 * 3600 * 1_000_000_000;

    #[test]
    fn a_week_needs_what_its_windows_and_its_budget_need() {
        let week = RoomNeed {
            budget: 32 << 20,
            ..RoomNeed::of(2, WEEK_NS, 20_000_000_000)
        };
        assert_eq!(week.windows, 60_480);
        // tests/week.rs writes 31.4 MB.
        assert!(week.least() < 5 << 20, "{}", week.least());
        assert!((31 << 20..45 << 20).contains(&week.expected()), "{}", week.expected());
        let twice = week.and(RoomNeed::of(100, WEEK_NS, 20_000_000_000));
        assert_eq!((twice.series, twice.windows, twice.budget), (102, 3_084_480, 32 << 20));
        assert_eq!(
            RoomNeed::of(1, 1, 20_000_000_000).windows,
            1,
            "a part of a window is a window"
        );
    }

    #[test]
    fn what_surely_does_not_fit_is_refused_with_the_figures() {
        let disk = Disk::of(Path::new("/no/such/folder/run.triptime"));
        assert_eq!(disk.folder, Path::new("/"));
        let need = RoomNeed::of(100, WEEK_NS, 1_000_000_000);
        let room = |free| Room { free, size: 1 << 40 };
        let enough = need.least() + (16 << 20);
        assert_eq!(disk.refuse_in(room(enough), &need), Ok(()));
        let refused = disk.refuse_in(room(enough - 1), &need).expect_err("too little");
        assert!(
            refused.contains("3.6 GiB are free") && refused.contains("60480000 windows of 100 series"),
            "{refused}"
        );
        assert!(refused.contains("--force"), "{refused}");
    }

    #[test]
    fn recorded_frames_need_three_times_their_stamps_until_they_are_joined() {
        let disk = Disk::of(Path::new("/run.triptime"));
        let without = RoomNeed::of(10, WEEK_NS, 20_000_000_000);
        let need = RoomNeed {
            stamps: 1 << 30,
            ..without
        };
        assert_eq!(need.least() - without.least(), 3 << 30);
        assert_eq!(need.expected() - without.expected(), 2 << 30);
        let room = |free| Room { free, size: 1 << 40 };
        let refused = disk.refuse_in(room(1 << 30), &need).expect_err("too little");
        assert!(
            refused.contains("and 4.0 GiB for the frames of record = true"),
            "{refused}"
        );
        let reserve = room(0).reserve();
        assert_eq!(disk.cannot_join_in(room((2 << 30) + reserve), 1 << 30), None);
        let why = disk.cannot_join_in(room(2 << 30), 1 << 30).expect("too little");
        assert!(why.contains("2.0 GiB are free"), "{why}");
    }

    #[test]
    fn a_run_ends_when_only_its_reserve_is_left_and_a_small_disk_has_a_small_one() {
        let disk = Disk::of(Path::new("/run.triptime"));
        let small = |free| Room { free, size: 640 << 10 };
        assert_eq!(small(0).reserve(), 32 << 10);
        assert_eq!(disk.used_up_in(small(32 << 10)), None);
        assert!(
            disk.used_up_in(small(31 << 10))
                .is_some_and(|why| why.contains("31.0 KiB"))
        );
        assert!(disk.room().expect("the root file system").size > 0);
    }

    #[test]
    fn octets_have_a_unit_that_is_no_larger_than_they_are() {
        assert_eq!(
            [shown(999), shown(1024), shown(5 << 20), shown(3 << 30)],
            ["999 bytes", "1.0 KiB", "5.0 MiB", "3.0 GiB"]
        );
    }
}
