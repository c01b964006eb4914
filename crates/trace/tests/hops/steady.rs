//! Tests that figures read while frames come all cover the same frames.

use crate::bed::Bed;
use crate::{frame, three_points, tracer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trace::hops::{HopCounts, HopOptions};

/// Number of frames: no smpCnt comes twice.
const FRAMES: u16 = 20_000;

/// All durations are over the threshold, so that any two figures that do not cover the same frames differ.
#[test]
fn of_no_reading_are_more_durations_over_the_threshold_than_there_are() {
    let Some(bed) = Bed::build("hops read while frames come") else {
        return;
    };
    let options = HopOptions {
        threshold_ns: Some(0),
        tell_all: false,
        first_by_nic: false,
        ..three_points(&bed)
    };
    let Some(mut tracer) = tracer("hops read while frames come", options) else {
        return;
    };
    let mut sums = [HopCounts::default(); 3];
    let mut durations = [[0; 2]; 3];
    let mut take = |tracer: &mut trace::hops::HopTracer| {
        for reading in tracer.read().expect("the kernel") {
            let (counts, found) = (&reading.counts, reading.hop.count());
            assert!(counts.over <= found, "{} over of {found}", counts.over);
            assert_eq!((reading.hop.clipped, reading.total.clipped), (0, 0));
            sums[reading.point].add(counts);
            durations[reading.point][0] += found;
            durations[reading.point][1] += reading.total.count();
        }
    };
    let is_sent = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..FRAMES {
                bed.send(&frame("MU01", &[number]));
            }
            is_sent.store(true, Ordering::Release);
        });
        while !is_sent.load(Ordering::Acquire) {
            take(&mut tracer);
        }
    });
    std::thread::sleep(Duration::from_millis(20));
    tracer.stop().expect("the kernel");
    std::thread::sleep(Duration::from_millis(5));
    take(&mut tracer);
    for (point, has_total) in [(1, false), (2, true)] {
        let HopCounts { paired, over, .. } = sums[point];
        // A busy machine may lose frames, but none of the counted ones.
        let total = if has_total { paired } else { 0 };
        assert!(paired > u64::from(FRAMES / 2), "{paired} at point {point}");
        assert_eq!((durations[point], over), ([paired, total], paired), "point {point}");
    }
}
