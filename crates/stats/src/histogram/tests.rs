use super::{Bucket, Histogram, HistogramError};
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

fn of(samples: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for ns in samples {
        histogram.record(*ns);
    }
    histogram
}

/// Typical latencies: mostly small, some large, a few beyond the range.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let sample = prop_oneof![
        8 => 0u64..200_000,
        2 => 0u64..Histogram::HIGHEST_NS,
        1 => any::<u64>(),
        1 => Just(Histogram::HIGHEST_NS),
    ];
    vec(sample, 0..300)
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    assert_eq!(
        (empty.count(), empty.min(), empty.max(), empty.mean()),
        (0, None, None, None)
    );
    assert_eq!(
        (
            empty.quantile(0.5),
            empty.scheduled(None, 0).supported_quantile(0.5),
            empty.count_above(0)
        ),
        (None, None, 0)
    );
    assert_eq!((empty.buckets().count(), empty.log_buckets(10).len()), (0, 0));
    assert_eq!(empty.clone().with_extremes(3, 4).max(), None);
    assert_eq!(Histogram::from_bytes(&empty.to_bytes()), Ok(empty));
}

#[test]
fn the_ends_of_the_range() {
    let mut histogram = Histogram::new();
    assert!(histogram.record(0));
    assert_eq!((histogram.min(), histogram.quantile(0.0)), (Some(1), Some(1)));
    assert!(histogram.record(60_000_000_000));
    assert_eq!(
        (histogram.max(), histogram.quantile(1.0)),
        (Some(60_000_000_000), Some(60_000_000_000))
    );
    assert!(!histogram.record(60_000_000_001));
    assert!(!histogram.record(u64::MAX));
    assert_eq!((histogram.count(), histogram.max()), (4, Some(60_000_000_000)));
    assert_eq!(histogram.count_above(1), 3);
    histogram.reset();
    assert_eq!(histogram, Histogram::new());
    assert_eq!((histogram.min(), histogram.max()), (None, None));
}

#[test]
fn three_digits_are_kept_over_the_whole_range() {
    for value in (0..36).flat_map(|bit| [1u64 << bit, (1 << bit) + 1, (3 << bit) / 2]) {
        let bucket = of(&[value]).buckets().next().expect("one sample");
        assert!(bucket.low_ns <= value && value <= bucket.high_ns, "{value}");
        assert!((bucket.high_ns - bucket.low_ns) * 1_000 < value, "{value}: {bucket:?}");
    }
}

#[test]
fn quantiles_are_ranks_and_never_above_the_maximum() {
    let hundred: Vec<u64> = (1..=100).collect();
    let histogram = of(&hundred);
    for (q, value) in [
        (0.0, 1),
        (0.005, 1),
        (0.01, 1),
        (0.07, 7),
        (0.5, 50),
        (0.501, 51),
        (0.99, 99),
        (0.991, 100),
        (1.0, 100),
    ] {
        assert_eq!(histogram.quantile(q), Some(value), "{q}");
    }
    assert_eq!(
        (histogram.quantile(-1.0), histogram.quantile(2.0)),
        (Some(1), Some(100))
    );
    assert_eq!(of(&[119_950]).quantile(0.5), Some(119_950));
    assert_eq!(of(&[5, 119_950]).quantiles([0.5, 1.0]), [Some(5), Some(119_950)]);
}

#[test]
fn whole_ranks_are_exact_for_thousands_of_millions() {
    let mut histogram = Histogram::new();
    let n = 6_050_000_000;
    histogram.record_n(1_000, n - n / 100_000);
    histogram.record_n(2_000, n / 100_000);
    assert_eq!(histogram.quantile(0.99999), Some(1_000));
    assert_eq!(histogram.quantile(0.999_991), Some(2_000));
    assert_eq!(histogram.scheduled(None, 0).supported_quantile(0.999_991), Some(2_000));
    assert_eq!(histogram.scheduled(None, 0).supported_quantile(0.999_999_999_9), None);
}

#[test]
fn a_quantile_needs_ten_samples_beyond_it() {
    for (q, n) in [
        (0.5, 20),
        (0.99, 1_000),
        (0.999, 10_000),
        (0.9999, 100_000),
        (0.99999, 1_000_000),
        (0.01, 1_000),
    ] {
        let mut histogram = Histogram::new();
        histogram.record_n(10, n - 1);
        assert_eq!(
            histogram.scheduled(None, 0).supported_quantile(q),
            None,
            "{q} of {}",
            n - 1
        );
        histogram.record(10);
        assert_eq!(
            histogram.scheduled(None, 0).supported_quantile(q),
            Some(10),
            "{q} of {n}"
        );
    }
}

#[test]
fn extremes_come_back_only_where_they_fit() {
    let written = of(&[119_950, 240_010]);
    let read = Histogram::from_bytes(&written.to_bytes()).expect("own bytes");
    assert_eq!((read.min(), read.max()), (Some(119_936), Some(240_127)));
    let turned = read.clone().with_extremes(240_010, 119_950);
    assert_eq!((turned.min(), turned.max()), (read.min(), read.max()));
    assert_eq!(turned.mean(), read.mean());
    let restored = read.clone().with_extremes(119_950, 240_010);
    assert_eq!((restored.min(), restored.max()), (Some(119_950), Some(240_010)));
    let foreign = read.clone().with_extremes(5, 900_000);
    assert_eq!((foreign.min(), foreign.max()), (read.min(), read.max()));
    let clipped = of(&[0, u64::MAX]);
    let read = Histogram::from_bytes(&clipped.to_bytes())
        .expect("own bytes")
        .with_extremes(0, u64::MAX);
    assert_eq!((read.min(), read.max()), (Some(1), Some(Histogram::HIGHEST_NS)));
}

#[test]
fn log_bins_have_no_gap_and_the_right_edges() {
    let bins = of(&[15, 95, 3_000]).log_buckets(1);
    let expected = [(10, 99, 2), (100, 999, 0), (1_000, 9_999, 1)];
    let expected = expected.map(|(low_ns, high_ns, count)| Bucket { low_ns, high_ns, count });
    assert_eq!(bins, expected);
    assert_eq!(
        of(&[0, u64::MAX]).log_buckets(0).len(),
        11,
        "1 ns to 60 s is eleven decades, the last begun"
    );
}

#[test]
fn other_bytes_are_refused() {
    let refused = |bytes: &[u8]| Histogram::from_bytes(bytes).expect_err("not one of ours");
    assert_eq!(refused(b""), HistogramError::NotV2);
    assert_eq!(refused(&[0; 64]), HistogramError::NotV2);
    assert_eq!(refused(&of(&[1_000]).to_compressed_bytes()), HistogramError::NotV2);
    let mut other = Vec::new();
    let bounds = Hdr::<u64>::new_with_bounds(1, 1_000_000, 3).expect("bounds");
    V2Serializer::new().serialize(&bounds, &mut other).expect("into memory");
    assert_eq!(refused(&other), HistogramError::OtherBounds);
    let whole = of(&[1_000, 2_000_000]).to_bytes();
    for length in 0..whole.len() {
        refused(&whole[..length]);
    }
}

/// The header of a histogram with these bounds, followed by `counts`.
fn encoded(counts: &[u8]) -> Vec<u8> {
    let mut bytes = Histogram::new().to_bytes();
    bytes.truncate(super::bytes::HEADER_BYTES);
    bytes[4..8].copy_from_slice(&u32::try_from(counts.len()).expect("short").to_be_bytes());
    bytes.extend_from_slice(counts);
    bytes
}

#[test]
fn damaged_counts_are_refused_without_harm() {
    let lowest_number = [0xff; 9];
    let many_zeros = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let most_samples = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let mut beyond_the_last = many_zeros.to_vec();
    beyond_the_last.push(2);
    for counts in [&lowest_number[..], &most_samples[..], &beyond_the_last[..], &[0x80][..]] {
        let error = Histogram::from_bytes(&encoded(counts)).expect_err("damaged");
        assert!(matches!(error, HistogramError::Damaged(_)), "{counts:?}: {error}");
    }
    let mut long = Histogram::new().to_bytes();
    long[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(Histogram::from_bytes(&long), Err(HistogramError::Damaged(_))));
}

/// A realistic histogram stays small; the run file's budget relies on that.
#[test]
fn a_million_samples_take_a_few_kilobytes() {
    let mut histogram = Histogram::new();
    let mut state = 1u64;
    for _ in 0..1_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        histogram.record(3_000 + (-uniform.ln() * 2_000.0) as u64);
    }
    let bytes = histogram.to_bytes().len();
    assert!((1_000..12_000).contains(&bytes), "{bytes} bytes");
}

/// The memory of a series stays small over days, although each window has some samples in other places.
#[test]
fn memory_is_that_of_the_values_of_a_window() {
    let mut histogram = Histogram::new();
    assert_eq!(histogram.heap_bytes(), 0);
    let mut most = 0;
    for window in 0u64..1_000 {
        histogram.reset();
        for sample in 0..2_000 {
            histogram.record(20_000 + sample * 40);
        }
        // The worst sample of each window, anywhere up to 20 ms.
        histogram.record(1_000 + window * 20_011);
        most = most.max(histogram.heap_bytes());
    }
    assert!((10_000..30_000).contains(&most), "{most}");
    let mut all = Histogram::new();
    for sample in 0..1_000_000 {
        all.record(sample * 61_000);
    }
    assert!(all.heap_bytes() < 230_000, "{}", all.heap_bytes());
}

proptest! {
    #[test]
    fn quantiles_hold_what_they_promise(samples in samples(), q in 0.0f64..=1.0, other in 0.0f64..=1.0) {
        let histogram = of(&samples);
        let Some(value) = histogram.quantile(q) else {
            prop_assert!(samples.is_empty());
            return Ok(());
        };
        let at_most = samples.iter().filter(|ns| (**ns).clamp(1, Histogram::HIGHEST_NS) <= value).count();
        prop_assert!(at_most as f64 >= q * samples.len() as f64 * (1.0 - 1e-12));
        let mut sorted: Vec<u64> = samples.iter().map(|ns| (*ns).clamp(1, Histogram::HIGHEST_NS)).collect();
        sorted.sort_unstable();
        let exact = sorted[((q * samples.len() as f64).ceil() as usize).clamp(1, samples.len()) - 1];
        prop_assert!(value as f64 <= exact as f64 * 1.001, "{} for {}", value, exact);
        prop_assert!(value <= *sorted.last().expect("not empty"));
        let (low, high) = (q.min(other), q.max(other));
        prop_assert!(histogram.quantile(low) <= histogram.quantile(high));
        prop_assert_eq!(histogram.quantiles([low, high]), [histogram.quantile(low), histogram.quantile(high)]);
    }

    #[test]
    fn figures_are_those_of_the_samples(samples in samples()) {
        let histogram = of(&samples);
        let kept: Vec<u64> = samples.iter().map(|ns| (*ns).clamp(1, Histogram::HIGHEST_NS)).collect();
        prop_assert_eq!(histogram.count(), samples.len() as u64);
        prop_assert_eq!((histogram.min(), histogram.max()), (kept.iter().min().copied(), kept.iter().max().copied()));
        if let Some(mean) = histogram.mean() {
            let exact = kept.iter().map(|ns| *ns as f64).sum::<f64>() / kept.len() as f64;
            prop_assert!((mean - exact).abs() <= exact * 0.001, "{} for {}", mean, exact);
        }
    }

    #[test]
    fn merging_is_recording_all(one in samples(), two in samples()) {
        let mut merged = of(&one);
        merged.merge(&of(&two));
        let all = of(&[one, two].concat());
        prop_assert_eq!((merged.min(), merged.max()), (all.min(), all.max()));
        prop_assert_eq!(merged, all);
    }

    #[test]
    fn bytes_read_back_as_the_same_buckets(samples in samples()) {
        let histogram = of(&samples);
        let read = Histogram::from_bytes(&histogram.to_bytes()).expect("own bytes");
        prop_assert_eq!(&read, &histogram);
        prop_assert!(read.buckets().eq(histogram.buckets()));
        let restored = read.with_extremes(histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
        prop_assert_eq!((restored.min(), restored.max()), (histogram.min(), histogram.max()));
    }

    #[test]
    fn the_buckets_and_octets_are_those_of_hdr_histogram(samples in samples()) {
        let mut hdr = Hdr::<u64>::new_with_bounds(Histogram::LOWEST_NS, Histogram::HIGHEST_NS, 3).expect("bounds");
        for ns in &samples {
            hdr.record((*ns).clamp(1, Histogram::HIGHEST_NS)).expect("within bounds");
        }
        let histogram = of(&samples);
        for bucket in histogram.buckets() {
            let (low, high) = (hdr.lowest_equivalent(bucket.low_ns), hdr.highest_equivalent(bucket.low_ns));
            prop_assert_eq!((bucket.low_ns, bucket.high_ns, bucket.count), (low, high, hdr.count_at(low)));
        }
        let mut octets = Vec::new();
        V2Serializer::new().serialize(&hdr, &mut octets).expect("into memory");
        prop_assert_eq!(histogram.to_bytes(), octets);
    }

    /// The bytes read by another HdrHistogram library.
    #[test]
    fn both_encodings_are_hdr_histogram_v2(samples in samples()) {
        let histogram = of(&samples);
        for bytes in [histogram.to_bytes(), histogram.to_compressed_bytes()] {
            let read: Hdr<u64> = Deserializer::new().deserialize(&mut &bytes[..]).expect("V2");
            prop_assert_eq!(read.len(), histogram.count());
            prop_assert!(histogram.buckets().all(|bucket| read.count_at(bucket.low_ns) == bucket.count));
        }
    }

    #[test]
    fn count_above_counts_whole_buckets(samples in samples(), ns in prop_oneof![0u64..200_000, any::<u64>()]) {
        let histogram = of(&samples);
        let above = histogram.count_above(ns);
        let whole: u64 = histogram.buckets().filter(|bucket| bucket.low_ns > ns).map(|bucket| bucket.count).sum();
        prop_assert_eq!(above, whole);
        let exact = samples.iter().filter(|sample| (**sample).clamp(1, Histogram::HIGHEST_NS) > ns).count() as u64;
        prop_assert!(above <= exact);
        let in_its_bucket: u64 = histogram.buckets().filter(|b| b.low_ns <= ns && ns <= b.high_ns).map(|b| b.count).sum();
        prop_assert!(exact <= above + in_its_bucket);
        let at_most = histogram.count_above_at_most(ns);
        prop_assert!(exact <= at_most && at_most <= above + in_its_bucket);
        prop_assert!(exact > 0 || at_most == 0, "the largest sample is known");
    }

    #[test]
    fn buckets_hold_every_sample_once(samples in samples(), per_decade in 1u32..60) {
        let histogram = of(&samples);
        let buckets: Vec<Bucket> = histogram.buckets().collect();
        prop_assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), histogram.count());
        prop_assert!(buckets.windows(2).all(|pair| pair[0].high_ns < pair[1].low_ns));
        let bins = histogram.log_buckets(per_decade);
        prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), histogram.count());
        prop_assert!(bins.windows(2).all(|pair| pair[0].high_ns + 1 == pair[1].low_ns));
        prop_assert!(bins.first().is_none_or(|bin| bin.count > 0) && bins.last().is_none_or(|bin| bin.count > 0));
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = Histogram::from_bytes(&bytes);
        let _ = Histogram::from_bytes(&encoded(&bytes));
    }

    #[test]
    fn no_damage_panics(samples in samples(), at in any::<proptest::sample::Index>(), flip in 1u8..) {
        let mut bytes = of(&samples).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(read) = Histogram::from_bytes(&bytes) {
            let _ = (read.quantile(0.5), read.mean(), read.log_buckets(20), read.to_bytes());
        }
    }
}

#[test]
fn a_period_below_a_nanosecond_is_none() {
    let mut histogram = Histogram::new();
    histogram.record(3_600_000_000_000);
    for period_ns in [1e-300, 1e-9, 0.5] {
        assert_eq!(histogram.scheduled(Some(period_ns), 7).unplaced(), 7, "{period_ns}");
    }
    assert_eq!(histogram.scheduled(Some(1.0), 7).unplaced(), 0);
}
