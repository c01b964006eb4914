//! Latency over time: smallest, middle and largest of each part of the recording.

/// Number of parts of a recording, each a pixel of a chart.
pub const BAND_PIXELS: usize = 600;

/// Buckets in an octave for the median, which is known to 1/16.
const PER_OCTAVE: usize = 16;
const BUCKETS: usize = 61 * PER_OCTAVE;

/// Figures of one part of the recording, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// Smallest latency.
    pub min_ns: i64,
    /// Median, to 1/16 of it.
    pub median_ns: i64,
    /// Largest latency.
    pub max_ns: i64,
    /// Samples.
    pub samples: u64,
}

/// The parts; the last one is still open.
#[derive(Debug, Clone)]
pub(super) struct Bands {
    start_ns: i64,
    /// Length of a part.
    part_ns: i64,
    /// End of the open part in ns.
    end_ns: i64,
    open: usize,
    counts: Vec<u32>,
    band: Option<Band>,
    closed: Vec<Option<Band>>,
}

impl Bands {
    pub(super) fn new((first_ns, last_ns): (i64, i64)) -> Self {
        let span_ns = last_ns.saturating_sub(first_ns).max(0);
        let part_ns = span_ns / BAND_PIXELS as i64 + 1;
        Self {
            start_ns: first_ns,
            part_ns,
            end_ns: first_ns.saturating_add(part_ns),
            open: 0,
            counts: vec![0; BUCKETS],
            band: None,
            closed: vec![None; BAND_PIXELS],
        }
    }

    /// Takes a sample. A sample that is older than the open part, because frames were reordered, is counted in the open part.
    #[inline]
    pub(super) fn sample(&mut self, at_ns: i64, value_ns: i64, n: u16) {
        if at_ns >= self.end_ns {
            self.open_at(at_ns);
        }
        let band = self.band.get_or_insert(Band {
            min_ns: value_ns,
            median_ns: 0,
            max_ns: value_ns,
            samples: 0,
        });
        band.min_ns = band.min_ns.min(value_ns);
        band.max_ns = band.max_ns.max(value_ns);
        band.samples += u64::from(n);
        self.counts[bucket(value_ns)] += u32::from(n);
    }

    pub(super) fn finished(&self) -> Vec<Option<Band>> {
        let mut bands = self.closed.clone();
        bands[self.open] = self.closing();
        bands
    }

    fn open_at(&mut self, at_ns: i64) {
        self.closed[self.open] = self.closing();
        self.band = None;
        self.counts.fill(0);
        let part = at_ns.saturating_sub(self.start_ns) / self.part_ns;
        self.open = usize::try_from(part).unwrap_or(0).min(BAND_PIXELS - 1);
        self.end_ns = match self.open == BAND_PIXELS - 1 {
            true => i64::MAX,
            false => self
                .start_ns
                .saturating_add((self.open as i64 + 1).saturating_mul(self.part_ns)),
        };
    }

    fn closing(&self) -> Option<Band> {
        let band = self.band?;
        let half = band.samples.div_ceil(2);
        let mut seen = 0;
        let middle = self.counts.iter().position(|n| {
            seen += u64::from(*n);
            seen >= half
        });
        let median_ns = middle.map_or(0, value_of).clamp(band.min_ns, band.max_ns);
        Some(Band { median_ns, ..band })
    }
}

#[inline]
fn bucket(value_ns: i64) -> usize {
    let value = value_ns.max(0) as u64;
    if value < PER_OCTAVE as u64 {
        return value as usize;
    }
    let shift = 59 - value.leading_zeros();
    (shift as usize + 1) * PER_OCTAVE + ((value >> shift) as usize & (PER_OCTAVE - 1))
}

/// The middle of a bucket.
fn value_of(bucket: usize) -> i64 {
    match bucket / PER_OCTAVE {
        0 => bucket as i64,
        octave => {
            let shift = octave - 1;
            let low = ((PER_OCTAVE + bucket % PER_OCTAVE) as i64) << shift;
            low + ((1_i64 << shift) >> 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BAND_PIXELS, Bands};

    #[test]
    fn each_part_has_its_own_extremes_and_middle() {
        let mut bands = Bands::new((1_000, 1_000 + 600 * 100 - 1));
        for part in 0..BAND_PIXELS as i64 {
            if part == 7 {
                continue;
            }
            for sample in 0..100 {
                bands.sample(1_000 + part * 100 + sample, part * 1_000 + 10_000 + sample, 1);
            }
        }
        let finished = bands.finished();
        assert_eq!(finished[7], None, "nothing came then");
        for (part, band) in finished.iter().enumerate().filter(|(part, _)| *part != 7) {
            let band = band.unwrap();
            let low = part as i64 * 1_000 + 10_000;
            assert_eq!((band.min_ns, band.max_ns, band.samples), (low, low + 99, 100));
            assert!(band.median_ns >= low && band.median_ns <= low + 99);
        }
    }

    #[test]
    fn samples_outside_the_span_are_in_the_nearest_part() {
        let mut bands = Bands::new((1_000_000, 2_000_000));
        bands.sample(0, 5, 1);
        bands.sample(i64::MAX, 6, 1);
        let finished = bands.finished();
        assert_eq!(finished[0].map(|band| band.samples), Some(1));
        assert_eq!(finished[BAND_PIXELS - 1].map(|band| band.samples), Some(1));
    }
}
