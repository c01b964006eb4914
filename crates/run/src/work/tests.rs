//! Bounds on the memory of the recording thread, for any number of records and any delay of its readings.

use super::{MOST_SPIKES, MOST_WINDOWS, Work};
use crate::feed::{Described, Feed};
use crate::labels::Labels;
use crate::recorder::Command;
use crate::signal::SpikeSignal;
use crate::stop::Stop;
use crate::test_run::TestRun;
use crate::{Describe, Notice};
use model::{Event, EventKind, RunState, SeriesId, SeriesSpec};
use std::sync::mpsc;
use sys::thread::{Policy, RtThread};
use units::Monotonic;

const WINDOW_NS: i64 = 1_000_000;
const SERIES: u16 = 20;

/// Describes a series whose samples are all over the threshold.
struct Late;

impl Describe for Late {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            threshold_ns: Some(1),
            ..SeriesSpec::named(label)
        }
    }
}

/// A recorder without its thread, and the measuring end of its only feed.
fn recorder(file: &TestRun) -> (Work, Feed, Monotonic) {
    let (writer, options) = file.begin(WINDOW_NS.unsigned_abs(), None);
    let start = options.start;
    let mut work = Work::new(writer, options, SpikeSignal::default(), Default::default(), Stop::new());
    let labels: Vec<String> = (0..SERIES).map(|slot| format!("series{slot}")).collect();
    let feed = one_feed(&mut work, (0, 0), &labels);
    (work, feed, start)
}

/// The measuring end of a feed with this number in this step, and its series.
fn one_feed(work: &mut Work, (number, step): (usize, usize), labels: &[impl AsRef<str>]) -> Feed {
    let (after, _) = mpsc::channel();
    let described = Described {
        describe: Box::new(Late),
        settings: Vec::new(),
        labels: Labels::default().for_observer(),
        step,
    };
    let signal = SpikeSignal::default();
    let (mut feed, source) = Feed::new(1 << 16, labels.len(), described, number, after, signal);
    for (slot, label) in (0..).zip(labels) {
        feed.announce(slot, label.as_ref());
    }
    let (commands, inbox) = mpsc::sync_channel(1);
    commands.send(Command::Feed(number, source)).expect("the inbox");
    assert_eq!(work.take_commands(&inbox), None);
    feed
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

/// The feeds of a trip step with a round trip at the same time, each on its own CPU; the conductor has no CPU.
const BESIDE: [(usize, &[&str]); 5] = [
    (0, &["publish/lateness"]),
    (0, &[]),
    (0, &["trip/F1", "phase/F1"]),
    (0, &["task/relay", "use/MU01"]),
    (1, &["rtt/reflect"]),
];

/// The events that a change to a recorder with these feeds writes, each with its series.
fn told(change: impl FnOnce(&mut Work, &[Feed])) -> Vec<(EventKind, String)> {
    let file = TestRun::new();
    let (writer, options) = file.begin(WINDOW_NS.unsigned_abs(), None);
    let mut work = Work::new(writer, options, SpikeSignal::default(), Default::default(), Stop::new());
    let feeds = (0..).zip(BESIDE);
    let feeds: Vec<Feed> = feeds
        .map(|(number, (step, labels))| one_feed(&mut work, (number, step), labels))
        .collect();
    work.drain_all();
    change(&mut work, &feeds);
    work.write();
    work.end(RunState::Complete, 1).expect("a whole file");
    let run = file.read();
    let names = run.series().expect("series");
    let name = |id: SeriesId| names[id.0 as usize].1.name.clone();
    let events = run.events().expect("events").into_iter();
    events
        .map(|event| (event.kind, event.series.map_or("all".to_owned(), name)))
        .collect()
}

fn event(kind: EventKind) -> Event {
    Event {
        at_ns: 5,
        since_ns: Some(3),
        kind,
        series: None,
        text: "what happened".into(),
    }
}

fn of(kind: EventKind, names: &[&str]) -> Vec<(EventKind, String)> {
    names.iter().map(|name| (kind, (*name).to_owned())).collect()
}

#[test]
fn what_happens_to_a_thread_touches_its_series_and_the_frames_that_pass_it_in_its_step() {
    let frames = ["trip/F1", "phase/F1", "use/MU01"];
    for (hit, own) in [(0, vec!["publish/lateness"]), (1, vec![]), (3, vec!["task/relay"])] {
        for kind in [
            EventKind::SecondMeasurement,
            EventKind::RtThrottled,
            EventKind::ThreadChanged,
        ] {
            let mut found = told(|work, _| work.tell(&[hit], &event(kind)));
            let mut wanted = of(kind, &[own.as_slice(), &frames].concat());
            found.sort_by(|one, other| one.1.cmp(&other.1));
            wanted.sort_by(|one, other| one.1.cmp(&other.1));
            assert_eq!(found, wanted, "{hit}");
        }
    }
    // Reported twice, for two feeds of one thread, it is one event.
    let kind = EventKind::HeldUp;
    let found = told(|work, _| (0..2).for_each(|_| work.tell(&[4], &event(kind))));
    assert_eq!(found, of(kind, &["rtt/reflect"]));
}

#[test]
fn what_a_thread_suffers_by_itself_touches_the_series_that_it_measures() {
    let kind = EventKind::PageFaults;
    assert_eq!(
        told(|work, _| work.of_thread(0, &event(kind))),
        of(kind, &["publish/lateness"])
    );
    // A feed that only supports another has no series of its own.
    let found = told(|work, _| work.of_thread(1, &event(kind)));
    assert_eq!(found, of(kind, &["trip/F1", "phase/F1", "use/MU01"]));
}

#[test]
fn a_stranger_on_the_cpu_of_a_thread_without_series_puts_those_in_doubt_that_it_listens_for() {
    let kind = EventKind::SecondMeasurement;
    let cpu = sys::thread::allowed_cpus().first().expect("a CPU");
    let listener = RtThread {
        policy: Policy::Other,
        cpu: Some(cpu),
        stack_bytes: 0,
    };
    let found = told(|work, feeds| {
        listener.enter().expect("one of its CPUs");
        feeds[1].set_thread(cpu);
        // Reported again and again, it is written once.
        (0..3).for_each(|_| work.on_cpu(cpu, &event(kind)));
        work.on_cpu(cpu + 1, &event(kind));
    });
    assert_eq!(found, of(kind, &["trip/F1", "phase/F1", "use/MU01"]));
}

#[test]
fn an_event_of_a_feed_is_of_its_series_also_of_those_that_come_later() {
    let kind = EventKind::ControlFailed;
    let found = told(|work, _| work.of_feed(2, &event(kind)));
    assert_eq!(found, of(kind, &["trip/F1", "phase/F1"]));
}

/// A notice that its probe has no text for.
#[derive(Clone, Copy)]
struct Unheard;

impl Notice for Unheard {
    fn code(self) -> u16 {
        77
    }
}

#[test]
fn a_notice_without_words_is_a_doubt_and_never_dropped() {
    let file = TestRun::new();
    let (mut work, mut feed, start) = recorder(&file);
    feed.notice(0, Unheard, start, 3, 4);
    work.drain_all();
    let told = work.batch.events.first().expect("an event");
    assert_eq!((told.kind, told.series.is_some()), (EventKind::Incomplete, true));
    assert!(
        told.text.contains("series0: notice 77 (3, 4) is unknown"),
        "{}",
        told.text
    );
}
