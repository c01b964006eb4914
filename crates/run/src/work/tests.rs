//! What the recording thread holds is bounded, however much comes and however late it looks.

use super::{MOST_SPIKES, MOST_WINDOWS, Work};
use crate::Describe;
use crate::feed::{Described, Feed};
use crate::labels::Labels;
use crate::recorder::Command;
use crate::signal::SpikeSignal;
use crate::stop::Stop;
use crate::test_run::TestRun;
use model::{RunState, SeriesId, SeriesSpec};
use std::sync::mpsc;
use units::Monotonic;

const WINDOW_NS: i64 = 1_000_000;
const SERIES: u16 = 20;

/// Every sample is over the threshold.
struct Late;

impl Describe for Late {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            threshold_ns: Some(1),
            ..SeriesSpec::named(label)
        }
    }
}

/// A recorder without its thread, and the measuring end of its one feed.
fn recorder(file: &TestRun) -> (Work, Feed, Monotonic) {
    let (writer, options) = file.begin(WINDOW_NS.unsigned_abs(), None);
    let start = options.start;
    let mut work = Work::new(writer, options, SpikeSignal::default(), Default::default(), Stop::new());
    let (after, _) = mpsc::channel();
    let described = Described {
        describe: Box::new(Late),
        settings: Vec::new(),
        labels: Labels::default().for_observer(),
    };
    let signal = SpikeSignal::default();
    let (mut feed, source) = Feed::new(1 << 16, usize::from(SERIES), described, 0, after, signal);
    for slot in 0..SERIES {
        feed.announce(slot, &format!("series{slot}"));
    }
    let (commands, inbox) = mpsc::sync_channel(1);
    commands.send(Command::Feed(0, source)).expect("the inbox");
    assert_eq!(work.take_commands(&inbox), None);
    (work, feed, start)
}

#[test]
fn a_recorder_that_was_held_up_for_a_hundred_windows_does_not_hold_them_all() {
    let file = TestRun::new();
    let (mut work, mut feed, start) = recorder(&file);
    for window in 0..100 {
        for slot in 0..SERIES {
            feed.sample(slot, start + window * WINDOW_NS + 1_000, 500 + window, 0);
        }
    }
    drop(feed);
    work.drain_all();
    assert!((1..MOST_WINDOWS).contains(&work.batch.windows.len()));
    work.close_windows(101 * WINDOW_NS.unsigned_abs(), true);
    work.write();
    work.end(RunState::Complete, 1).expect("a whole file");
    let run = file.read();
    for series in 0..u32::from(SERIES) {
        assert_eq!(run.windows(SeriesId(series)).expect("windows").len(), 100);
    }
}

#[test]
fn kept_samples_are_written_before_their_window_ends_where_they_are_many() {
    let file = TestRun::new();
    let (mut work, mut feed, start) = recorder(&file);
    let each = MOST_SPIKES / usize::from(SERIES) + 1;
    for number in 0..each as u64 {
        for slot in 0..SERIES {
            feed.sample(slot, start + 1_000, 500, number);
        }
    }
    work.drain_all();
    let open = |work: &Work| -> usize {
        let series = work.feeds.values().flat_map(|feed| feed.series.iter().flatten());
        series.map(|series| series.spikes()).sum()
    };
    assert_eq!(open(&work), each * usize::from(SERIES));
    work.hand_over_spikes();
    assert_eq!((open(&work), work.batch.windows.len()), (0, 0));
    assert!(work.batch.spikes.len() < MOST_SPIKES, "written as they are handed over");
    work.write();
    drop(feed);
    work.close_windows(WINDOW_NS.unsigned_abs() + 1, true);
    work.write();
    work.end(RunState::Complete, 1).expect("a whole file");
    let run = file.read();
    assert_eq!(run.spikes(SeriesId(0)).expect("spikes").len(), each);
}

#[test]
fn the_ring_of_a_thread_that_has_ended_is_given_back() {
    let file = TestRun::new();
    let (mut work, mut feed, start) = recorder(&file);
    feed.sample(0, start + 1_000, 500, 0);
    let room = |work: &Work| work.feeds[&0].source.records.buffer().capacity();
    work.drain_all();
    assert_eq!(room(&work), 1 << 16);
    feed.sample(0, start + 2_000, 500, 1);
    drop(feed);
    work.drain_all();
    assert_eq!(room(&work), 0);
    assert!(work.feeds[&0].source.is_over());
    assert_eq!(work.feeds[&0].series[0].as_ref().map(|series| series.spikes()), Some(2));
}
