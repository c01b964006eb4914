//! Causes of the samples over their limits, by name.

use crate::limits::Unit;
use crate::text::count;
use crate::verdict::Check;
use model::{Cause, Explanation, RunView, SeriesView, Spike};
use units::{Ns, SignedNs};

/// Names of causes, and the number of samples that each delayed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Held {
    /// The most frequent first, the path itself last.
    pub(crate) by: Vec<Holder>,
    /// Samples over the limit that were stored individually, including unexplained ones. Others are not examined.
    pub(crate) samples: u64,
    /// Of the largest sample in a guest that its host explains, in ns, and the host's sentence.
    pub(super) on_the_host: Option<(i64, String)>,
}

/// A cause that delayed samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) cause: Cause,
    /// The thread, softirq or interrupt; otherwise the name of the cause.
    pub(crate) name: String,
    pub(crate) samples: u64,
    /// A CPU on which the delay happened.
    pub(crate) cpu: Option<u32>,
}

/// Causes of the samples over their limits in the checks' series, as far as these samples are stored individually.
pub(super) fn held(run: &RunView, checks: &[&Check]) -> Held {
    let mut held = Held::default();
    for check in checks.iter().filter(|check| check.limit.quantity.unit() == Unit::Ns) {
        let Some(series) = run.series.iter().find(|series| series.spec.name == check.series) else {
            continue;
        };
        over(series, check.limit.allowed).for_each(|spike| held.add(spike));
    }
    held.sort();
    held
}

fn over(series: &SeriesView, allowed_ns: u64) -> impl Iterator<Item = &Spike> {
    let is_over = move |spike: &&Spike| SignedNs(spike.value_ns) > Ns(allowed_ns);
    series.spikes.iter().filter(is_over)
}

impl Held {
    fn add(&mut self, spike: &Spike) {
        self.samples += 1;
        let Some(explanation) = spike.explanation.as_ref().filter(|why| why.cause != Cause::Unexplained) else {
            return;
        };
        if let Some(host) = explanation.on_the_host() {
            self.take_host(Some((spike.value_ns, host.to_owned())));
        }
        let name = name(explanation);
        match self.by.iter_mut().find(|holder| holder.name == name) {
            Some(holder) => holder.samples += 1,
            None => self.by.push(Holder {
                cause: explanation.cause,
                name,
                samples: 1,
                cpu: spike.cpu,
            }),
        }
    }

    /// Keeps the sentence of the larger sample.
    fn take_host(&mut self, other: Option<(i64, String)>) {
        let largest = [self.on_the_host.take(), other].into_iter().flatten();
        self.on_the_host = largest.max_by_key(|(value_ns, _)| *value_ns);
    }

    /// Sorts the most frequent first; the path itself comes last.
    fn sort(&mut self) {
        self.by
            .sort_by_key(|holder| (holder.cause == Cause::Path, std::cmp::Reverse(holder.samples)));
    }

    /// Number of samples without an explanation.
    pub(super) fn untold(&self) -> u64 {
        self.samples - self.by.iter().map(|holder| holder.samples).sum::<u64>()
    }

    /// True if most samples have no explanation.
    pub(super) fn is_mostly_untold(&self) -> bool {
        self.untold() * 2 > self.samples
    }

    /// Adds the causes of another limit.
    pub(super) fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.take_host(other.on_the_host.clone());
        for holder in &other.by {
            match self.by.iter_mut().find(|own| own.name == holder.name) {
                Some(own) => own.samples += holder.samples,
                None => self.by.push(holder.clone()),
            }
        }
        self.sort();
    }

    /// Text with the `most` most frequent causes, such as `hypervisor 97, softirq NET_RX 26, not explained 3`. Samples
    /// without an explanation come first if they are the majority. Empty if nothing is explained.
    pub(crate) fn text(&self, most: usize) -> String {
        if self.by.is_empty() {
            return String::new();
        }
        let mut parts: Vec<String> = self.by.iter().take(most).map(Holder::text).collect();
        let others: u64 = self.by.iter().skip(most).map(|holder| holder.samples).sum();
        let said = |n: u64, word: &str| (n > 0).then(|| format!("{word} {}", count(n)));
        parts.extend(said(others, "others"));
        let untold = said(self.untold(), "not explained");
        let at = if self.is_mostly_untold() { 0 } else { parts.len() };
        parts.splice(at..at, untold);
        parts.join(", ")
    }
}

impl Holder {
    fn text(&self) -> String {
        format!("{} {}", self.name, count(self.samples))
    }
}

/// The name of a cause: the occupant that had the CPU longest, if the cause means an occupant; otherwise the cause.
/// Threads of the same name are counted together.
fn name(explanation: &Explanation) -> String {
    let named = matches!(explanation.cause, Cause::Thread | Cause::Softirq | Cause::Interrupt);
    let first = explanation.occupants.first().filter(|_| named);
    let without_numbers = |what: &str| what.split(" (").next().unwrap_or(what).to_owned();
    first.map_or_else(
        || explanation.cause.word().to_owned(),
        |part| without_numbers(&part.what),
    )
}
