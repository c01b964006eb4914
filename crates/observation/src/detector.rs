//! Recognises faults in the samples of one stream.

use crate::history::{FIRST, History, Kept, Phasors, Values};
use crate::lateness::Lateness;
use crate::onset::{CYCLES_BACK, NoOnset, onset};
use crate::phasor::Phasing;
use crate::rule::{MOST_MEMBERS, Rule, StepSize};
use crate::start::{Edge, Start, StartDoubt};

/// Cycles that are kept: those that are looked at for the begin of a change, with what they are compared with.
const CYCLES_KEPT: u64 = 8;

/// A step of a phasor is at least this large, in counts: 1 A or 10 V of 9-2LE. A share of next to nothing is no fault.
const LEAST_STEP: f64 = 1_000.0;

/// A sample, as far as a rule looks at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) smp_cnt: u16,
    pub(crate) at_ns: i64,
    pub(crate) after: u8,
    pub(crate) values: Values,
    /// The bit that the rule looks at, if it looks at one.
    pub(crate) bit: bool,
}

/// State of the stream, as far as it is known.
#[derive(Debug, Clone, Copy)]
enum State {
    /// Not yet, or not again: so many samples in a row were without a fault.
    Unknown { quiet: u64 },
    /// No fault.
    Quiet,
    /// A fault.
    Faulted(Faulted),
    /// The fault is over, since this sample; phasors still hold some of it.
    Settling {
        since: u64,
        quiet: u64,
        before: Option<Phasors>,
    },
}

/// A fault that lasts.
#[derive(Debug, Clone, Copy)]
struct Faulted {
    /// Its first sample.
    first: u64,
    /// The newest one at which the rule held.
    last: u64,
    /// The phasors before it.
    before: Option<Phasors>,
    /// A phasor had another size than before.
    has_other_size: bool,
}

/// Recognises faults by one rule.
#[derive(Debug)]
pub(crate) struct Detector {
    rule: Rule,
    rate: u32,
    cycle: u64,
    history: History,
    phasing: Phasing,
    lateness: Lateness,
    newest: Option<u64>,
    state: State,
    /// Phasors when there was no fault, as they were last.
    steady: Option<Phasors>,
    /// The newest sample at which the rule could be looked at.
    looked: u64,
}

impl Detector {
    /// For a stream of this many samples a second, of a network of this frequency.
    pub(crate) fn new(rule: &Rule, rate: u32, frequency_hz: f64) -> Self {
        let cycle = ((f64::from(rate) / frequency_hz).round() as u64).max(4);
        Self {
            rule: rule.clone(),
            rate,
            cycle,
            history: History::of(CYCLES_KEPT * cycle),
            phasing: Phasing::new(cycle, rule.members().len()),
            lateness: Lateness::default(),
            newest: None,
            state: State::Unknown { quiet: 0 },
            steady: None,
            looked: 0,
        }
    }

    /// Distance of two samples, in ns.
    pub(crate) fn interval_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.rate.max(1))
    }

    /// Time for which the rule could not be looked at though samples came, in ns: from a cycle's samples that were missing now and then.
    pub(crate) fn blind_ns(&self) -> u64 {
        let newest = self.newest.unwrap_or(0);
        let blind = newest.saturating_sub(self.looked.max(FIRST));
        match blind > 2 * CYCLES_KEPT * self.cycle {
            true => blind * self.interval_ns(),
            false => 0,
        }
    }

    /// The stream begins again: nothing before is compared with what comes.
    pub(crate) fn restart(&mut self) {
        self.newest = self.newest.map(|newest| newest + 2 * CYCLES_KEPT * self.cycle);
        self.phasing.interrupt();
        self.lateness.restart();
        self.steady = None;
        if !matches!(self.state, State::Faulted(_)) {
            self.state = State::Unknown { quiet: 0 };
        }
    }

    /// Takes a sample that came late, so many places before the newest one: others may be compared with it.
    pub(crate) fn late(&mut self, behind: u64, sample: &Sample) {
        if let Some(newest) = self.newest {
            self.history
                .keep(kept(newest - behind.min(newest - FIRST), sample, None));
        }
    }

    /// Takes the next sample, after so many that are missing; returns the edge of a fault, if there is one.
    pub(crate) fn take(&mut self, missing: u64, sample: &Sample) -> Option<Edge> {
        let index = self
            .newest
            .map_or(FIRST + CYCLES_KEPT * self.cycle, |newest| newest + missing + 1);
        self.newest = Some(index);
        if missing > 0 {
            self.phasing.interrupt();
            if missing >= self.cycle && !matches!(self.state, State::Faulted(_)) {
                self.state = State::Unknown { quiet: 0 };
            }
        }
        let phasors = self.phasing.take(index, &sample.values, &self.history);
        self.history.keep(kept(index, sample, phasors));
        self.lateness
            .take(sample.at_ns, self.due_ns(index + u64::from(sample.after)));
        self.look(index, sample, phasors.as_ref())
    }

    fn due_ns(&self, index: u64) -> i64 {
        let due_ns = u128::from(index) * 1_000_000_000 / u128::from(self.rate.max(1));
        i64::try_from(due_ns).unwrap_or(i64::MAX)
    }

    fn look(&mut self, index: u64, sample: &Sample, phasors: Option<&Phasors>) -> Option<Edge> {
        let holds = match &self.rule {
            Rule::Above { counts, members } => {
                let values = sample.values[..members.len()].iter();
                Some(values.into_iter().any(|value| f64::from(*value).abs() > *counts))
            }
            Rule::Digital(_) => Some(sample.bit),
            Rule::Change { step, .. } => {
                let (now, step) = (phasors?, *step);
                let Some(changes) = self.changes(index, now, step) else {
                    return self.after_a_pause(index, sample, now, step);
                };
                if !changes && matches!(self.state, State::Quiet) {
                    self.steady = Some(*now);
                }
                Some(changes)
            }
            Rule::Contact { .. } => None,
        }?;
        self.looked = index;
        match self.state {
            State::Unknown { quiet } => self.unknown(index, sample, holds, quiet),
            State::Quiet if holds => Some(self.begin(index, sample)),
            State::Quiet => None,
            State::Faulted(faulted) => self.faulted(index, sample, holds, faulted),
            State::Settling { since, quiet, before } => self.settling(index, sample, holds, (since, quiet, before)),
        }
    }

    /// Samples without a fault after which the first one can be recognised: what the begin of a change is looked for in.
    fn quiet_at_first(&self) -> u64 {
        match self.rule {
            Rule::Digital(_) => 1,
            _ => (CYCLES_BACK + 2) * self.cycle,
        }
    }

    /// The first sample after a fault by its values, when the rule has not held for so long that it is over.
    fn fell(&self, index: u64, holds: bool, last: u64) -> Option<u64> {
        let (over_after, ended_after) = match self.rule {
            Rule::Digital(_) => (1, 1),
            // A sine is above a threshold in each half of a cycle: its last half may have begun.
            _ => (self.cycle, self.cycle / 2),
        };
        (!holds && index - last >= over_after).then_some(last + ended_after)
    }

    fn unknown(&mut self, index: u64, sample: &Sample, holds: bool, quiet: u64) -> Option<Edge> {
        if holds {
            match self.rule {
                Rule::Change { .. } => self.state = State::Unknown { quiet: 0 },
                _ => self.lasts(index, index, None),
            }
            // A change is reported once for all samples in which it is one.
            let is_new = quiet > 0 || !matches!(self.rule, Rule::Change { .. });
            return is_new.then_some(Edge::WasOn(sample.at_ns));
        }
        self.state = match quiet + 1 >= self.quiet_at_first() {
            true => State::Quiet,
            false => State::Unknown { quiet: quiet + 1 },
        };
        None
    }

    fn begin(&mut self, index: u64, sample: &Sample) -> Edge {
        let found = match self.rule {
            Rule::Digital(_) => Ok((index, self.missing_before(index), 0.0)),
            _ => onset(&self.history, index, self.cycle).map(|onset| (onset.index, onset.missing, onset.hidden)),
        };
        let (first, doubt, hidden) = match found {
            Ok((first, missing, hidden)) => (first, (missing > 0).then_some(StartDoubt::Missing(missing)), hidden),
            Err(NoOnset::NoStep) => (index, Some(StartDoubt::NoStep), 0.0),
            Err(NoOnset::Earlier) => (index, Some(StartDoubt::Earlier), 0.0),
            Err(NoOnset::TooFew) => (index, Some(StartDoubt::TooFew), 0.0),
        };
        let whole = match doubt {
            Some(StartDoubt::NoStep | StartDoubt::Earlier | StartDoubt::TooFew) => first - 3 * self.cycle,
            _ => first,
        };
        let mut back = 1..=3 * self.cycle;
        let before = back.find_map(|back| self.history.get(whole - back)?.phasors);
        self.lasts(first, index, before);
        Edge::Began(self.start(first, doubt, hidden).unwrap_or(Start {
            at_ns: sample.at_ns,
            uncertain_ns: None,
            smp_cnt: Some(sample.smp_cnt),
            doubt: doubt.or(Some(StartDoubt::NoStep)),
        }))
    }

    fn start(&self, first: u64, doubt: Option<StartDoubt>, hidden: f64) -> Option<Start> {
        let kept = self.history.get(first)?;
        let late_ns = self.lateness.of(kept.at_ns, self.due_ns(first + u64::from(kept.after)));
        let missing = match doubt {
            Some(StartDoubt::Missing(missing)) => missing as f64,
            _ => 0.0,
        };
        let samples = 1.0 + f64::from(kept.after) + missing + hidden;
        let uncertain_ns = (samples * self.interval_ns() as f64).ceil() as u64 + late_ns;
        let is_bounded = matches!(doubt, None | Some(StartDoubt::Missing(_)));
        Some(Start {
            at_ns: kept.at_ns,
            uncertain_ns: is_bounded.then_some(uncertain_ns),
            smp_cnt: Some(kept.smp_cnt),
            doubt,
        })
    }

    fn missing_before(&self, index: u64) -> u64 {
        (1..self.cycle)
            .find(|back| self.history.get(index - back).is_some())
            .unwrap_or(self.cycle)
            - 1
    }

    fn lasts(&mut self, first: u64, last: u64, before: Option<Phasors>) {
        self.state = State::Faulted(Faulted {
            first,
            last,
            before,
            has_other_size: false,
        });
    }

    fn faulted(&mut self, index: u64, sample: &Sample, holds: bool, mut faulted: Faulted) -> Option<Edge> {
        let since = match self.rule {
            Rule::Change { step, .. } => self.changed_back(index, holds, step, &mut faulted),
            _ => self.fell(index, holds, faulted.last),
        };
        let Some(since) = since else {
            faulted.last = if holds { index } else { faulted.last };
            self.state = State::Faulted(faulted);
            return None;
        };
        self.state = match self.rule {
            Rule::Change { .. } => State::Settling {
                since,
                quiet: 0,
                before: faulted.before,
            },
            _ => State::Quiet,
        };
        let at_ns = self.history.get(since).map_or(sample.at_ns, |kept| kept.at_ns);
        Some(Edge::Ended(at_ns))
    }

    /// The first sample after a fault that changed phasors: they have the size that they had before it. Where it changed angles alone, it
    /// is over with the next change.
    fn changed_back(&self, index: u64, holds: bool, step: StepSize, faulted: &mut Faulted) -> Option<u64> {
        if index < faulted.first + self.cycle {
            return None;
        }
        let is_as_before = self.is_as_before(index, step, faulted.before.as_ref())?;
        if !faulted.has_other_size {
            faulted.has_other_size = !is_as_before;
            let is_next_change = holds && index > faulted.last + self.cycle;
            return (is_as_before && is_next_change).then_some(index);
        }
        is_as_before.then_some(index + 1 - self.cycle)
    }

    /// Phasors of the window before still hold some of the fault that is over.
    fn settling(
        &mut self,
        index: u64,
        sample: &Sample,
        holds: bool,
        (since, quiet, before): (u64, u64, Option<Phasors>),
    ) -> Option<Edge> {
        let quiet = if holds { 0 } else { quiet + 1 };
        if quiet >= self.cycle {
            self.state = State::Quiet;
            return None;
        }
        if holds && index - since > 3 * self.cycle {
            self.lasts(index, index, before);
            return Some(Edge::WasOn(sample.at_ns));
        }
        self.state = State::Settling { since, quiet, before };
        None
    }

    /// The first phasors after too many samples were missing: a fault that began meanwhile has changed their size.
    fn after_a_pause(&mut self, index: u64, sample: &Sample, now: &Phasors, step: StepSize) -> Option<Edge> {
        let steady = self.steady.filter(|_| !matches!(self.state, State::Faulted(_)))?;
        if self.are_as_large(now, &steady, step) {
            return None;
        }
        self.lasts(index, index, Some(steady));
        Some(Edge::WasOn(sample.at_ns))
    }

    /// True if a phasor has changed since the cycle before, or one up to three cycles before; `None` where that cannot be told.
    fn changes(&self, index: u64, now: &Phasors, step: StepSize) -> Option<bool> {
        let before = (1..=3).find_map(|cycles| self.history.get(index - cycles * self.cycle)?.phasors)?;
        let allowed = self.allowed(step, &before);
        let members = 0..self.rule.members().len();
        Some(
            members
                .into_iter()
                .any(|member| (now[member] - before[member]).norm() > allowed),
        )
    }

    /// True if each phasor is as large as it was before the fault; `None` where that cannot be told.
    fn is_as_before(&self, index: u64, step: StepSize, before: Option<&Phasors>) -> Option<bool> {
        let now = self.history.get(index)?.phasors?;
        Some(self.are_as_large(&now, before?, step))
    }

    fn are_as_large(&self, now: &Phasors, before: &Phasors, step: StepSize) -> bool {
        let allowed = self.allowed(step, before);
        let mut members = 0..self.rule.members().len();
        members.all(|member| (now[member].norm() - before[member].norm()).abs() <= allowed)
    }

    fn allowed(&self, step: StepSize, before: &[protection::Complex; MOST_MEMBERS]) -> f64 {
        let largest = before.iter().map(|phasor| phasor.norm()).fold(0.0, f64::max);
        match step {
            StepSize::Share(share) => (share * largest).max(LEAST_STEP),
            StepSize::Counts(counts) => counts.max(LEAST_STEP),
        }
    }
}

fn kept(index: u64, sample: &Sample, phasors: Option<Phasors>) -> Kept {
    Kept {
        index,
        smp_cnt: sample.smp_cnt,
        at_ns: sample.at_ns,
        after: sample.after,
        values: sample.values,
        phasors,
    }
}
