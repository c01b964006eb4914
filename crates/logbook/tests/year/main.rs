//! A year in service in simulated time, through the code that watches live: every count is compared with what was played, and memory and
//! disk stay as they are after the first months.

mod player;

use logbook::{Ledger, LedgerLine};
use player::{BEAT, CAPTURES, DAY, HOUR, MS, Player, RUNS, SECOND};
use sentinel::AlarmKind;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder in memory, where there is one: a year syncs its files some ten thousand times.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a folder")
}

/// Counts of the deeds that were played.
#[derive(Debug, Default)]
struct Played {
    trips: u64,
    late: u64,
    missing: u64,
    unwanted: u64,
    silences: u64,
    boots: u64,
    deaf: u64,
    unknown: u64,
    gaps: u64,
}

fn octets(folder: &Path, ending: &str) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|found| found == ending));
    files.map(|file| file.metadata().map_or(0, |found| found.len())).sum()
}

/// Octets of memory of this process.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = text
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("pages");
    pages * 4_096
}

fn sum(lines: &[LedgerLine], series: &str) -> model::Counters {
    let mut all = model::Counters::default();
    lines
        .iter()
        .filter(|line| line.series == series)
        .for_each(|line| all.add(&line.totals.counters));
    all
}

/// The deed of one day; each comes again and again, in another order each week.
fn deed(player: &mut Player, played: &mut Played, number: i64) {
    match number % 9 {
        0 | 3 | 6 => {
            player.shot(Some((12 + number % 15) * MS));
            played.trips += 1;
        }
        1 => {
            player.shot(Some(45 * MS));
            played.late += 1;
        }
        2 => {
            player.shot(None);
            played.missing += 1;
        }
        4 => {
            player.false_trip();
            played.unwanted += 1;
        }
        5 => {
            // Ten minutes of silence.
            (0..10).for_each(|_| player.pass(BEAT));
            player.beat();
            played.silences += 1;
        }
        7 => {
            player.boot();
            played.boots += 1;
        }
        _ => {
            // Frames of the watch itself are lost while a start is on: its end is not known.
            player.change([false, true]);
            player.now_ns += 200 * MS;
            player.look(7);
            player.change([false, false]);
            (0..15).for_each(|_| player.pass(100 * MS));
            player.beat();
            played.deaf += 1;
            played.unknown += 1;
        }
    }
}

#[test]
fn a_year_loses_no_count_and_grows_nothing() {
    let folder = folder();
    let mut player = Player::begin(folder.path(), 0);
    player.beat();
    let mut played = Played::default();
    let mut memories = Vec::new();
    for day in 0..365 {
        for quarter in 0..4 {
            player.rest_until(day * DAY + quarter * 6 * HOUR + HOUR);
            deed(&mut player, &mut played, day * 4 + quarter + day / 7);
        }
        // Killed in the middle of a quiet night, and down until the morning.
        if day % 60 == 45 {
            player.rest_until(day * DAY + 21 * HOUR);
            player.now_ns = (day + 1) * DAY;
            player.restart();
            player.beat();
            played.gaps += 1;
        }
        // Two thousand starts of the relay within half an hour.
        if day % 100 == 30 {
            (0..1_000).for_each(|_| {
                player.pass(SECOND);
                player.boot();
            });
            played.boots += 1_000;
        }
        if day % 30 == 29 {
            memories.push(memory());
            let captures = octets(&folder.path().join("captures"), "pcapng");
            assert!(captures <= CAPTURES, "{captures} octets of captures on day {day}");
            let runs = octets(folder.path(), "triptime");
            assert!(runs <= RUNS + (RUNS >> 1), "{runs} octets of run files on day {day}");
        }
    }
    player.rest_until(365 * DAY + HOUR);
    player.end();

    let growth = memories[memories.len() - 1].saturating_sub(memories[2]);
    assert!(
        growth < 8 << 20,
        "{growth} octets more than after three months: {memories:?}"
    );
    let lines = Ledger::of(folder.path()).read().expect("the ledger");
    let trips = sum(&lines, "trip/main");
    assert_eq!(trips.received, played.trips + played.late, "{played:?}");
    assert_eq!(trips.lost, played.missing, "{played:?}");
    assert_eq!(trips.unwanted, played.unwanted, "{played:?}");
    let longest = lines
        .iter()
        .filter(|line| line.series == "trip/main")
        .filter_map(|line| line.totals.max_ns)
        .max();
    assert_eq!(longest, Some(45 * MS));
    let months: std::collections::BTreeSet<&str> = lines.iter().map(|line| line.month.as_str()).collect();
    assert_eq!(months.len(), 13, "{months:?}");
    let watched = sum(&lines, "watched/main").watched_ns;
    assert!(watched > 0 && watched < (365 * DAY) as u64, "{watched}");

    let heard = player.heard.lock().expect("alone").clone();
    assert_eq!(heard.not_kept, 0, "every alarm has its frames");
    let all = |kind: AlarmKind| {
        let of = |counts: &BTreeMap<AlarmKind, u64>| counts.get(&kind).copied().unwrap_or(0);
        of(&heard.told) + of(&heard.suppressed)
    };
    assert_eq!(all(AlarmKind::Late), played.late);
    assert_eq!(all(AlarmKind::Missing), played.missing);
    assert_eq!(all(AlarmKind::False), played.unwanted);
    assert_eq!(all(AlarmKind::Silent), played.silences);
    assert_eq!(all(AlarmKind::Unknown), played.unknown);
    assert_eq!(all(AlarmKind::Own), played.deaf + played.gaps);
    let changed = heard.told.get(&AlarmKind::Changed).copied().unwrap_or(0);
    assert!(
        changed < 600 && changed > 100,
        "a flood is told in part: {changed} of {}",
        played.boots
    );
    assert_eq!(
        heard
            .texts
            .iter()
            .filter(|text| text.contains("nothing was watched for"))
            .count() as u64,
        played.gaps
    );
}

#[test]
fn a_gap_is_told_with_its_length_and_makes_the_month_no_pass() {
    let folder = folder();
    let mut player = Player::begin(folder.path(), 0);
    player.beat();
    player.rest_until(HOUR + BEAT);
    player.shot(Some(20 * MS));
    player.rest_until(3 * HOUR + SECOND);
    player.now_ns = 5 * HOUR;
    player.restart();
    player.beat();
    player.rest_until(6 * HOUR);
    player.end();
    let heard = player.heard.lock().expect("alone").clone();
    let told = heard.texts.iter().find(|text| text.contains("nothing was watched for"));
    let told = told.unwrap_or_else(|| panic!("{:?}", heard.texts));
    // From the end of the last window that was closed.
    assert!(told.contains("nothing was watched for 2.00 h"), "{told}");
    let lines = Ledger::of(folder.path()).read().expect("the ledger");
    let trips: Vec<&LedgerLine> = lines.iter().filter(|line| line.series == "trip/main").collect();
    assert_eq!(trips.len(), 2, "{lines:?}");
    assert_eq!(
        (trips[0].state.as_str(), trips[0].totals.counters.received),
        ("interrupted", 1)
    );
    assert_eq!(
        (trips[1].state.as_str(), trips[1].totals.counters.received),
        ("complete", 0)
    );
    let watched = sum(&lines, "watched/main").watched_ns;
    assert!(watched < HOUR as u64, "only the second watch ended in order: {watched}");
}
