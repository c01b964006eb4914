//! Samples of an imported file for which only the largest value is known.

use super::doubt::Doubt;
use crate::limits::{Limit, Quantity, Unit};
use crate::text::plural;
use model::SeriesView;

/// The doubt about such samples. It does not concern the maximum, which the file contains.
pub(super) fn doubt(series: &SeriesView, limit: &Limit) -> Option<Doubt> {
    let bounded = series.only_bounded();
    if bounded == 0 || limit.quantity.unit() != Unit::Ns || limit.quantity == Quantity::Max {
        return None;
    }
    Some(Doubt {
        text: format!(
            "{} in no bucket of the imported file: only the largest is known",
            plural(bounded, "sample")
        ),
        explains_excess: !is_over_without_them(series, limit, bounded),
    })
}

/// True if the figure is over its limit even if those samples were small. The histogram holds them as the largest
/// sample: if they had been the smallest, each rank would move down by their number.
fn is_over_without_them(series: &SeriesView, limit: &Limit, bounded: u64) -> bool {
    // Scheduled activations are computed from samples of unknown length.
    if series.counters.missed > 0 {
        return false;
    }
    let Some(q) = limit.quantity.quantile() else {
        // The mean is stored in the file.
        return limit.quantity == Quantity::Mean;
    };
    let samples = series.histogram.count() as f64;
    let rank = (q * samples).ceil() - bounded as f64;
    rank >= 1.0
        && series
            .histogram
            .quantile(rank / samples)
            .is_some_and(|ns| ns > limit.allowed)
}

#[cfg(test)]
mod tests {
    use crate::limits::{Limit, Pattern, Profile, Quantity};
    use crate::verdict::{Judgement, Verdict};
    use model::SeriesView;
    use stats::Histogram;
    use testing::synthetic::{run, series};

    fn judged(series: SeriesView, quantity: Quantity, allowed: u64) -> (Verdict, String) {
        let limit = Limit {
            id: "wakeup".into(),
            name: "wake-up".into(),
            series: Pattern::new("wakeup/*"),
            quantity,
            allowed,
            source: "tests".into(),
            why: String::new(),
            classes: Vec::new(),
            samples: None,
            exposure_ns: None,
            needs_known_stamps: false,
            needs_load: false,
        };
        let profile = Profile {
            name: "site".into(),
            what: "tests".into(),
            limits: vec![limit],
            requirements: Vec::new(),
            decision: crate::limits::Decision::default(),
        };
        let mut run = run(vec![series]);
        run.info.command = "import".into();
        let mut judgement = Judgement::of(&run, &[profile]);
        let check = judgement.checks.remove(0);
        (check.verdict, check.why)
    }

    /// 10 000 samples, the largest 31.999 µs; `bounded` of them in no bucket, the others at 20 µs.
    fn imported(bounded: u64) -> SeriesView {
        let mut imported = series("wakeup/thread0", 10_000, 31_999, 10);
        imported.spec.settings.push(("tool".into(), "cyclictest".into()));
        imported.histogram = Histogram::new();
        imported.histogram.record_n(31_999, bounded + 1);
        imported.histogram.record_n(20_000, 9_999 - bounded);
        imported.counters.clipped = bounded;
        imported
    }

    #[test]
    fn the_maximum_of_the_file_is_judged_and_its_quantiles_are_not() {
        let lines = imported(9_999);
        assert_eq!(
            judged(lines.clone(), Quantity::Max, 50_000),
            (Verdict::Pass, String::new())
        );
        let (verdict, why) = judged(lines.clone(), Quantity::Max, 30_000);
        assert_eq!(verdict, Verdict::Fail);
        assert!(why.starts_with("at least 1 of 10 000 samples over 30.0 µs"), "{why}");
        for allowed in [50_000, 10_000] {
            let (verdict, why) = judged(lines.clone(), Quantity::P99, allowed);
            assert_eq!(verdict, Verdict::Inconclusive, "{allowed}");
            assert!(why.contains("9 999 samples in no bucket of the imported file"), "{why}");
        }
    }

    #[test]
    fn a_quantile_over_its_limit_without_the_unknown_samples_fails() {
        assert_eq!(judged(imported(50), Quantity::P50, 10_000).0, Verdict::Fail);
        assert_eq!(judged(imported(5_500), Quantity::P50, 10_000).0, Verdict::Inconclusive);
        assert_eq!(judged(imported(0), Quantity::P50, 30_000).0, Verdict::Pass);
    }
}
