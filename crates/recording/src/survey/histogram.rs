//! A histogram of any range of values with a bounded error, which is small if the values are close together.

use model::Figures;

/// Buckets in an octave: a bucket is at most 0.2 % wide.
const PER_OCTAVE: usize = 512;

const OCTAVE_BITS: u32 = PER_OCTAVE.trailing_zeros();

/// Number of octaves of a 64-bit value, with those below [`PER_OCTAVE`] as one.
const OCTAVES: usize = 64 - OCTAVE_BITS as usize + 1;

/// Number of samples that must lie beyond a quantile for it to be meaningful.
const BEYOND: f64 = 10.0;

/// Values in ns, counted in buckets that are 0.2 % wide. Values below 0 are counted as 0, and also separately.
#[derive(Debug, Clone)]
pub struct LogHistogram {
    octaves: Vec<Option<Box<[u64; PER_OCTAVE]>>>,
    count: u64,
    negative: u64,
    sum: i128,
    min: i64,
    max: i64,
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self {
            octaves: vec![None; OCTAVES],
            count: 0,
            negative: 0,
            sum: 0,
            min: i64::MAX,
            max: i64::MIN,
        }
    }
}

impl LogHistogram {
    /// Counts a value `n` times.
    #[inline]
    pub fn record_n(&mut self, value_ns: i64, n: u64) {
        self.count += n;
        self.negative += if value_ns < 0 { n } else { 0 };
        self.sum += i128::from(value_ns) * i128::from(n);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
        let (octave, place) = place(u64::try_from(value_ns).unwrap_or(0));
        let octave = self.octaves[octave].get_or_insert_with(|| Box::new([0; PER_OCTAVE]));
        octave[place] += n;
    }

    /// Adds all values of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.negative += other.negative;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (mine, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            if let Some(theirs) = theirs {
                let mine = mine.get_or_insert_with(|| Box::new([0; PER_OCTAVE]));
                mine.iter_mut().zip(theirs.iter()).for_each(|(mine, n)| *mine += n);
            }
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Buckets with values, smallest first: lowest and highest value of the bucket, and the number of values in it.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let octaves = self.octaves.iter().enumerate();
        octaves
            .filter_map(|(octave, counts)| counts.as_ref().map(|counts| (octave, counts)))
            .flat_map(|(octave, counts)| {
                let filled = counts.iter().enumerate().filter(|(_, n)| **n > 0);
                filled.map(move |(place, n)| {
                    let (low, high) = edges(octave, place);
                    (low, high, *n)
                })
            })
    }

    /// The value that at least the share `q` of the values do not exceed. `None` if fewer than ten lie beyond it.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count as f64 * (1.0 - q) < BEYOND - 1e-6 {
            return None;
        }
        let rank = (self.count as f64 * q).ceil().max(1.0) as u64;
        let mut seen = 0;
        let reached = |(_, high, n): (u64, u64, u64)| {
            seen += n;
            (seen >= rank).then_some(high)
        };
        let highest = u64::try_from(self.max).unwrap_or(0);
        self.buckets().find_map(reached).map(|high| high.min(highest))
    }

    /// Number of values below 0.
    pub fn negative(&self) -> u64 {
        self.negative
    }

    /// Its figures: smallest, largest and mean exact, a quantile the upper edge of its bucket.
    pub fn figures(&self) -> Figures {
        let any = self.count > 0;
        Figures {
            min: any.then_some(self.min),
            mean: any.then(|| self.sum as f64 / self.count as f64),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            p9999: self.quantile(0.9999),
            p99999: self.quantile(0.99999),
            max: any.then_some(self.max),
        }
    }
}

/// Octave and place in it of a value.
#[inline]
fn place(value: u64) -> (usize, usize) {
    let highest = 63 - (value | 1).leading_zeros();
    let octave = highest.saturating_sub(OCTAVE_BITS - 1);
    let shift = octave.saturating_sub(1);
    (octave as usize, (value >> shift) as usize & (PER_OCTAVE - 1))
}

/// Lowest and highest value of a bucket.
fn edges(octave: usize, place: usize) -> (u64, u64) {
    match octave {
        0 => (place as u64, place as u64),
        _ => {
            let shift = octave - 1;
            let low = ((PER_OCTAVE + place) as u64) << shift;
            (low, low + ((1_u64 << shift) - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogHistogram, edges, place};
    use proptest::prelude::{any, proptest};

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket_which_is_narrow(value in any::<u64>(), shift in 0_u32..64) {
            let value = value >> shift;
            let (octave, at) = place(value);
            let (low, high) = edges(octave, at);
            assert!((low..=high).contains(&value), "{value} in {low}..={high}");
            assert!((high - low) as f64 <= low as f64 / 512.0, "{low}..={high}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut histogram = LogHistogram::default();
        for value in 1..=100_000_i64 {
            histogram.record_n(value * 10, 1);
        }
        let figures = histogram.figures();
        assert_eq!(
            (figures.min, figures.max, histogram.count()),
            (Some(10), Some(1_000_000), 100_000)
        );
        let p99 = figures.p99.unwrap() as f64;
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(figures.mean, Some(500_005.0));
        assert!(figures.p9999.is_some(), "ten lie beyond");
        assert_eq!(figures.p99999, None, "one lies beyond");
    }

    #[test]
    fn what_is_below_zero_is_counted_apart() {
        let mut histogram = LogHistogram::default();
        histogram.record_n(-5, 2);
        histogram.record_n(7, 1);
        let figures = histogram.figures();
        assert_eq!((histogram.negative(), histogram.count(), figures.min), (2, 3, Some(-5)));
    }
}
