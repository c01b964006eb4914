//! From which value on peaks follow the generalised Pareto distribution.
//!
//! Too low, and the distribution is not yet that of the tail; too high, and few peaks are left. Thresholds are tried from the
//! lowest, each with the goodness of its fit, and the first at which a bad fit can no longer be told from chance is taken:
//! B. Bader, J. Yan and X. Zhang, "Automated threshold selection for extreme value analysis via ordered goodness-of-fit tests
//! with adjustment for false discovery rate", Annals of Applied Statistics 12 (2018).

use super::gpd::{Excesses, Gpd};
use super::sample::Sample;
use super::{BLOCKS_NEEDED, MOST_BLOCKS};
use crate::random::Random;

/// Each threshold leaves this share of the peaks over the one before.
const NEXT: f64 = 0.7;

/// Share of wrongly given up thresholds among those that are given up.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Samples drawn for each threshold: a p-value down to one in a hundred is enough to give one up.
const REPLICATES: usize = 99;

/// Any number does; a fixed one gives the same threshold each time.
const SEED: u64 = 0x7468_7265_7368;

/// How many of the largest peaks to take, of `sorted` in ascending order with more than [`BLOCKS_NEEDED`]. When no threshold
/// fits, the fewest: the fit of these then tells.
pub(super) fn peaks_to_take(sorted: &[f64]) -> usize {
    let candidates = candidates(sorted.len() - 1);
    let mut random = Random::new(SEED);
    let ps: Vec<f64> = candidates
        .iter()
        .map(|count| goodness(&excesses(sorted, *count), &mut random))
        .collect();
    let given_up = forward_stop(&ps);
    candidates[given_up.min(candidates.len() - 1)]
}

/// How far the `count` largest peaks are above the next smaller one, in ascending order. That peak is the threshold.
pub(super) fn excesses(sorted: &[f64], count: usize) -> Vec<f64> {
    let (below, above) = sorted.split_at(sorted.len() - count);
    let threshold = below[below.len() - 1];
    above.iter().map(|value| value - threshold).collect()
}

/// Numbers of peaks, from the most to the fewest.
fn candidates(most: usize) -> Vec<usize> {
    let fewest = BLOCKS_NEEDED;
    let mut counts = vec![most.min(MOST_BLOCKS).max(fewest)];
    loop {
        let next = (counts[counts.len() - 1] as f64 * NEXT) as usize;
        if next < fewest {
            return counts;
        }
        counts.push(next);
    }
}

/// How many of the first hypotheses to give up, by the ForwardStop rule (G'Sell and others, Journal of the Royal Statistical
/// Society B 78, 2016).
fn forward_stop(ps: &[f64]) -> usize {
    let mut sum = 0.0;
    let mut given_up = 0;
    for (index, p) in ps.iter().enumerate() {
        sum -= (-p).ln_1p();
        if sum / (index + 1) as f64 <= FALSE_DISCOVERIES {
            given_up = index + 1;
        }
    }
    given_up
}

/// Bootstrap p-value of the Anderson-Darling statistic with the fit by L-moments, which is quick.
fn goodness(excesses: &[f64], random: &mut Random) -> f64 {
    let distance = |sorted: &[f64], gpd: &Gpd| Excesses::of(sorted, gpd.scale).distance(&[0.0, 0.0, gpd.shape]);
    let gpd = quick_fit(excesses);
    let seen = distance(excesses, &gpd);
    let mut drawn = vec![0.0; excesses.len()];
    let worse = (0..REPLICATES)
        .filter(|_| {
            drawn.fill_with(|| gpd.draw(random));
            drawn.sort_unstable_by(f64::total_cmp);
            distance(&drawn, &quick_fit(&drawn)) >= seen
        })
        .count();
    (worse + 1) as f64 / (REPLICATES + 1) as f64
}

/// The fit by L-moments, its tail made as long as the largest excess where it ends before it (Dupuis and Tsao, Communications
/// in Statistics 27, 1998).
fn quick_fit(excesses: &[f64]) -> Gpd {
    let gpd = Gpd::from_l_moments(excesses);
    let largest = excesses[excesses.len() - 1];
    Gpd {
        shape: gpd.shape.max(-gpd.scale / largest * (1.0 - 1e-3)),
        ..gpd
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gpd;
    use super::{candidates, excesses, forward_stop, peaks_to_take};
    use crate::random::Random;

    #[test]
    fn candidates_end_at_fifty() {
        assert_eq!(candidates(50), [50]);
        assert_eq!(candidates(150), [150, 105, 73, 51]);
        assert_eq!(candidates(1_000_000)[0], 2_000);
    }

    #[test]
    fn the_threshold_is_the_next_peak() {
        assert_eq!(excesses(&[1.0, 2.0, 4.0, 7.0], 2), [2.0, 5.0]);
    }

    /// The means of `-ln(1 - p)` are 0.010, 0.015, 0.084, 0.066, 0.055: the second is the last below 0.05.
    #[test]
    fn hypotheses_are_given_up_to_the_last_that_may_be() {
        assert_eq!(forward_stop(&[0.01, 0.02, 0.2, 0.01, 0.01]), 2);
        assert_eq!(forward_stop(&[0.5, 0.5]), 0);
        assert_eq!(forward_stop(&[0.01, 0.01]), 2);
    }

    #[test]
    fn a_body_below_the_tail_is_left_out() {
        let mut random = Random::new(3);
        let tail = Gpd {
            scale: 5_000.0,
            shape: 0.1,
        };
        // A body of normal shape up to 30 us, and 300 of 1000 peaks in the tail above.
        let mut peaks: Vec<f64> = (0..700).map(|_| 30_000.0 - 6_000.0 * random.normal().abs()).collect();
        peaks.extend((0..300).map(|_| 30_000.0 + tail.draw(&mut random)));
        peaks.sort_by(f64::total_cmp);
        let taken = peaks_to_take(&peaks);
        assert!((100..=342).contains(&taken), "{taken}");
        let all: Vec<f64> = {
            let mut all: Vec<f64> = (0..1_000).map(|_| tail.draw(&mut random)).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        assert_eq!(peaks_to_take(&all), 999, "one tail is taken whole");
    }
}
