//! The path from a timer to the thread that sleeps on it.

use super::own_thread;
use super::role::is_lower;
use crate::event::{Event, Thread, What};
use crate::occupancy::{Segment, Who};
use crate::snapshot::Snapshot;
use model::{Part, Question};
use units::Monotonic;

/// The instants of one wake-up, as far as the events show them.
pub(super) struct WakePath {
    /// When the kernel began to handle the timer that woke the thread.
    pub(super) timer: Option<Monotonic>,
    /// When the thread was being woken.
    pub(super) waking: Option<Monotonic>,
    /// When the thread first got the CPU after that.
    pub(super) switched_in: Option<Monotonic>,
    /// The interrupt in which the timer was handled.
    pub(super) interrupt: Option<Segment>,
    /// The sleeping thread.
    pub(super) own: Option<Thread>,
}

impl WakePath {
    pub(super) fn find(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, line: &[Segment]) -> Self {
        let waking = find_waking(on_cpu, others, question);
        let timer = waking.and_then(|(events, index)| timer_before(events, index));
        let on_this_cpu = |event: &&Event| event.cpu == question.cpu;
        let interrupt = timer
            .filter(on_this_cpu)
            .and_then(|timer| line.iter().find(|segment| contains(segment, timer.at)))
            .filter(|segment| !matches!(segment.who, Who::Thread(_) | Who::Idle | Who::Lost | Who::Unknown));
        let waking = waking.map(|(events, index)| events[index].at);
        let after = waking.unwrap_or(question.from);
        let switched_in = on_cpu.events.iter().find(|event| {
            let to_thread = matches!(event.what, What::Switch { next, .. } if next.pid == question.thread);
            to_thread && event.at >= after && event.at <= question.to
        });
        Self {
            timer: timer.map(|event| event.at),
            waking,
            switched_in: switched_in.map(|event| event.at),
            interrupt: interrupt.copied(),
            own: own_thread(on_cpu, question.thread),
        }
    }

    /// True if the events show the thread at all.
    pub(super) fn is_seen(&self) -> bool {
        self.waking.is_some() || self.switched_in.is_some() || self.own.is_some()
    }

    /// True if `who` ranks below the thread, apart from the scheduler's rules of fairness.
    pub(super) fn ranks_above(&self, who: &Who) -> bool {
        self.own.is_some_and(|own| is_lower(who, &own))
    }

    /// Until when the thread waited for its timer to be handled; `otherwise` if the events do not show it.
    pub(super) fn served(&self, otherwise: Monotonic) -> Monotonic {
        self.timer.or(self.waking).or(self.switched_in).unwrap_or(otherwise)
    }

    /// When the interrupt that handled the timer began.
    pub(super) fn interrupt_began(&self, otherwise: Monotonic) -> Monotonic {
        let began = self.interrupt.map(|segment| segment.from);
        began.unwrap_or_else(|| self.served(otherwise))
    }

    /// The stages, which add up to the latency. A stage with an unknown end is merged with the next.
    pub(super) fn stages(&self, question: &Question) -> Vec<Part> {
        let ends = [
            ("timer interrupt", self.timer),
            ("wake-up", self.waking),
            ("switch-in", self.switched_in),
            ("return to user space", Some(question.to)),
        ];
        let mut stages = Vec::new();
        let mut begin = question.from;
        let mut names = String::new();
        for (name, end) in ends {
            if !names.is_empty() {
                names.push_str(" + ");
            }
            names.push_str(name);
            let Some(end) = end else { continue };
            let end = end.clamp(begin, question.to.max(begin));
            stages.push(Part {
                what: std::mem::take(&mut names),
                ns: u64::try_from(end - begin).unwrap_or(0),
            });
            begin = end;
        }
        stages
    }
}

fn contains(segment: &Segment, at: Monotonic) -> bool {
    // The timer may be handled in the microsecond in which its interrupt begins.
    (segment.from..segment.to).contains(&at)
}

/// The event in which the thread was woken for this sample, among those of its CPU: the first from the due instant on; otherwise,
/// for a thread that wakes early and spins, the last before it.
fn find_waking<'a>(on_cpu: &'a Snapshot, others: &'a [Snapshot], question: &Question) -> Option<(&'a [Event], usize)> {
    let is_waking = |event: &Event| {
        matches!(event.what, What::Waking(thread) if thread.pid == question.thread) && event.at <= question.to
    };
    // A timer may be handled on another CPU (timer migration).
    let wakings: Vec<(&[Event], usize)> = std::iter::once(on_cpu)
        .chain(others)
        .flat_map(|snapshot| {
            let events = snapshot.events.as_slice();
            let found = events.iter().enumerate().filter(|(_, event)| is_waking(event));
            found.map(move |(index, _)| (events, index))
        })
        .collect();
    let at = |(events, index): &(&[Event], usize)| events[*index].at;
    let since_due = wakings
        .iter()
        .filter(|found| at(found) >= question.from)
        .min_by_key(|found| at(found));
    since_due
        .or_else(|| wakings.iter().max_by_key(|found| at(found)))
        .copied()
}

/// The timer during whose handling the event at `index` came.
fn timer_before(events: &[Event], index: usize) -> Option<&Event> {
    let before = events[..index].iter().rev();
    let mut timers = before.filter(|event| matches!(event.what, What::TimerEntry { .. } | What::TimerExit));
    timers
        .next()
        .filter(|event| matches!(event.what, What::TimerEntry { .. }))
}
