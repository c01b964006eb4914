//! Traces of a healthy round-trip measurement in its windows: rests, losses that are counted long after, stalls. None
//! of them is a contradiction.

use model::{Counter, RunView, SeriesView, Tally, WindowRow, setting};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use testing::synthetic::{run, series};

const MS: u64 = 1_000_000;

/// Time after which the initiator of `reflect` gives up on an answer.
const GIVE_UP_NS: u64 = 100 * MS;
const AROUND_NS: u64 = 50 * MS;

/// The course of a run. Lengths in ms.
#[derive(Debug, Clone)]
struct Course {
    window: u64,
    length: u64,
    rest: u64,
    every: u64,
    /// Lost frames per thousand.
    lost: u64,
    /// Beginning and length of a time in which every frame is lost.
    outage: (u64, u64),
    /// Frame number and length of a stall of the thread.
    stall: (u64, u64),
    /// True if the file states the length of pauses; otherwise it only states the length of rests.
    is_stated: bool,
    seed: u64,
}

fn courses() -> impl Strategy<Value = Course> {
    let times = (100u64..400, 1_000u64..12_000, 20u64..150, 400u64..900);
    let faults = (0u64..60, (0u64..9_000, 0u64..800), (0u64..9_000, 0u64..700));
    (times, faults, any::<bool>(), any::<u64>()).prop_map(|(times, faults, is_stated, seed)| Course {
        window: times.0,
        length: times.1,
        rest: times.2,
        every: times.3,
        lost: faults.0,
        outage: faults.1,
        stall: faults.2,
        is_stated,
        seed,
    })
}

/// The open window of the series, and the closed ones.
struct Windows {
    length_ns: u64,
    tally: Tally,
    start_ns: u64,
    closed: SeriesView,
}

impl Windows {
    /// Closes windows that end before `at_ns`. A window in which nothing happened is not stored.
    fn reach(&mut self, at_ns: u64) {
        while at_ns >= (self.start_ns / self.length_ns + 1) * self.length_ns {
            let end_ns = (self.start_ns / self.length_ns + 1) * self.length_ns;
            self.close(end_ns);
        }
    }

    fn close(&mut self, end_ns: u64) {
        let tally = std::mem::take(&mut self.tally);
        let start_ns = std::mem::replace(&mut self.start_ns, end_ns);
        if tally.is_empty() {
            return;
        }
        let one = &mut self.closed;
        one.counters.add(&tally.counters);
        one.histogram.merge(&tally.histogram);
        one.sum_ns += tally.sum_ns;
        one.min_ns = one.min_ns.into_iter().chain(tally.min_ns).min();
        one.max_ns = one.max_ns.into_iter().chain(tally.max_ns).max();
        one.windows.push(WindowRow {
            start_ns,
            end_ns,
            counters: tally.counters,
            samples: tally.histogram.count(),
            sum_ns: tally.sum_ns,
            mean_ns: tally.mean_ns(),
            min_ns: tally.min_ns,
            max_ns: tally.max_ns,
            p50_ns: None,
            p99_ns: None,
            p999_ns: None,
        });
    }
}

/// One frame per ms. A lost frame is counted late: its slot is needed again only after 8192 other frames.
fn measured(course: &Course) -> RunView {
    let mut closed = series("rtt/reflect", 0, 1, 1);
    closed.spec.interval_ns = Some(MS as f64);
    let pauses_ns = course.rest * MS + GIVE_UP_NS + AROUND_NS;
    closed.spec.settings = vec![(
        setting::REST.to_owned(),
        format!(
            "{}.0 ms after each {} ms, below the throttling",
            course.rest, course.every
        ),
    )];
    if course.is_stated {
        let stated = (setting::PAUSES_NS.to_owned(), pauses_ns.to_string());
        closed.spec.settings.push(stated);
    }
    let begin_ns = 17 * MS + course.seed % MS;
    let mut windows = Windows {
        length_ns: course.window * MS,
        tally: Tally::default(),
        start_ns: begin_ns,
        closed,
    };
    let (mut now_ns, mut rested_ns, mut lost, mut dice) = (begin_ns, begin_ns, 0, course.seed);
    let end_ns = begin_ns + course.length * MS;
    for frame in 0.. {
        if now_ns >= end_ns {
            break;
        }
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let since = now_ns.saturating_sub(begin_ns) / MS;
        let is_out = (course.outage.0..course.outage.0 + course.outage.1).contains(&since);
        let is_lost = is_out || (dice >> 33) % 1_000 < course.lost;
        lost += u64::from(is_lost);
        let took_ns = 20_000 + (dice >> 40) % 60_000;
        if !is_lost {
            windows.reach(now_ns + took_ns);
            windows.tally.sample(i64::try_from(took_ns).unwrap_or(0), 1);
        }
        now_ns += MS;
        if frame == course.stall.0 && course.stall.1 > 0 {
            now_ns += course.stall.1 * MS;
            windows.reach(now_ns);
            windows.tally.count(Counter::Missed, course.stall.1);
        }
        if now_ns - rested_ns >= course.every * MS {
            now_ns += course.rest * MS + if is_lost { GIVE_UP_NS } else { 0 } + (dice >> 50) % AROUND_NS;
            rested_ns = now_ns;
        }
    }
    let closed_ns = now_ns + GIVE_UP_NS;
    windows.reach(closed_ns);
    windows.tally.count(Counter::Lost, lost);
    windows.close(closed_ns + 1);
    let mut closed = windows.closed;
    closed.spikes.clear();
    let mut run = run(vec![closed]);
    run.info.command = "reflect".to_owned();
    run.info.window_ns = course.window * MS;
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_healthy_measurement_of_round_trips_agrees_with_itself(course in courses()) {
        let run = measured(&course);
        prop_assert_eq!(super::of(&run), Vec::new());
    }
}
