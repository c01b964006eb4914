//! Explains how the time of a late sample was spent, from the events of the CPUs alone: no kernel, no clock.

mod cause;
mod extent;
mod frame;
mod own;
mod path;
mod role;
mod tally;
mod text;

use crate::around::Around;
use crate::event::{Thread, What};
use crate::occupancy::{Segment, Who, segments};
use crate::snapshot::Snapshot;
pub use frame::explain_frame;
pub(crate) use frame::{explain_far_end, far_end};

use model::{Explanation, Extent, Question, QuestionKind};
use own::OwnStates;
use path::WakePath;
use role::Piece;
use tally::{Silence, Tally};
use units::Monotonic;

/// Up to this long, a timer interrupt on its way, a CPU leaving its idle state or a thread returning to user space counts as the
/// kernel's ordinary path from timer to thread. In a quiet virtual machine the mean from a timer's due instant to its handler is 8
/// to 9 us, and from the wake-up to the switch 7 us (measured on the reference machine with bpftrace); twice as long is still
/// ordinary.
pub(crate) const ORDINARY_NS: u64 = 20_000;

/// Explains a sample of any kind.
pub fn explain(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, around: &Around) -> Explanation {
    match question.kind {
        QuestionKind::WakeUp => explain_wakeup(on_cpu, others, question, around),
        QuestionKind::Gap => explain_gap(on_cpu, others, question, around),
        QuestionKind::Hop => explain_hop(on_cpu, others, question, around),
        QuestionKind::Frame => explain_frame(on_cpu, others, question, around),
    }
}

/// Explains a late wake-up. `on_cpu` holds the events of the question's CPU, from some time before its `from`; `others` holds those
/// of the other watched CPUs.
///
/// Occupants and the unexplained rest add up to the latency, and so do the stages.
pub fn explain_wakeup(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, around: &Around) -> Explanation {
    let line = segments(on_cpu);
    let path = WakePath::find(on_cpu, others, question, &line);
    let cuts = [path.timer, path.waking, path.switched_in];
    let states = OwnStates::of(on_cpu, question.thread, path.waking);
    let judged = cut(&line, question, &cuts).into_iter().map(|segment| Piece {
        segment,
        role: role::in_wakeup(&segment, question, &path, &states),
    });
    let silence = Silence {
        late_ns: longest_silence(on_cpu, question.from, path.interrupt_began(question.to)),
        all_ns: longest_silence(on_cpu, question.from, question.to),
    };
    let tally = Tally::of(judged, around, silence);
    let mut explanation = finish(&tally, on_cpu, others, question, around, path.own);
    explanation.stages = path.stages(question);
    if !path.is_seen() && on_cpu.complete {
        explanation.cause = model::Cause::Unexplained;
        explanation.text = text::unseen(question, on_cpu);
    }
    explanation
}

/// Explains a gap that a spinning thread saw. The explanation has no stages.
pub fn explain_gap(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, around: &Around) -> Explanation {
    let line = segments(on_cpu);
    let own = own_thread(on_cpu, question.thread);
    let states = OwnStates::of(on_cpu, question.thread, None);
    let judged = cut(&line, question, &[]).into_iter().map(|segment| Piece {
        segment,
        role: role::in_gap(&segment, question, own.as_ref(), &states),
    });
    let all_ns = longest_silence(on_cpu, question.from, question.to);
    let silence = Silence {
        late_ns: all_ns,
        all_ns,
    };
    let tally = Tally::of(judged, around, silence);
    finish(&tally, on_cpu, others, question, around, own)
}

/// Explains why a frame took long from one point to the next, by the occupants of the CPU on which it arrived. The explanation has
/// no stages.
pub fn explain_hop(on_cpu: &Snapshot, others: &[Snapshot], question: &Question, around: &Around) -> Explanation {
    let line = segments(on_cpu);
    let judged = cut(&line, question, &[]).into_iter().map(|segment| Piece {
        segment,
        role: role::in_hop(&segment),
    });
    let all_ns = longest_silence(on_cpu, question.from, question.to);
    let silence = Silence {
        late_ns: all_ns,
        all_ns,
    };
    let tally = Tally::of(judged, around, silence);
    finish(&tally, on_cpu, others, question, around, None)
}

fn finish(
    tally: &Tally,
    on_cpu: &Snapshot,
    others: &[Snapshot],
    question: &Question,
    around: &Around,
    own: Option<Thread>,
) -> Explanation {
    let extent = match question.ns() {
        0 => Extent::Unknown,
        _ => extent::extent(others, question.from, question.to),
    };
    let (cause, text) = if on_cpu.complete {
        let cause = cause::cause(tally, question);
        let mut text = text::text(cause, tally, question, around, own.as_ref());
        if cause == model::Cause::Unexplained {
            text.push_str(&text::last_seen(question, on_cpu));
        }
        (cause, text)
    } else {
        (model::Cause::Unexplained, text::overwritten(question))
    };
    Explanation {
        cause,
        text,
        extent,
        stages: Vec::new(),
        occupants: tally.occupants(),
        unexplained_ns: tally.unexplained_ns(),
        around: around.lines(),
    }
}

/// The segments of the question's span, cut at the instants. Parts outside the snapshot are unknown, so that there are no gaps.
fn cut(line: &[Segment], question: &Question, at: &[Option<Monotonic>]) -> Vec<Segment> {
    let (from, to) = (question.from, question.to);
    let unknown = |from, to| Segment {
        from,
        to,
        who: Who::Unknown,
    };
    let begin = line.first().map_or(to, |first| first.from.clamp(from, to.max(from)));
    let end = line.last().map_or(to, |last| last.to.clamp(begin, to.max(begin)));
    let whole = std::iter::once(unknown(from, begin))
        .chain(line.iter().copied())
        .chain(std::iter::once(unknown(end, to)));
    let mut pieces: Vec<Segment> = whole.filter_map(|segment| segment.clipped(from, to)).collect();
    for instant in at.iter().flatten() {
        let halves = |segment: &Segment| {
            [
                segment.clipped(segment.from, *instant),
                segment.clipped(*instant, segment.to),
            ]
        };
        pieces = pieces.iter().flat_map(halves).flatten().collect();
    }
    pieces
}

/// The longest time between two instants without an event on the CPU, in ns.
fn longest_silence(on_cpu: &Snapshot, from: Monotonic, to: Monotonic) -> u64 {
    let inside = on_cpu
        .events
        .iter()
        .map(|event| event.at)
        .filter(|at| (from..to).contains(at));
    let mut longest = 0;
    let mut last = from;
    for at in inside.chain(std::iter::once(to)) {
        longest = longest.max(at - last);
        last = at;
    }
    u64::try_from(longest).unwrap_or(0)
}

/// The measuring thread as in the newest event that shows it: it may have had another priority before.
fn own_thread(on_cpu: &Snapshot, number: i32) -> Option<Thread> {
    let seen = on_cpu.opening.iter().chain(&on_cpu.events);
    let mut threads = seen.filter_map(|event| match event.what {
        What::Switch { next, .. } => Some(next),
        What::Waking(thread) => Some(thread),
        _ => None,
    });
    threads.rfind(|thread| thread.pid == number)
}

#[cfg(test)]
mod tests;
