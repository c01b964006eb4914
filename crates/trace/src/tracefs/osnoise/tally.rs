//! Interruptions of one CPU: the last ones, and the totals.

use super::parse::{Interrupter, Noise, parse};
use crate::tracefs::line;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Monotonic, Ns};

/// Number of interruptions kept: some seconds at 1,000 a second, 40 ms at 100,000. Questions come within 50 ms.
const KEPT: usize = 4_096;

/// Names shown for one gap.
const SHOWN: usize = 6;

/// Possible error, in ns, of an instant that is printed to the microsecond.
const ROUNDING_NS: i64 = 1_000;

/// Interruptions of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Total {
    pub(super) count: u64,
    pub(super) sum_ns: u64,
    pub(super) longest_ns: u64,
}

impl Total {
    fn add(&mut self, net_ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(net_ns);
        self.longest_ns = self.longest_ns.max(net_ns);
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
            longest_ns: self.longest_ns.max(other.longest_ns),
        }
    }
}

/// Interruptions of one CPU.
#[derive(Debug, Default)]
pub(super) struct Tally {
    last: VecDeque<Noise>,
    totals: BTreeMap<Interrupter, Total>,
    /// Number of events that the kernel dropped.
    lost: u64,
    /// The last of them was dropped before this instant.
    lost_before: Option<Monotonic>,
    has_lost: bool,
}

impl Tally {
    /// Adds a line of the CPU's pipe; the threads `own` do not count as interruptions.
    pub(super) fn line(&mut self, text: &str, own: &BTreeSet<u32>) {
        if let Some(count) = line::lost(text) {
            self.lost += count;
            self.has_lost = true;
        }
        let Some(noise) = parse(text) else { return };
        if self.has_lost {
            self.lost_before = Some(noise.ended);
            self.has_lost = false;
        }
        // Without its own workload the tracer counts every thread, including the idle one and the interrupted one.
        if noise.kind == Interrupter::Thread && (noise.number == 0 || own.contains(&noise.number)) {
            return;
        }
        self.totals.entry(noise.kind).or_default().add(noise.net_ns);
        if self.last.len() == KEPT
            && let Some(dropped) = self.last.pop_front()
        {
            self.lost_before = self.lost_before.max(Some(dropped.ended));
        }
        self.last.push_back(noise);
    }

    pub(super) fn total(&self, kind: Interrupter) -> Total {
        self.totals.get(&kind).copied().unwrap_or_default()
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Interruptions of a thread between two instants, the longest first.
    ///
    /// An interruption that ended while the thread did not run also began in that time.
    pub(super) fn between(&self, from: Monotonic, to: Monotonic) -> String {
        let mut sums: BTreeMap<(Interrupter, &str), u64> = BTreeMap::new();
        for noise in &self.last {
            let is_within = noise.ended >= from - ROUNDING_NS && noise.ended <= to + ROUNDING_NS;
            // A longer one is the interrupted thread itself, with its number in another namespace.
            let fits = i64::try_from(noise.net_ns).is_ok_and(|net_ns| net_ns <= to - from + ROUNDING_NS);
            if is_within && fits {
                *sums.entry((noise.kind, &noise.name)).or_default() += noise.net_ns;
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, net_ns)| std::cmp::Reverse(*net_ns));
        let mut parts: Vec<String> = sums.iter().take(SHOWN).map(|(who, ns)| part(*who, *ns)).collect();
        if sums.len() > SHOWN {
            let rest: u64 = sums[SHOWN..].iter().map(|(_, net_ns)| net_ns).sum();
            parts.push(format!("{} more {}", sums.len() - SHOWN, Ns(rest)));
        }
        let unsure = match self.lost_before {
            Some(at) if from <= at => "; events of this time were lost",
            _ => "",
        };
        match parts.is_empty() {
            true => format!("osnoise: no NMI, interrupt, softirq or thread ran in this gap{unsure}"),
            false => format!(
                "osnoise: {} (net, by the kernel's own account{unsure})",
                parts.join(", ")
            ),
        }
    }
}

fn part((kind, name): (Interrupter, &str), net_ns: u64) -> String {
    let space = if name.is_empty() { "" } else { " " };
    format!("{}{space}{name} {}", kind.word(), Ns(net_ns))
}
