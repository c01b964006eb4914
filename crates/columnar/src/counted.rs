//! Counters of a series that were counted: the others are NULL, because 0 would mean that nothing was lost.

use model::{Counter, Counters, SeriesSpec};

/// A series, and the counters that are known for it.
pub(crate) struct Counted<'a> {
    /// Name of the series.
    pub(crate) series: &'a str,
    known: Vec<Counter>,
}

impl<'a> Counted<'a> {
    /// The counters of this series; `lacks` are those that are newer than its file.
    pub(crate) fn of(spec: &'a SeriesSpec, lacks: &[Counter]) -> Self {
        let is_known = |counter: &Counter| spec.knows(*counter, lacks);
        Self {
            series: &spec.name,
            known: Counter::ALL.into_iter().filter(is_known).collect(),
        }
    }

    /// The count; `None` if it was not counted. A file can have a count that its kind does not know: it is shown.
    pub(crate) fn value(&self, counters: &Counters, counter: Counter) -> Option<u64> {
        let value = counters.get(counter);
        (value > 0 || self.known.contains(&counter)).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;
    use model::{Counter, Counters, SeriesSpec};

    #[test]
    fn a_counter_that_nobody_counted_is_null_and_not_0() {
        let spec = |threshold_ns| SeriesSpec {
            threshold_ns,
            ..SeriesSpec::named("wakeup/cpu1")
        };
        let (plain, with_threshold) = (spec(None), spec(Some(1000)));
        let (counted, limited) = (Counted::of(&plain, &[]), Counted::of(&with_threshold, &[]));
        let none = Counters::default();
        assert_eq!(counted.value(&none, Counter::Missed), Some(0));
        assert_eq!(counted.value(&none, Counter::Lost), None);
        assert_eq!(counted.value(&none, Counter::Overflow), None);
        assert_eq!(limited.value(&none, Counter::Overflow), Some(0));
        assert_eq!(
            Counted::of(&plain, &[Counter::Missed]).value(&none, Counter::Missed),
            None
        );
    }
}
