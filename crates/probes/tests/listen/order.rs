//! Faults in the order of a stream: losses, duplicates, wraps, new starts.

use crate::common::can_run;
use crate::paced::{Expected, Own, audio, faulty, samples};
use crate::{AVTP, TEST, config, counted, listen, session, stream_events};
use wire::ether::VlanTag;

#[test]
fn every_fault_is_counted_once_in_every_framing() {
    if !can_run("every_fault_is_counted_once_in_every_framing") {
        return;
    }
    let (numbers, count, expected) = faulty(1, 60, 900);
    assert!(expected.lost > 1_000 && expected.duplicate > 10 && expected.reordered > 10);
    let tag = Some(VlanTag::new(3, false, 2));
    let mut frames = session(1, &numbers, count, |own| own.test(None));
    frames.extend(session(2, &numbers, count, |own| own.test(tag)));
    frames.extend(session(3, &numbers, count, Own::avtp));
    frames.extend(session(4, &numbers, count, Own::sv));
    let recorded = listen(&config(), &frames);
    for name in [TEST, &format!("{TEST}-vlan2"), AVTP, "listen/sv-OWN"] {
        assert_eq!(counted(&recorded, name), expected, "{name}");
        assert_eq!(stream_events(&recorded, name), [""; 0]);
    }
    let delivered = recorded.counters("delivery/listen");
    assert_eq!(delivered.received, frames.len() as u64);
}

#[test]
fn what_is_missing_at_both_ends_is_lost() {
    if !can_run("what_is_missing_at_both_ends_is_lost") {
        return;
    }
    let numbers: Vec<u64> = (7..1_000).collect();
    let recorded = listen(&config(), &session(1, &numbers, 1_005, |own| own.test(None)));
    let expected = Expected {
        received: 993,
        lost: 7 + 5,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, TEST), expected);
}

#[test]
fn a_talker_that_starts_again_is_told_and_loses_nothing() {
    if !can_run("a_talker_that_starts_again_is_told_and_loses_nothing") {
        return;
    }
    // The first session ends without an end mark, as if it was killed, so its last losses cannot be known.
    let mut frames = session(1, &(0..500).collect::<Vec<_>>(), 500, |own| own.test(None));
    frames.truncate(300);
    frames.extend(session(2, &(0..200).collect::<Vec<_>>(), 200, |own| own.test(None)));
    // The listener joins a third session late, and two of its frames are missing.
    let third: Vec<u64> = (4_000..4_100).filter(|number| number % 50 != 20).collect();
    frames.extend(third.iter().map(|number| {
        Own {
            session: 3,
            sequence: *number,
            flags: 0,
        }
        .test(None)
    }));
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        // The first frame of the third session has no frame before it.
        received: 298 + 200 + 97,
        lost: 2,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, TEST), expected);
    let events = stream_events(&recorded, TEST);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].contains("the talker restarted"), "{events:?}");
}

#[test]
fn two_talkers_in_one_stream_do_not_flood_the_run() {
    if !can_run("two_talkers_in_one_stream_do_not_flood_the_run") {
        return;
    }
    let frame = |number: u64| Own {
        session: (number % 2) as u32,
        sequence: number,
        flags: 0,
    };
    let frames: Vec<Vec<u8>> = (0..400).map(|number| frame(number).test(None)).collect();
    let events = stream_events(&listen(&config(), &frames), TEST);
    assert_eq!(events.len(), 21, "{events:?}");
    assert!(events[20].contains("379 more times"), "{events:?}");
}

/// Other talkers have only a counter of 8 bits: checks everything that it can show, over many wraps.
#[test]
fn the_counter_of_another_avtp_talker_is_unwrapped() {
    if !can_run("the_counter_of_another_avtp_talker_is_unwrapped") {
        return;
    }
    let (numbers, _, expected) = faulty(2, 60, 200);
    let frames: Vec<Vec<u8>> = numbers
        .iter()
        .map(|number| audio((250 + number) as u8, false, &[]))
        .collect();
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        received: expected.received - 1,
        ..expected
    };
    assert_eq!(counted(&recorded, AVTP), expected);
}

#[test]
fn a_loss_of_a_whole_wrap_is_not_seen_in_the_counter_and_a_media_restart_is_no_loss() {
    let test = "a_loss_of_a_whole_wrap_is_not_seen_in_the_counter_and_a_media_restart_is_no_loss";
    if !can_run(test) {
        return;
    }
    let mut frames: Vec<Vec<u8>> = (0..=99).map(|number| audio(number, false, &[])).collect();
    // 256 frames are missing here.
    frames.extend((100..=149).map(|number| audio(number, false, &[])));
    // The talker restarted here.
    frames.extend((7..=56).map(|number| audio(number, true, &[])));
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        received: 149 + 49,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, AVTP), expected);
    assert_eq!(stream_events(&recorded, AVTP).len(), 1);
}

#[test]
fn the_smp_cnt_of_another_publisher_wraps_each_second() {
    if !can_run("the_smp_cnt_of_another_publisher_wraps_each_second") {
        return;
    }
    let (numbers, _, expected) = faulty(3, 300, 60);
    assert!(expected.received > 8_000, "over the wrap: {expected:?}");
    let one = |number: &u64| samples("MU01", ((7_900 + number) % 8_000) as u16, 1, &[]);
    // Two samples in a frame at the expected 8000 frames a second, so smpCnt runs to 15999.
    let two = |number: &u64| samples("MU02", ((15_900 + 2 * number) % 16_000) as u16, 2, &[]);
    let frames: Vec<Vec<u8>> = numbers.iter().flat_map(|number| [one(number), two(number)]).collect();
    let recorded = listen(&config(), &frames);
    for name in ["listen/sv-MU01", "listen/sv-MU02"] {
        let expected = Expected {
            received: expected.received - 1,
            ..expected
        };
        assert_eq!(counted(&recorded, name), expected, "{name}");
        assert_eq!(stream_events(&recorded, name), [""; 0]);
    }
}

#[test]
fn a_jump_of_smp_cnt_by_half_a_second_is_a_new_start() {
    if !can_run("a_jump_of_smp_cnt_by_half_a_second_is_a_new_start") {
        return;
    }
    let counts = (100..200).chain(5_000..5_100);
    let frames: Vec<Vec<u8>> = counts.map(|count| samples("MU01", count, 1, &[])).collect();
    let recorded = listen(&config(), &frames);
    assert_eq!(counted(&recorded, "listen/sv-MU01").lost, 0);
    let events = stream_events(&recorded, "listen/sv-MU01");
    assert!(events.iter().any(|text| text.contains("smpCnt jumped")), "{events:?}");
}

#[test]
fn a_frame_of_another_publisher_far_too_late_is_no_restart() {
    if !can_run("a_frame_of_another_publisher_far_too_late_is_no_restart") {
        return;
    }
    // Frame 100 comes 100 frames late, and frame 150 is repeated after the same distance.
    let counts = (0..100).chain(101..=200).chain([100]).chain(201..=250).chain([150]);
    let frames: Vec<Vec<u8>> = counts
        .chain(251..400)
        .map(|count| samples("MU01", count, 1, &[]))
        .collect();
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        // The first frame has no frame before it.
        received: 398,
        lost: 1,
        duplicate: 1,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, "listen/sv-MU01"), expected);
    let events = stream_events(&recorded, "listen/sv-MU01");
    assert_eq!(
        events,
        ["sv-MU01: 1 samples came more than 16 counts late, without a restart: the missing ones still count as lost"]
    );
}
