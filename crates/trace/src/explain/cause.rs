//! Finds the cause that took most of a latency.

use super::ORDINARY_NS;
use super::tally::Tally;
use model::{Cause, Question, QuestionKind};

/// The cause that took more than half. If none did, a short latency is the kernel's own path, and for a long one the largest share
/// counts.
pub(super) fn cause(tally: &Tally, question: &Question) -> Cause {
    let latency_ns = question.ns();
    let causes = tally.causes();
    let path_ns = causes
        .iter()
        .find(|(cause, _)| *cause == Cause::Path)
        .map_or(0, |(_, ns)| *ns);
    let foreign = causes.iter().filter(|(cause, ns)| *cause != Cause::Path && *ns > 0);
    let Some((largest, largest_ns)) = foreign.clone().max_by_key(|(_, ns)| *ns).copied() else {
        return Cause::Path;
    };
    if question.kind == QuestionKind::Gap {
        // Entering and leaving an interrupt or a thread costs some time that no event covers.
        let named = foreign
            .filter(|(cause, _)| !is_silence(*cause))
            .max_by_key(|(_, ns)| *ns);
        return match named {
            Some((cause, ns)) if latency_ns - ns <= ORDINARY_NS => *cause,
            _ => largest,
        };
    }
    let is_short = latency_ns <= 2 * ORDINARY_NS;
    if largest_ns * 2 > latency_ns || (!is_short && largest_ns >= path_ns) {
        largest
    } else {
        Cause::Path
    }
}

fn is_silence(cause: Cause) -> bool {
    matches!(cause, Cause::Hypervisor | Cause::Smi | Cause::Unexplained)
}
