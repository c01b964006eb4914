//! States in order of time.

use super::{State, Synth};
use crate::WaveformError;

/// A state and its start.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) start_ns: u64,
    pub(super) state: State,
}

/// The states in order: the first starts at 0, and each lasts until the next starts.
pub(super) fn segments(synth: &Synth) -> Result<Vec<Segment>, WaveformError> {
    let nominal = || State::steady("nominal", synth.nominal.clone());
    let mut segments = Vec::new();
    // End of the previous state; `None` if it lasts until the next one starts.
    let mut end = Some(0);
    for (state, number) in synth.states.iter().zip(1..) {
        let start_ns = match (state.at_ns, end) {
            (Some(at), Some(end)) if at < end => {
                return refuse(
                    number,
                    state,
                    "begins before the previous state has ended: change `at` or `duration`",
                );
            }
            (Some(at), Some(end)) => {
                if at > end {
                    segments.push(Segment {
                        start_ns: end,
                        state: nominal(),
                    });
                }
                at
            }
            (Some(at), None) => at,
            (None, Some(end)) => end,
            (None, None) => {
                return refuse(
                    number,
                    state,
                    "has no `at`, and the previous state has no `duration`: give one of them",
                );
            }
        };
        let last_start = segments.last().map(|segment: &Segment| segment.start_ns);
        if last_start.is_some_and(|last| start_ns <= last) {
            return refuse(
                number,
                state,
                "begins when the previous state does: change `at` or `duration`",
            );
        }
        segments.push(Segment {
            start_ns,
            state: state.clone(),
        });
        end = state.duration_ns.map(|duration| start_ns.saturating_add(duration));
    }
    let over = synth
        .repeat_every_ns
        .zip(end)
        .is_some_and(|(repeat, end)| end >= repeat);
    if let Some(start_ns) = end.filter(|_| !over) {
        segments.push(Segment {
            start_ns,
            state: nominal(),
        });
    }
    check_repeat(synth.repeat_every_ns, end, &segments)?;
    Ok(segments)
}

fn check_repeat(repeat: Option<u64>, end: Option<u64>, segments: &[Segment]) -> Result<(), WaveformError> {
    let last = segments.last().map_or(0, |segment| segment.start_ns);
    match repeat {
        Some(repeat) if end.is_some_and(|end| end > repeat) || last >= repeat => Err(WaveformError::setting(format!(
            "repeat_every: the states take {}, they do not fit into {}",
            units::Ns(end.unwrap_or(last)),
            units::Ns(repeat)
        ))),
        _ => Ok(()),
    }
}

fn refuse<T>(number: usize, state: &State, problem: &str) -> Result<T, WaveformError> {
    Err(WaveformError::setting(format!(
        "state {number} ({}) {problem}",
        state.name
    )))
}
