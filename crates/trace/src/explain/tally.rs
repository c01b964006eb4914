//! The pieces of a latency, added up.

use super::ORDINARY_NS;
use super::role::{Piece, Role};
use crate::around::{Around, TICK_NS};
use crate::occupancy::Who;
use model::{Cause, Part};

/// The pieces of a latency, with the causes of the late and the silent ones.
pub(super) struct Tally {
    pieces: Vec<Piece>,
    /// Why the timer was handled late.
    late: Cause,
    /// Why nothing was recorded for so long.
    stalled: Cause,
    /// Name of the cause of the times without events, if a counter confirms it.
    vouched: Option<&'static str>,
    silence: Silence,
}

/// The longest times without an event on the CPU, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    /// Until the timer was handled.
    pub(super) late_ns: u64,
    /// In the whole latency.
    pub(super) all_ns: u64,
}

impl Tally {
    pub(super) fn of(pieces: impl Iterator<Item = Piece>, around: &Around, silence: Silence) -> Self {
        let mut pieces: Vec<Piece> = pieces.collect();
        give_to_quota(&mut pieces, around);
        let stalled = stalled_cause(around);
        let late = late_cause(&pieces, stalled, silence.late_ns);
        let silent_ns = sum(&pieces, Role::Late).max(sum(&pieces, Role::Stalled));
        Self {
            pieces,
            late,
            stalled,
            vouched: vouched(stalled, around, silent_ns),
            silence,
        }
    }

    /// Time in pieces of this role, in ns.
    pub(super) fn ns(&self, role: Role) -> u64 {
        sum(&self.pieces, role)
    }

    /// Time per cause, in ns. [`Cause::Path`] is the kernel's own path.
    pub(super) fn causes(&self) -> Vec<(Cause, u64)> {
        let late_ns = self.ns(Role::Late);
        let late = if late_ns > ORDINARY_NS { self.late } else { Cause::Path };
        let mut causes: Vec<(Cause, u64)> = Vec::new();
        for (cause, ns) in [
            (Cause::Thread, self.ns(Role::Thread)),
            (Cause::Interrupt, self.ns(Role::Interrupt)),
            (Cause::Softirq, self.ns(Role::Softirq)),
            (Cause::Throttled, self.ns(Role::Throttled)),
            (Cause::Stopped, self.ns(Role::Stopped)),
            (
                Cause::Path,
                self.ns(Role::Own) + self.ns(Role::Waited) + self.ns(Role::UnderWay),
            ),
            (late, late_ns),
            (self.stalled, self.ns(Role::Stalled)),
            (Cause::Unexplained, self.ns(Role::Lost)),
        ] {
            match causes.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, sum)) => *sum += ns,
                None => causes.push((cause, ns)),
            }
        }
        causes
    }

    /// Occupants of the CPU, the longest first.
    pub(super) fn occupants(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for piece in &self.pieces {
            let Some(what) = self.name(piece) else { continue };
            let ns = piece.segment.ns();
            match parts.iter_mut().find(|part| part.what == what) {
                Some(part) => part.ns += ns,
                None => parts.push(Part { what, ns }),
            }
        }
        parts.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.what.cmp(&b.what)));
        parts
    }

    /// Time for which the events show no occupant, in ns.
    pub(super) fn unexplained_ns(&self) -> u64 {
        let unnamed = self.pieces.iter().filter(|piece| self.name(piece).is_none());
        unnamed.map(|piece| piece.segment.ns()).sum()
    }

    /// The longest time without an event in the whole latency, in ns.
    pub(super) fn longest_silence_ns(&self) -> u64 {
        self.silence.all_ns
    }

    /// The occupant with the longest time in a role.
    pub(super) fn foremost(&self, role: Role) -> Option<(Who, u64)> {
        let mut sums: Vec<(Who, u64)> = Vec::new();
        for piece in self.pieces.iter().filter(|piece| piece.role == role) {
            let ns = piece.segment.ns();
            match sums.iter_mut().find(|(who, _)| *who == piece.segment.who) {
                Some((_, sum)) => *sum += ns,
                None => sums.push((piece.segment.who, ns)),
            }
        }
        sums.into_iter().max_by_key(|(_, ns)| *ns)
    }

    fn name(&self, piece: &Piece) -> Option<String> {
        let who = piece.segment.who;
        match piece.role {
            Role::Late => match who {
                Who::Thread(_) if self.late == Cause::InterruptsOff => Some(who.to_string()),
                _ => self.vouched.map(str::to_owned),
            },
            Role::Lost => None,
            Role::Stalled => self.vouched.map(str::to_owned),
            Role::Own if who == Who::Idle => Some("leaving idle".to_owned()),
            Role::Waited => Some("the thread itself, waiting again".to_owned()),
            Role::UnderWay => Some("under way, not held up on this CPU".to_owned()),
            Role::Stopped => Some("nobody: the thread was stopped".to_owned()),
            _ => Some(who.to_string()),
        }
    }
}

/// Threads that share a CPU fairly take turns of a few milliseconds. If they had more time than this in total, and the quota of the
/// control group stopped threads for half as long or more, most of it was not their turn.
const FAIR_TURNS_NS: u64 = 10_000_000;

/// Attributes to the quota the part of the fair threads' time, while the measuring thread was ready, that its counter confirms.
fn give_to_quota(pieces: &mut [Piece], around: &Around) {
    let is_fair = |piece: &Piece| {
        let of_fair = matches!(piece.segment.who, Who::Thread(thread) if !thread.is_realtime());
        piece.role == Role::Thread && of_fair
    };
    let taken_ns: u64 = pieces
        .iter()
        .filter(|piece| is_fair(piece))
        .map(|piece| piece.segment.ns())
        .sum();
    if taken_ns < FAIR_TURNS_NS || around.throttled_ns.is_none_or(|ns| ns < taken_ns / 2) {
        return;
    }
    for piece in pieces.iter_mut().filter(|piece| is_fair(piece)) {
        piece.role = Role::Throttled;
    }
}

fn sum(pieces: &[Piece], role: Role) -> u64 {
    let of_role = pieces.iter().filter(|piece| piece.role == role);
    of_role.map(|piece| piece.segment.ns()).sum()
}

/// Why a CPU that should have done something recorded nothing.
fn stalled_cause(around: &Around) -> Cause {
    if around.smis.is_some_and(|count| count > 0) {
        Cause::Smi
    } else if around.is_virtual == Some(true) {
        Cause::Hypervisor
    } else {
        Cause::Unexplained
    }
}

/// Why the timer was handled late. If the CPU recorded nothing in that time, it may have stood still; if it did record events, or
/// is not in a virtual machine, interrupts were off.
fn late_cause(pieces: &[Piece], stalled: Cause, silence_ns: u64) -> Cause {
    let late = || pieces.iter().filter(|piece| piece.role == Role::Late);
    let is_silent = silence_ns >= sum(pieces, Role::Late) / 2;
    if is_silent && stalled != Cause::Unexplained {
        return stalled;
    }
    let longest = late().max_by_key(|piece| piece.segment.ns());
    match longest.map(|piece| piece.segment.who) {
        Some(Who::Thread(_)) => Cause::InterruptsOff,
        Some(Who::Idle) if is_silent => Cause::IdleExit,
        _ => Cause::Unexplained,
    }
}

/// Names the cause of the silent pieces if a counter confirms it.
fn vouched(stalled: Cause, around: &Around, silent_ns: u64) -> Option<&'static str> {
    match stalled {
        Cause::Smi => Some("system management interrupt"),
        // The counter increases in ticks: it may lag behind by up to one.
        Cause::Hypervisor if around.steal_ns.is_some_and(|ns| ns > 0 && ns + TICK_NS > silent_ns) => {
            Some("hypervisor (steal time)")
        }
        _ => None,
    }
}
