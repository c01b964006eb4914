//! The kept samples of one series that still need an explanation: the worst come first.

use model::{Question, Spike};

/// A kept sample, and the question about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) value_ns: i64,
    pub(crate) at_ns: u64,
    /// Index among the spikes of the open window.
    pub(crate) spike: usize,
    pub(crate) question: Question,
}

/// Samples, unsorted until [`Queue::sort`].
#[derive(Debug, Default)]
pub(crate) struct Queue(Vec<Waiting>);

impl Queue {
    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.0.push(waiting);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the worst to where [`Queue::pop`] takes it; of equal values, the earliest.
    pub(crate) fn sort(&mut self) {
        self.0
            .sort_unstable_by(|a, b| a.value_ns.cmp(&b.value_ns).then(b.at_ns.cmp(&a.at_ns)));
    }

    /// Takes the worst.
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.0.pop()
    }

    /// Takes out the samples below `floor_ns`, and those beyond the `most` worst. The queue must be sorted.
    pub(crate) fn take_lesser(&mut self, floor_ns: i64, most: usize) -> Vec<Waiting> {
        let below = self.0.partition_point(|waiting| waiting.value_ns < floor_ns);
        let beyond = self.0.len().saturating_sub(most);
        self.0.drain(..below.max(beyond)).collect()
    }

    /// Splits `spikes` into those that wait, whose indices are updated, and the others.
    pub(crate) fn take_along(&mut self, spikes: Vec<Spike>) -> (Vec<Spike>, Vec<Spike>) {
        let mut places: Vec<Option<Spike>> = spikes.into_iter().map(Some).collect();
        let mut waiting = Vec::with_capacity(self.0.len());
        for one in &mut self.0 {
            if let Some(spike) = places.get_mut(one.spike).and_then(Option::take) {
                one.spike = waiting.len();
                waiting.push(spike);
            }
        }
        (waiting, places.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Queue, Waiting};
    use model::{Question, QuestionKind, SeriesId, Spike};
    use units::Monotonic;

    fn queue(values: &[i64]) -> Queue {
        let mut queue = Queue::default();
        for (spike, value_ns) in values.iter().enumerate() {
            queue.push(Waiting {
                value_ns: *value_ns,
                at_ns: spike as u64,
                spike,
                question: Question {
                    cpu: 0,
                    thread: 1,
                    from: Monotonic::from_ns(0),
                    to: Monotonic::from_ns(*value_ns),
                    kind: QuestionKind::WakeUp,
                },
            });
        }
        queue.sort();
        queue
    }

    #[test]
    fn the_worst_comes_first_and_of_equals_the_earlier() {
        let mut queue = queue(&[3, 9, 1, 9]);
        let order: Vec<usize> = std::iter::from_fn(|| queue.pop())
            .map(|waiting| waiting.spike)
            .collect();
        assert_eq!(order, [1, 3, 0, 2]);
        assert!(queue.is_empty());
    }

    #[test]
    fn who_waits_keeps_its_spike_and_the_others_go() {
        let spike = |value_ns| Spike {
            series: SeriesId(0),
            at_ns: 0,
            value_ns,
            cpu: None,
            sequence: None,
            explanation: None,
        };
        let mut queue = queue(&[3, 9, 1]);
        queue.pop();
        let (waiting, gone) = queue.take_along([3, 9, 1].map(spike).to_vec());
        assert_eq!(gone, [spike(9)]);
        while let Some(one) = queue.pop() {
            assert_eq!(waiting[one.spike].value_ns, one.value_ns);
        }
        assert_eq!(waiting.len(), 2);
    }

    #[test]
    fn what_is_not_among_the_worst_any_more_is_taken_out() {
        let lesser = |floor, most| -> Vec<i64> {
            let lesser = queue(&[5, 1, 4, 2, 3]).take_lesser(floor, most);
            lesser.into_iter().map(|waiting| waiting.value_ns).collect()
        };
        assert_eq!(lesser(3, 9), [1, 2]);
        assert_eq!(lesser(3, 2), [1, 2, 3]);
        assert!(lesser(0, 9).is_empty());
    }
}
