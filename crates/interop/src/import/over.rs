//! Number of samples over a threshold, as far as a file's buckets show it.

use crate::cyclictest::{Bucket, Measurement, Thread};

/// Number of the thread's samples above `threshold_ns`. `None` if the file does not show it: the threshold is inside a bucket with samples, or
/// samples in no bucket may be on either side.
pub(super) fn over(measurement: &Measurement, thread: &Thread, threshold_ns: u64) -> Option<u64> {
    let is_over = |k| is_over(measurement.bucket, k, threshold_ns);
    let mut sum = beyond(thread, measurement.least_overflow(thread), is_over)?;
    for (k, count) in &thread.buckets {
        if is_over(*k)? {
            sum = sum.saturating_add(*count);
        }
    }
    Some(sum)
}

/// The same for the samples in no bucket, which are between `least` and the largest of the thread; one of them is the largest.
fn beyond(thread: &Thread, least: u64, is_over: impl Fn(u64) -> Option<bool>) -> Option<u64> {
    let Some(max) = thread.max.filter(|_| thread.overflows() > 0) else {
        return Some(0);
    };
    match is_over(max)? {
        false => Some(0),
        true if thread.overflows() == 1 || is_over(least) == Some(true) => Some(thread.overflows()),
        true => None,
    }
}

/// True if every sample of bucket `k` is above `threshold_ns`, false if none is; `None` if the bucket may have both. A sample that was rounded up is
/// less than one bucket below it.
fn is_over(bucket: Bucket, k: u64, threshold_ns: u64) -> Option<bool> {
    if bucket.largest_ns(k) <= threshold_ns {
        return Some(false);
    }
    let above_ns = k.checked_sub(1)?.saturating_mul(bucket.ns());
    (above_ns >= threshold_ns).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::{is_over, over};
    use crate::cyclictest::{Bucket, Measurement, read};

    fn file() -> Measurement {
        // 9417 samples: 9354 in buckets up to 400 us, 63 beyond, the largest of 35,046 us.
        read(include_bytes!("../../tests/data/over24.json"), None).expect("a file of cyclictest")
    }

    #[test]
    fn a_bucket_that_the_threshold_cuts_tells_nothing() {
        let us = |k, threshold_ns| is_over(Bucket::Microsecond, k, threshold_ns);
        let around = [119, 120, 121].map(|k| us(k, 120_000));
        assert_eq!(around, [Some(false), None, Some(true)]);
        // A sample in 121 may have been 120.3 us, rounded up.
        assert_eq!([120, 121, 122].map(|k| us(k, 120_500)), [None, None, Some(true)]);
        assert_eq!(us(120, 120_999), Some(false));
        assert_eq!(us(0, 0), None);
        let ns = [119, 120, 121].map(|k| is_over(Bucket::Nanosecond, k, 120));
        assert_eq!(ns, [Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn every_count_is_that_of_the_samples_known_to_be_over() {
        let mut file = file();
        let mut thread = file.threads.remove(0);
        (thread.cycles, thread.max) = (106, Some(300));
        thread.buckets = vec![(10, 90), (50, 10), (119, 3), (300, 3)];
        let known = |thread, us: u64| over(&file, thread, us * 1_000);
        assert_eq!(
            [9, 11, 49].map(|us| known(&thread, us)),
            [Some(106), Some(16), Some(16)]
        );
        assert_eq!([10, 50, 119].map(|us| known(&thread, us)), [None, None, None]);
        assert_eq!(
            [120, 299, 301].map(|us| known(&thread, us)),
            [Some(3), Some(3), Some(0)]
        );
    }

    #[test]
    fn samples_in_no_bucket_count_where_all_are_on_one_side() {
        let mut file = file();
        let thread = file.threads.remove(0);
        let known = |us: u64| over(&file, &thread, us * 1_000);
        assert_eq!(thread.overflows(), 63);
        assert_eq!(known(399), Some(63));
        // Limits between the end of the buckets and the largest sample: one sample is certainly over, 62 are unknown.
        assert_eq!(known(1_000), None);
        assert_eq!(known(35_047), Some(0));
        let mut one = thread.clone();
        one.cycles -= 62;
        assert_eq!(over(&file, &one, 1_000_000), Some(1));
        let mut none = thread;
        none.buckets.clear();
        file.range = None;
        assert_eq!(
            (over(&file, &none, 1_000_000), over(&file, &none, 35_047_000)),
            (None, Some(0))
        );
    }
}
