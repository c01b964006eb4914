//! How evenly the frames of a stream follow each other: their interval, the excess of the longest gap over it, and the
//! buffer that a listener needs.

use crate::text::{count, plural};
use model::SeriesView;
use model::kind::{self, Samples};
use units::Ns;

/// Fewest gaps that show the interval of a stream.
const FEWEST: u64 = 8;

/// The beginning of the labels of AVB streams, and of test frames sent in their place.
const AVB: [&str; 2] = ["avtp", "test"];

/// The beginning of the names of a search's steps for a spin-ahead: tries, not a stream.
pub(crate) const SEARCH: &str = "talk/spin-ahead=";

/// The interval of a stream and its longest gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pacing {
    /// Time between two frames, in ns: as it was given, else the median of the gaps; their mean where the stamps are too coarse
    /// to tell one gap from another.
    pub interval_ns: u64,
    /// The longest gap, in ns.
    pub longest_ns: u64,
}

impl Pacing {
    /// Computes the pacing of a series of gaps between frames.
    ///
    /// # Errors
    /// Reason why the stream has no interval.
    pub fn of(series: &SeriesView) -> Result<Self, String> {
        if series.samples() != Some(Samples::Spacing) {
            return Err("its samples are not gaps between the frames of a stream".to_owned());
        }
        let longest_ns = series
            .max_ns
            .ok_or_else(|| "no gap between two frames was measured".to_owned())?;
        Ok(Self {
            interval_ns: match series.interval_ns() {
                Some(given) => given,
                None => learned(series)?,
            },
            longest_ns: u64::try_from(longest_ns).unwrap_or(0),
        })
    }

    /// Difference between the longest gap and the interval, in ns.
    pub fn excess_ns(&self) -> u64 {
        self.longest_ns.saturating_sub(self.interval_ns)
    }
}

/// The median of the gaps, rounded down as stored in the histogram, if half of the gaps differ from it by at most half
/// of it.
fn learned(series: &SeriesView) -> Result<u64, String> {
    let gaps = series.histogram.count();
    if gaps < FEWEST {
        let gaps = plural(gaps, "gap");
        return Err(format!(
            "{gaps}: at least {FEWEST} are needed to show the interval of the stream"
        ));
    }
    let [low, middle, high] = quartiles(series);
    // Such coarse stamps show the number of frames in a time, but not whether they were evenly spaced.
    if 2 * series.stamp_step_ns() > middle {
        return mean(series);
    }
    // A gap of 0 is stored as 1 ns.
    if middle <= 1 || low < middle / 2 || high > middle + middle / 2 {
        let [low, high] = [low, high].map(Ns);
        return Err(format!(
            "a quarter of its gaps are {low} or less, a quarter {high} or more: they differ too much to show the interval of the stream"
        ));
    }
    Ok(middle)
}

fn mean(series: &SeriesView) -> Result<u64, String> {
    let mean = series.mean_ns().filter(|mean| *mean >= 1.0);
    mean.map(|mean| mean as u64)
        .ok_or_else(|| "all its frames have one stamp: they show no interval".to_owned())
}

/// Lower edges of the buckets that contain the quartiles.
fn quartiles(series: &SeriesView) -> [u64; 3] {
    let gaps = series.histogram.count();
    [1, 2, 3].map(|quarter| {
        let rank = (gaps * quarter).div_ceil(4);
        let mut seen = 0u64;
        let mut holds = series.histogram.buckets().skip_while(|bucket| {
            seen = seen.saturating_add(bucket.count);
            seen < rank
        });
        // If all gaps are equal, it is their exact value.
        let least_ns = series.min_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
        holds
            .next()
            .map_or(0, |bucket| bucket.low_ns.max(least_ns.min(bucket.high_ns)))
    })
}

/// The buffer that a listener needs to never run empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Largest lateness of a frame on arrival or departure: the minimum time to hold frames back, in ns.
    pub time_ns: u64,
    /// The same time in frames of the stream, rounded up.
    pub frames: u64,
    /// The interval of the stream, in ns.
    pub interval_ns: u64,
    /// The talker's largest delta, or the longest gap, in ns.
    pub worst_ns: u64,
    /// Resolution of a capture's time stamps, in ns; otherwise 0.
    pub step_ns: u64,
    /// True if it is computed from the talker's lateness, false if from the gaps at the listener or in a capture.
    pub is_of_talker: bool,
}

impl Buffer {
    /// The buffer for an AVB stream, or for test frames in its place: `talk/*`, `listen/*` and `spacing/*`. `None` for
    /// others, if the interval or the worst sample is not known, or if the stamps are too coarse to distinguish gaps.
    pub fn of(series: &SeriesView) -> Option<Self> {
        if !is_avb(series) {
            return None;
        }
        let is_of_talker = series.is(&kind::TALK);
        let worst_ns = u64::try_from(series.max_ns?).unwrap_or(0);
        let (time_ns, interval_ns) = if is_of_talker {
            (worst_ns, series.interval_ns()?)
        } else {
            let pacing = Pacing::of(series).ok()?;
            (pacing.excess_ns(), pacing.interval_ns)
        };
        let step_ns = series.stamp_step_ns();
        (2 * step_ns <= interval_ns).then(|| Self {
            time_ns,
            frames: time_ns.div_ceil(interval_ns.max(1)),
            interval_ns,
            worst_ns,
            step_ns,
            is_of_talker,
        })
    }

    /// Text such as `at least 545 µs, 5 frames of 125 µs (the longest gap is 670 µs)`.
    pub fn text(&self) -> String {
        let frames = match self.frames {
            1 => "1 frame".to_owned(),
            n => format!("{} frames", count(n)),
        };
        let why = match self.is_of_talker {
            true => format!("the talker was {} late at worst", Ns(self.worst_ns)),
            false => format!("the longest gap is {}", Ns(self.worst_ns)),
        };
        let known = match self.step_ns {
            0 | 1 => String::new(),
            step => format!(", known to {}", Ns(step)),
        };
        format!(
            "at least {}, {frames} of {} ({why}{known})",
            Ns(self.time_ns),
            Ns(self.interval_ns)
        )
    }
}

/// True for an AVB stream, or test frames in its place: decided by the label or, for a talker, by the frames.
fn is_avb(series: &SeriesView) -> bool {
    if series.is(&kind::TALK) {
        if series.spec.name.starts_with(SEARCH) {
            return false;
        }
        let frames = series.setting("frames");
        return frames.is_none_or(|frames| !frames.starts_with("sampled values"));
    }
    let begins = |part: &str, word: &str| {
        part.strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut parts = series.spec.name.split('/').skip(1);
    parts.any(|part| AVB.iter().any(|word| begins(part, word)))
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Pacing};
    use model::SeriesView;
    use stats::Histogram;
    use testing::synthetic::series;

    /// A series of gaps without a given interval.
    fn gaps(name: &str, gaps: &[u64]) -> SeriesView {
        let mut view = series(name, 1, 1, 1);
        view.spec.interval_ns = None;
        view.histogram = Histogram::new();
        for gap in gaps {
            view.histogram.record(*gap);
        }
        view.counters.received = gaps.len() as u64;
        view.counters.expected = gaps.len() as u64;
        view.max_ns = gaps.iter().max().map(|ns| *ns as i64);
        view.min_ns = gaps.iter().min().map(|ns| *ns as i64);
        view
    }

    #[test]
    fn the_interval_is_the_median_and_the_excess_what_the_longest_gap_has_beyond_it() {
        let mut of = vec![125_000; 100];
        of[50] = 670_000;
        let view = gaps("spacing/avtp-01", &of);
        let pacing = Pacing::of(&view).unwrap();
        assert!((124_800..=125_000).contains(&pacing.interval_ns), "{pacing:?}");
        assert!((545_000..545_200).contains(&pacing.excess_ns()), "{pacing:?}");
        let buffer = Buffer::of(&view).unwrap();
        assert_eq!(buffer.frames, 5);
        assert_eq!(
            buffer.text(),
            "at least 545 µs, 5 frames of 125 µs (the longest gap is 670 µs)"
        );
    }

    #[test]
    fn of_coarse_stamps_the_mean_is_the_interval() {
        let mut coarse: Vec<u64> = (0..800).map(|n| if n % 8 == 7 { 1_000_000 } else { 0 }).collect();
        coarse[0] = 100_000_000;
        let mut view = gaps("spacing/avtp-01", &coarse);
        view.sum_ns = coarse.iter().map(|ns| i128::from(*ns)).sum();
        assert!(Pacing::of(&view).is_err());
        view.spec
            .settings
            .push((model::setting::STAMP_STEP_NS.into(), "1000000".into()));
        assert_eq!(Pacing::of(&view).unwrap().interval_ns, 250_000, "200 ms for 800 frames");
        assert_eq!(Buffer::of(&view), None, "no gap can be told from another");
    }

    #[test]
    fn frames_that_come_in_no_interval_have_none() {
        let uneven: Vec<u64> = (0..100).map(|n| if n % 2 == 0 { 5_000 } else { 245_000 }).collect();
        let why = Pacing::of(&gaps("spacing/avtp-01", &uneven)).unwrap_err();
        assert!(why.contains("too much to show the interval"), "{why}");
        let why = Pacing::of(&gaps("spacing/avtp-01", &[125_000; 7])).unwrap_err();
        assert!(why.starts_with("7 gaps: at least 8"), "{why}");
        let why = Pacing::of(&gaps("wakeup/cpu1", &[125_000; 50])).unwrap_err();
        assert!(why.contains("not gaps"), "{why}");
    }

    #[test]
    fn the_buffer_for_a_talker_is_how_late_it_was_and_other_streams_need_none_of_avb() {
        let mut talker = gaps("talk/avtp", &[76, 35_454]);
        talker.spec.interval_ns = Some(125_000.0);
        assert_eq!(
            Buffer::of(&talker).unwrap().text(),
            "at least 35.5 µs, 1 frame of 125 µs (the talker was 35.5 µs late at worst)"
        );
        let mut capture = gaps("spacing/avtp-01", &[125_000; 50]);
        let step = (model::setting::STAMP_STEP_NS.into(), "1000".into());
        capture.spec.settings.push(step);
        let text = Buffer::of(&capture).unwrap().text();
        assert!(
            text.ends_with("(the longest gap is 125 µs, known to 1.00 µs)"),
            "{text}"
        );
        assert_eq!(Buffer::of(&gaps("spacing/MU01", &[250_000; 50])), None);
        assert_eq!(Buffer::of(&gaps("spacing/avtp-01", &[])), None);
    }
}
