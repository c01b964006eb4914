//! Findings from stamps: gaps, bursts, windows, and faults of the stamps themselves.

use super::{CONFIG, Kept, SPACING_NS, analyse, analyse_with, even, only, sv};
use crate::{Config, EventKind};

#[test]
fn the_worst_gap_has_its_frame_and_thresholds_count() {
    let mut frames = even(0..200);
    for (time_ns, _) in &mut frames[150..] {
        *time_ns = time_ns.map(|ns| ns + 1_000_000);
    }
    let limit = Kept {
        threshold_ns: Some(SPACING_NS as u64),
        ..Kept::default()
    };
    let (summary, _) = analyse_with(CONFIG, limit, &frames);
    let stream = only(&summary);
    let worst = stream.worst[0];
    assert_eq!((worst.ns, worst.frame), (SPACING_NS + 1_000_000, 151));
    assert_eq!(worst.at_ns, (150 * SPACING_NS + 1_000_000) as u64);
    assert_eq!(stream.tally.counters.overflow, 1);
    assert_eq!(stream.worst.len(), 100);
}

#[test]
fn frames_that_come_at_once_are_a_burst() {
    let mut frames = even(0..300);
    for (at, (time_ns, _)) in (0..).zip(&mut frames[100..110]) {
        *time_ns = Some(110 * SPACING_NS + at * 5_000);
    }
    for (time_ns, _) in &mut frames[110..] {
        *time_ns = time_ns.map(|ns| ns + SPACING_NS);
    }
    let stream = &analyse(&frames).0.streams[0];
    assert_eq!((stream.bursts.count, stream.bursts.longest), (1, 10));
    assert_eq!(stream.nominal_ns.map(|ns| ns / 1_000), Some(SPACING_NS / 1_000));
}

#[test]
fn windows_are_of_capture_time_and_skip_silence() {
    let config = Config {
        window_ns: Some(1_000_000),
        ..CONFIG
    };
    let mut frames = even(0..8);
    frames.push((Some(10 * 1_000_000 + 5), sv("MU01", 10)));
    let (summary, kept) = analyse_with(config, Kept::default(), &frames);
    assert_eq!(
        kept.windows,
        [
            (0, 0, 1_000_000, 3, 0),
            (0, 1_000_000, 2_000_000, 4, 0),
            (0, 10_000_000, 10_000_005, 1, 2)
        ]
    );
    assert_eq!(only(&summary).tally.histogram.count(), 8, "the total has all windows");
    assert_eq!(only(&summary).tally.max_ns, Some(10_000_005 - 7 * SPACING_NS));
}

#[test]
fn stamps_that_go_back_or_are_missing_are_told() {
    let mut frames = even(0..20);
    frames[10].0 = Some(8 * SPACING_NS);
    frames[15].0 = None;
    let (summary, kept) = analyse(&frames);
    let stream = only(&summary);
    assert_eq!((summary.stamps_back, stream.stamps_back), (1, 1));
    assert_eq!((summary.unstamped, stream.unstamped), (1, 1));
    assert_eq!(
        (stream.tally.counters.clipped, stream.tally.min_ns),
        (1, Some(-SPACING_NS))
    );
    assert_eq!(
        stream.tally.counters.received, 17,
        "two spacings beside the frame without a stamp are not known"
    );
    let kinds: Vec<EventKind> = kept.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::StampsBack, EventKind::Unstamped]);
    assert!(
        kept.events[0].text.contains("frame 11 is stamped 250 µs before"),
        "{:?}",
        kept.events[0]
    );
}
