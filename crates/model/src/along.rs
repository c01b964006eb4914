//! The figures of a series along one shot: the longest task, its overruns, the latest sample.

use crate::series::SeriesId;
use crate::shot::Shot;
use crate::slice::{Slice, Slices};

/// A series along a shot: the slices from the one with the begin of the fault to the end of the watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Along {
    /// Position of the shot in the run's list.
    pub shot: usize,
    /// The series; of several of one kind, the first.
    pub series: SeriesId,
    /// Its samples and counts.
    pub sum: Slice,
    /// True if the series was measured over the whole shot. Otherwise its counts are a lower bound, and 0 proves nothing.
    pub is_whole: bool,
}

/// Longest time after a shot for which its last cycle is awaited; after that, the shot stays open.
const LONGEST_HANG_NS: u64 = 10_000_000_000;

/// A shot that is looked at, with its slices so far.
struct Span {
    shot: usize,
    from_ns: u64,
    to_ns: u64,
    sum: Slice,
    /// End of the slices seen so far, without a gap since before the shot.
    reached_ns: Option<u64>,
    is_whole: bool,
}

impl Span {
    /// The time of a shot; `None` if it is not known how long it was watched.
    fn of(index: usize, shot: &Shot) -> Option<Self> {
        Some(Self {
            shot: index,
            from_ns: shot.at_ns,
            to_ns: shot.at_ns.saturating_add(shot.watched_ns?),
            sum: Slice::default(),
            reached_ns: None,
            is_whole: false,
        })
    }

    /// Takes the slice from `start_ns` to `end_ns`. After the end, slices are taken up to the first with a sample: a cycle that hangs
    /// at the end of the shot is only counted when it is over.
    fn take(&mut self, start_ns: u64, end_ns: u64, slice: &Slice) {
        if self.is_whole || end_ns <= self.from_ns {
            return;
        }
        let is_next = match self.reached_ns {
            None => start_ns <= self.from_ns,
            Some(reached_ns) => start_ns <= reached_ns,
        };
        if is_next {
            self.reached_ns = Some(end_ns);
        } else if start_ns >= self.to_ns {
            return;
        } else {
            // A gap: what follows counts, and proves nothing about the gap.
            self.reached_ns = None;
        }
        self.sum.add(slice);
        self.is_whole = self.reached_ns.is_some() && end_ns >= self.to_ns && slice.samples > 0;
    }
}

/// Looks at one series along all shots. Slices come in order of time.
pub struct Alongs {
    spans: Vec<Span>,
    /// Every span before this one has ended.
    first: usize,
}

impl Alongs {
    /// The shots of a run, in order of time.
    pub fn of(shots: &[Shot]) -> Self {
        let spans = shots
            .iter()
            .enumerate()
            .filter_map(|(index, shot)| Span::of(index, shot));
        Self {
            spans: spans.collect(),
            first: 0,
        }
    }

    /// Takes the next slices of the series.
    pub fn take(&mut self, slices: &Slices) {
        for (index, slice) in (0..).zip(&slices.slices) {
            let start_ns = slices.start_ns.saturating_add(slices.slice_ns.saturating_mul(index));
            let end_ns = start_ns.saturating_add(slices.slice_ns);
            let is_over = |span: &Span| span.is_whole || span.to_ns.saturating_add(LONGEST_HANG_NS) < start_ns;
            while self.spans.get(self.first).is_some_and(is_over) {
                self.first += 1;
            }
            let begun = self.spans.iter_mut().skip(self.first);
            begun
                .take_while(|span| span.from_ns < end_ns)
                .for_each(|span| span.take(start_ns, end_ns, slice));
        }
    }

    /// The series along each shot in which it has a slice.
    pub fn end(self, series: SeriesId) -> impl Iterator<Item = Along> {
        let met = self
            .spans
            .into_iter()
            .filter(|span| span.is_whole || span.sum != Slice::default());
        met.map(move |span| Along {
            shot: span.shot,
            series,
            sum: span.sum,
            is_whole: span.is_whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Along, Alongs};
    use crate::series::SeriesId;
    use crate::shot::{Outcome, Shot};
    use crate::slice::{SLICE_NS, Slice, Slices};

    const MS: u64 = 1_000_000;

    fn shot(at_ms: u64, watched_ms: Option<u64>) -> Shot {
        Shot {
            number: 1,
            at_ns: at_ms * MS,
            watched_ns: watched_ms.map(|ms| ms * MS),
            uncertain_ns: None,
            reset_ns: None,
            name: "overcurrent".into(),
            point_deg: None,
            cell: None,
            outcome: Outcome::Tripped,
            trip_ns: None,
        }
    }

    /// Slices of these numbers of samples from `start_ms` on, each with its own largest sample; late where there is none after them.
    fn slices(start_ms: u64, samples: &[u64]) -> Slices {
        let slice = |(index, samples): (usize, &u64)| Slice {
            samples: *samples,
            max_ns: index as i64,
            late: u64::from(*samples == 1),
            missed: 0,
        };
        Slices {
            series: SeriesId(0),
            start_ns: start_ms * MS,
            slice_ns: SLICE_NS,
            slices: samples.iter().enumerate().map(slice).collect(),
        }
    }

    fn along(shots: &[Shot], parts: &[Slices]) -> Vec<(usize, u64, i64, u64, bool)> {
        let mut alongs = Alongs::of(shots);
        parts.iter().for_each(|part| alongs.take(part));
        let told = |along: Along| {
            (
                along.shot,
                along.sum.samples,
                along.sum.max_ns,
                along.sum.late,
                along.is_whole,
            )
        };
        alongs.end(SeriesId(0)).map(told).collect()
    }

    #[test]
    fn a_shot_has_the_slices_from_its_fault_to_the_end_of_its_watch() {
        let shots = [shot(250, Some(200)), shot(1_000, Some(150)), shot(5_000, None)];
        let course = slices(0, &[100, 100, 100, 100, 1, 100, 100, 100, 100, 100, 100, 100, 100]);
        assert_eq!(along(&shots, &[course]), [(0, 201, 4, 1, true), (1, 200, 11, 0, true)]);
    }

    #[test]
    fn a_cycle_that_hangs_at_the_end_is_counted_with_the_shot() {
        let course = slices(0, &[100, 100, 100, 0, 0, 0, 1, 100]);
        assert_eq!(along(&[shot(250, Some(100))], &[course]), [(0, 101, 6, 1, true)]);
    }

    #[test]
    fn a_series_that_begins_late_ends_early_or_pauses_leaves_the_shot_open() {
        let shot = [shot(250, Some(300))];
        for parts in [
            vec![slices(300, &[100, 100, 100, 100])],
            vec![slices(0, &[100, 100, 100, 100])],
            vec![slices(0, &[100, 100, 100, 0, 0, 0])],
            vec![slices(0, &[100, 100, 100]), slices(400, &[100, 100, 100])],
        ] {
            let told = along(&shot, &parts);
            assert!(matches!(told[..], [(0, 100.., _, 0, false)]), "{parts:?}: {told:?}");
        }
        assert_eq!(
            along(&shot, &[slices(0, &[100, 100])]),
            [],
            "it was over before the shot"
        );
        let whole = [slices(0, &[100, 100, 100]), slices(300, &[100, 100, 100])];
        assert_eq!(along(&shot, &whole), [(0, 400, 2, 0, true)]);
    }

    #[test]
    fn shots_that_overlap_have_the_same_slices() {
        let shots = [shot(100, Some(300)), shot(100, Some(300))];
        let told = along(&shots, &[slices(0, &[9, 9, 9, 9, 9])]);
        assert_eq!(told, [(0, 27, 3, 0, true), (1, 27, 3, 0, true)]);
    }
}
