//! Tests events that put durations in doubt: truncated frames, silences, second sequences, and losses before the first frame.

use crate::bed::{Bed, send_port, wait_for_carrier};
use crate::{counts, frame, read, three_points, tracer};
use std::time::Duration;
use sys::link::{set_down, set_up};
use trace::hops::SILENCE_NS;

/// Bytes before the first smpCnt of a frame of `MU01`, and bytes of smpCnt.
const UP_TO_SMP_CNT: usize = 14 + 8 + 17;
const SMP_CNT: usize = 2;

#[test]
fn frames_cut_short_are_counted_apart_and_never_timed() {
    let test = "hops of frames cut short";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let port = send_port(&bed.publisher, "ts0");
    let cut = |sv_id: &str, smp_cnt: u16, octets: usize| {
        let whole = frame(sv_id, &[smp_cnt]).encode().expect("a frame");
        port.send(&whole[..octets]).expect("to send");
    };
    let whole = frame("MU01", &[0]).encode().expect("a frame").len();
    // Of a stream without any complete frame.
    cut("MU01", 0, whole - 1);
    for smp_cnt in 0..10 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    // Each includes its svID and its smpCnt, but not all of the rest. Shorter ones are padded on their way, but are cut all the
    // same.
    let lengths: Vec<usize> = (UP_TO_SMP_CNT + SMP_CNT..whole).step_by(7).collect();
    for (octets, smp_cnt) in lengths.iter().zip(10..) {
        cut("MU01", smp_cnt, *octets);
    }
    let readings = read(&mut tracer);
    for point in 0..3 {
        let found = counts(&readings, 0, point);
        assert_eq!((found.seen, found.cut), (10, lengths.len() as u64), "point {point}");
    }
    assert_eq!(counts(&readings, 0, 2).paired, 10);
    let troubles = tracer.troubles().expect("the kernel");
    assert_eq!(
        (troubles.cut_short, troubles.malformed),
        (3, 0),
        "the first, at each point"
    );
}

#[test]
fn elements_beyond_the_one_around_them_are_malformed() {
    let test = "hops of frames with wrong lengths";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let port = send_port(&bed.publisher, "ts0");
    // No byte of this svID equals a tag.
    let whole = frame("MUab", &[1]).encode().expect("a frame");
    let last = whole.len() - 1;
    // The low byte of Length, and the lengths of savPdu, seqASDU, ASDU and svID; Length is reported last, because a shorter frame
    // shows it.
    let lengths: Vec<usize> = (17..UP_TO_SMP_CNT)
        .filter(|at| matches!(whole[at - 1], 0x60 | 0xa2 | 0x30 | 0x80) && usize::from(whole[*at]) + at <= last)
        .collect();
    assert!(lengths.len() >= 4, "{lengths:?}");
    for at in &lengths {
        let mut bent = whole.clone();
        bent[*at] = bent[*at].wrapping_add(40).min(0x7f);
        port.send(&bent).expect("to send");
    }
    let readings = read(&mut tracer);
    assert!(readings.is_empty(), "{lengths:?} of {whole:02x?}: {readings:?}");
    let troubles = tracer.troubles().expect("the kernel");
    assert!(troubles.malformed >= lengths.len() as u64, "{troubles:?}");
    assert!(tracer.streams().is_empty(), "{:?}", tracer.streams());
}

#[test]
fn silences_and_second_sequences_are_noted_at_the_first_point() {
    let test = "hops of a stream that is silent";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let progress = |tracer: &mut trace::hops::HopTracer| {
        tracer.find_streams().expect("the kernel");
        tracer.streams()[0].progress
    };
    for smp_cnt in 100..200 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let steady = progress(&mut tracer);
    assert_eq!((steady.silences, steady.turned), (0, 0));
    std::thread::sleep(Duration::from_nanos(SILENCE_NS + 50_000_000));
    // A wrap, and frames out of order.
    for smp_cnt in [200, 202, 201, 0, 1, 2] {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let silent = progress(&mut tracer);
    assert_eq!((silent.silences, silent.turned), (1, 1));
    assert!(silent.longest_silence_ns > SILENCE_NS, "{silent:?}");
    assert!(silent.last > steady.last);
    // More than the table's length apart, so that no smpCnt of one meets that of the other.
    for smp_cnt in 3..50 {
        bed.send(&frame("MU01", &[smp_cnt + 2048]));
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    assert_eq!(progress(&mut tracer).turned, 1 + 47);
}

#[test]
fn what_was_lost_before_anything_came_is_lost() {
    let test = "hops with loss from the start";
    let Some(bed) = Bed::build(test) else { return };
    bed.switch.run(|| set_down("p-dut").expect("down")).expect("to enter");
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    for smp_cnt in 0..30 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    for smp_cnt in 2048..2078 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let nowhere = read(&mut tracer);
    assert_eq!(
        counts(&nowhere, 0, 1).lost,
        0,
        "whether it was to come there is not known"
    );
    bed.switch.run(|| set_up("p-dut").expect("up")).expect("to enter");
    wait_for_carrier(&bed.switch, "p-dut");
    for smp_cnt in 0..60 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    let out = counts(&readings, 0, 1);
    assert_eq!((out.paired, out.lost), (60, 60));
    assert_eq!(counts(&readings, 0, 2).lost, 0);
}
