//! Explains the time of a frame while a thread waited for it.

use super::own::OwnStates;
use super::role::{self, Piece, Role};
use super::tally::{Silence, Tally};
use super::{ORDINARY_NS, cut, finish, longest_silence, own_thread, text};
use crate::around::{Around, TICK_NS};
use crate::event::{Thread, What};
use crate::occupancy::{Segment, segments};
use crate::snapshot::Snapshot;
use model::{Cause, Explanation, Question};
use units::Monotonic;

/// Explains why a thread got a frame late, by the threads and interrupts that delayed the frame on its CPU. If there were none, the
/// frame was still on its way elsewhere, which is no foreign cause. The explanation has no stages.
pub fn explain_frame(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, around: &Around) -> Explanation {
    let line = segments(on_cpu);
    let own = own_thread(on_cpu, question.thread);
    let states = OwnStates::of(on_cpu, question.thread, woken_elsewhere(others, question));
    let all_ns = longest_silence(on_cpu, question.from, question.to);
    let is_stolen = is_stolen(around, all_ns, question.ns());
    let pieces = cut(&line, question, &[]);
    let pieces = pieces.iter().flat_map(|piece| between(piece, states.wakings()));
    let judged = pieces.map(|segment| {
        let role = role::in_frame(&segment, question, own.as_ref(), &states);
        let is_silent = role == Role::UnderWay && segment.ns() > ORDINARY_NS;
        let role = if is_silent && is_stolen { Role::Stalled } else { role };
        Piece { segment, role }
    });
    let silence = Silence {
        late_ns: all_ns,
        all_ns,
    };
    let tally = Tally::of(judged, around, silence);
    let mut explanation = finish(&tally, on_cpu, others, question, around, own);
    if own.is_none() && !on_cpu.turns().is_empty() && on_cpu.complete {
        explanation.cause = Cause::Unexplained;
        explanation.text = text::elsewhere(question);
    }
    explanation
}

/// The name, in every triptime, of the thread that returns the frames of a round trip.
const FAR_END: &str = "reflector";

/// The thread that returns frames of round trips, if it had this CPU.
pub(crate) fn far_end(on_cpu: &Snapshot) -> Option<Thread> {
    let events = on_cpu.opening.iter().chain(&on_cpu.events);
    let mut threads = events.filter_map(|event| match event.what {
        What::Switch { next, .. } => Some(next),
        _ => None,
    });
    threads.find(|thread| thread.name == FAR_END.into())
}

/// Explains why a frame came back late, by the delays of the thread that returns it, if that thread runs on one of these CPUs of
/// this machine; `None` if nothing there took most of the time.
pub(crate) fn explain_far_end(cpus: &[Snapshot], question: &Question, around: &Around) -> Option<Explanation> {
    // The counters belong to the question's own CPU.
    let around = Around {
        steal_ns: None,
        smis: None,
        ..*around
    };
    cpus.iter().find_map(|on_cpu| {
        let there = Question {
            cpu: on_cpu.cpu,
            thread: far_end(on_cpu)?.pid,
            ..*question
        };
        let found = explain_frame(on_cpu, cpus, &there, &around);
        let is_foreign = !matches!(found.cause, Cause::Path | Cause::Unexplained);
        let longest_ns = found.occupants.first().map_or(0, |part| part.ns);
        (is_foreign && longest_ns * 2 > question.ns()).then(|| Explanation {
            text: format!("at the far end, on CPU {}: {}", on_cpu.cpu, found.text),
            ..found
        })
    })
}

/// Splits a piece at the instants at which the thread was being woken.
fn between(piece: &Segment, wakings: &[Monotonic]) -> Vec<Segment> {
    let first = wakings.partition_point(|waking| *waking <= piece.from);
    let last = wakings.partition_point(|waking| *waking < piece.to);
    let inside = wakings.get(first..last).unwrap_or_default();
    let begins = std::iter::once(piece.from).chain(inside.iter().copied());
    let ends = inside.iter().copied().chain(std::iter::once(piece.to));
    begins
        .zip(ends)
        .filter_map(|(from, to)| piece.clipped(from, to))
        .collect()
}

/// The last instant at which another CPU woke the thread.
fn woken_elsewhere(others: &[Snapshot], question: &Question) -> Option<Monotonic> {
    let wakings = others.iter().flat_map(|other| &other.events).filter(|event| {
        let is_own = matches!(event.what, What::Waking(thread) if thread.pid == question.thread);
        is_own && event.at <= question.to
    });
    wakings.map(|event| event.at).max()
}

/// True if the host took the CPU for most of the time. A waiting thread records nothing either, so silence alone is no evidence
/// here. The counter increases in ticks: it may lag behind by up to one.
fn is_stolen(around: &Around, silence_ns: u64, latency_ns: u64) -> bool {
    let has_counted = around.steal_ns.is_some_and(|ns| ns > 0 && ns + TICK_NS > silence_ns);
    around.is_virtual == Some(true) && has_counted && silence_ns * 2 > latency_ns
}
