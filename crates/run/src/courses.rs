//! Slices under way of the series that one thread measures.

use model::{Counter, Kind, SeriesId, Slice, Slices};
use std::collections::BTreeMap;

/// Slices of one row of the run file: 20 s.
const FULL: usize = 200;

/// The courses of a feed, by kind: all streams of a relay have one course for each reading of their receive latency.
#[derive(Debug, Default)]
pub(crate) struct Courses(BTreeMap<&'static str, Slices>);

impl Courses {
    /// Adds a sample that occurred `n` times.
    pub(crate) fn sample(&mut self, of: (&Kind, SeriesId), at_ns: u64, value_ns: i64, n: u64, full: &mut Vec<Slices>) {
        if let Some(slice) = self.slice(of, at_ns, full) {
            slice.add(&Slice {
                samples: n,
                max_ns: value_ns,
                late: 0,
                missed: 0,
            });
        }
    }

    /// Adds `n` to a counter.
    pub(crate) fn count(
        &mut self,
        of: (&Kind, SeriesId),
        at_ns: u64,
        counter: Counter,
        n: u64,
        full: &mut Vec<Slices>,
    ) {
        if let Some(slice) = self.slice(of, at_ns, full) {
            slice.count(counter, n);
        }
    }

    /// The slice of this instant; `None` for kinds without slices. A full course goes to `full`, and the next one continues without a
    /// gap if the series does.
    fn slice(&mut self, (kind, id): (&Kind, SeriesId), at_ns: u64, full: &mut Vec<Slices>) -> Option<&mut Slice> {
        if !kind.is_sliced() {
            return None;
        }
        let open = self.0.entry(kind.name).or_insert_with(|| Slices::from(id, at_ns));
        if open.index(at_ns) >= FULL {
            open.at(FULL - 1);
            let mut next = Slices {
                start_ns: open.end_ns(),
                slices: Vec::new(),
                ..*open
            };
            if next.index(at_ns) >= FULL {
                next = Slices::from(id, at_ns);
            }
            full.push(std::mem::replace(open, next));
        }
        let index = open.index(at_ns);
        Some(open.at(index))
    }

    /// Ends all courses.
    pub(crate) fn end(&mut self, full: &mut Vec<Slices>) {
        let all = std::mem::take(&mut self.0).into_values();
        full.extend(all.filter(|slices| !slices.slices.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::{Courses, FULL};
    use model::{Counter, SLICE_NS, SeriesId, Slices, kind};

    /// The rows that these instants fill, in slices, with one sample each.
    fn rows(at: &[u64]) -> Vec<(u64, usize, u64)> {
        let (mut courses, mut full) = (Courses::default(), Vec::new());
        let task = (&kind::TASK, SeriesId(4));
        for at in at {
            courses.sample(task, at * SLICE_NS + 7, 9, 1, &mut full);
        }
        courses.end(&mut full);
        let told = |slices: &Slices| {
            let samples = slices.slices.iter().map(|slice| slice.samples).sum();
            (slices.start_ns / SLICE_NS, slices.slices.len(), samples)
        };
        full.iter().map(told).collect()
    }

    #[test]
    fn a_course_goes_on_without_a_gap_as_long_as_its_series() {
        let full = FULL as u64;
        assert_eq!(rows(&[10, 11, 10 + full]), [(10, FULL, 2), (10 + full, 1, 1)]);
        assert_eq!(rows(&[10, 10 + full + 30]), [(10, FULL, 1), (10 + full, 31, 1)]);
        assert_eq!(
            rows(&[10, 3 * full]),
            [(10, FULL, 1), (3 * full, 1, 1)],
            "a pause of 20 s is a gap"
        );
        assert_eq!(rows(&[10, 9]), [(10, 1, 2)], "a record that comes late is not lost");
        assert_eq!(rows(&[]), []);
    }

    #[test]
    fn streams_share_the_course_of_their_kind_and_stages_have_none() {
        let (mut courses, mut full) = (Courses::default(), Vec::new());
        for (of, ns) in [
            ((&kind::AGE, SeriesId(1)), 300),
            ((&kind::AGE, SeriesId(2)), 900),
            ((&kind::TASK, SeriesId(0)), 70),
            ((&kind::TASK_STAGE, SeriesId(3)), 5),
        ] {
            courses.sample(of, 5, ns, 1, &mut full);
        }
        courses.count((&kind::TASK, SeriesId(0)), 6, Counter::Late, 1, &mut full);
        courses.count((&kind::TASK, SeriesId(0)), 6, Counter::Missed, 3, &mut full);
        courses.end(&mut full);
        let told: Vec<_> = full.iter().map(|one| (one.series, one.slices[0])).collect();
        assert_eq!(told.len(), 2);
        assert_eq!((told[0].0, told[0].1.samples, told[0].1.max_ns), (SeriesId(1), 2, 900));
        assert_eq!((told[1].0, told[1].1.late, told[1].1.missed), (SeriesId(0), 1, 3));
    }
}
