//! The worst sample at the time of a change.

use super::whereabouts::{is_ambiguous, is_felt_in, kinds_of};
use crate::Report;
use crate::stall::limit_ns;
use model::{Change, SeriesView, Spike, setting};
use units::{CpuList, Ns, SignedNs};

/// A change may be the cause of a sample that was due up to this long after it was noticed, and a change that takes a while is the effect of work that
/// began up to this long before.
pub(crate) const MARGIN_NS: u64 = 1_000_000_000;

/// A sample at the time of a change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) series: String,
    pub(crate) at_ns: u64,
    pub(crate) value_ns: u64,
    /// CPU of the measuring thread.
    pub(crate) cpu: Option<u32>,
    /// Limit or threshold of its series.
    pub(crate) limit_ns: Option<u64>,
    /// Number of samples over the limit at that time, as far as they are stored.
    pub(crate) over: u64,
    /// Largest stored sample of the series at another time.
    pub(crate) elsewhere_ns: Option<u64>,
}

impl Sample {
    /// The sample that is worst, measured against its limit or against the rest of its series, among those on the CPUs of a change.
    pub(crate) fn at(report: &Report, change: &Change) -> Option<Self> {
        let series = report.run.series.iter();
        let of = series.filter_map(|series| Self::of(report, series, change));
        of.max_by(|a, b| a.rank().partial_cmp(&b.rank()).unwrap_or(std::cmp::Ordering::Equal))
    }

    fn of(report: &Report, series: &SeriesView, change: &Change) -> Option<Self> {
        let cpus = concerned(report, series, change)?;
        let limit_ns = limit_ns(series, &report.judgement);
        let value_ns = |spike: &Spike| u64::try_from(spike.value_ns).ok();
        let is_there = |spike: &&Spike| {
            let is_on = |cpus: &CpuList| spike.cpu.is_some_and(|cpu| cpus.contains(cpu));
            is_meanwhile(spike, change) && cpus.is_none_or(is_on)
        };
        let worst = series
            .spikes
            .iter()
            .filter(is_there)
            .max_by_key(|spike| spike.value_ns)?;
        let over = series.spikes.iter().filter(is_there).filter_map(value_ns);
        let elsewhere = series.spikes.iter().filter(|spike| !is_meanwhile(spike, change));
        Some(Self {
            series: series.spec.name.clone(),
            at_ns: worst.at_ns,
            value_ns: value_ns(worst)?,
            cpu: worst.cpu,
            limit_ns,
            over: over
                .filter(|value| limit_ns.is_some_and(|limit| *value > limit))
                .count() as u64,
            elsewhere_ns: elsewhere.filter_map(value_ns).max(),
        })
    }

    /// True if it is over the limit or the threshold of its series.
    pub(crate) fn is_over(&self) -> bool {
        self.limit_ns.is_some_and(|limit| self.value_ns > limit)
    }

    /// As a multiple of its limit; without one, of the largest sample at another time.
    pub(crate) fn times(&self) -> f64 {
        let of = self.limit_ns.or(self.elsewhere_ns).unwrap_or(self.value_ns);
        self.value_ns as f64 / of.max(1) as f64
    }

    fn rank(&self) -> (bool, f64) {
        (self.is_over(), self.times())
    }

    /// Such as `3.5 ms on CPU 12 (wakeup/cpu12, at 7.2 s; otherwise at most 40 us)`.
    pub(crate) fn text(&self) -> String {
        let cpu = self.cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
        let otherwise = match self.elsewhere_ns {
            Some(ns) => format!("; otherwise at most {}", Ns(ns)),
            None => String::new(),
        };
        let over = match (self.over, self.limit_ns) {
            (n, Some(limit)) if n > 0 => format!("; {n} over {}", Ns(limit)),
            _ => String::new(),
        };
        format!(
            "{}{cpu} ({}, at {}{over}{otherwise})",
            Ns(self.value_ns),
            self.series,
            Ns(self.at_ns)
        )
    }
}

/// The CPUs on which a sample of the series may have felt the change: `Some(None)` means on any. `None`: it cannot have felt it.
fn concerned<'a>(report: &Report, series: &SeriesView, change: &'a Change) -> Option<Option<&'a CpuList>> {
    let kinds = series.setting(setting::PLACE).map_or_else(Vec::new, kinds_of);
    match &change.place {
        None => match kinds.first().copied() {
            None | Some("container") => Some(change.cpus.as_ref()),
            // A guest has CPU numbers of its own: the time alone joins it to a change of its host.
            Some("vm") => Some(None),
            // Another machine does not feel a change of this one.
            Some(_) => None,
        },
        Some(place) => {
            let may_be = is_felt_in(place, &kinds) && !is_ambiguous(&report.run, change);
            may_be.then_some(change.cpus.as_ref())
        }
    }
}

/// True if its wait touches the time of the change. A sample is stored with the instant of its end.
fn is_meanwhile(spike: &Spike, change: &Change) -> bool {
    let waited_ns = u64::try_from(SignedNs(spike.value_ns).0).unwrap_or(0);
    let due_ns = spike.at_ns.saturating_sub(waited_ns);
    due_ns <= change.at_ns.saturating_add(MARGIN_NS) && change.since_ns.saturating_sub(MARGIN_NS) <= spike.at_ns
}
