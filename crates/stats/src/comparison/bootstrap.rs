//! Medians of resampled windows.

use crate::random::Random;
use crate::ranks::median;
use crate::resample::blocks;

/// Most windows of a run that are resampled: a week of 20 s each is 30 000, one of 1 s each 600 000.
const MOST_WINDOWS: usize = 50_000;

/// Windows a replicate visits, over all replicates of one comparison: about 50 ms.
const VISITS: usize = 24_000_000;

/// Medians of `values` in order of time, resampled `replicates` times in blocks of `length` neighbours.
///
/// A replicate is a count of how often each window was drawn, in the order of their values: the median is where the count
/// passes the middle. This takes no sorting.
pub(super) fn medians(values: &[f64], length: usize, replicates: usize, random: &mut Random) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
    let sorted: Vec<f64> = order.iter().map(|index| values[*index as usize]).collect();
    // Place of each window among the sorted values, the windows twice around.
    let mut place = vec![0u32; 2 * n];
    for (rank, index) in order.iter().enumerate() {
        place[*index as usize] = rank as u32;
        place[*index as usize + n] = rank as u32;
    }
    let mut drawn = vec![0u32; n];
    (0..replicates)
        .map(|_| {
            drawn.fill(0);
            for (start, length) in blocks(random, n, length) {
                for rank in &place[start..start + length] {
                    drawn[*rank as usize] += 1;
                }
            }
            middle(&sorted, &drawn)
        })
        .collect()
}

/// Median of the values, each as often as it was drawn.
fn middle(sorted: &[f64], drawn: &[u32]) -> f64 {
    let n = sorted.len();
    let at = |rank: usize| {
        let mut seen = 0;
        let index = drawn.iter().position(|count| {
            seen += *count as usize;
            seen > rank
        });
        sorted[index.unwrap_or(n - 1)]
    };
    let (lower, upper) = (at((n - 1) / 2), at(n / 2));
    lower + (upper - lower) / 2.0
}

/// How many replicates two runs of these many windows get.
pub(super) fn replicates(windows: usize) -> usize {
    (VISITS / windows.max(1)).clamp(200, 2_000)
}

/// The values, or of more than 50 000 as many as fit, at equal distances.
pub(super) fn thinned(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(MOST_WINDOWS).max(1);
    values.iter().step_by(step).copied().collect()
}

/// Median that leaves the values as they are.
pub(super) fn median_of(values: &[f64]) -> f64 {
    median(&mut values.to_vec())
}
