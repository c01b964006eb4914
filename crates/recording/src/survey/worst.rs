//! The largest latencies and whose they are.

/// Latencies that are listed.
pub const WORST_LISTED: usize = 20;

/// A large latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    /// The latency in ns.
    pub value_ns: i64,
    /// Index of its stream in the survey.
    pub stream: usize,
    /// Number of the sample.
    pub number: u64,
    /// When it reached the later point, in ns of that point's clock.
    pub at_ns: i64,
}

/// The largest so far, worst first; of equal ones the earlier.
#[derive(Debug, Clone, Default)]
pub(super) struct WorstList(Vec<Worst>);

impl WorstList {
    #[inline]
    pub(super) fn is_among(&self, value_ns: i64) -> bool {
        self.0.len() < WORST_LISTED || self.0.last().is_some_and(|least| value_ns > least.value_ns)
    }

    pub(super) fn add(&mut self, worst: Worst) {
        let at = self.0.partition_point(|other| other.value_ns >= worst.value_ns);
        self.0.insert(at, worst);
        self.0.truncate(WORST_LISTED);
    }

    pub(super) fn listed(&self) -> &[Worst] {
        &self.0
    }
}
