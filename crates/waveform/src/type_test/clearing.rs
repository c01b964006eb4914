//! The end of a fault: a breaker opens pole after pole, each when its current passes through zero.
//!
//! Currents that stop at any other time would make a step that no real network has, and a relay may trip because of it.

use crate::network::{Fault, FaultType, Network};
use crate::synth::{Operating, State};

/// Currents below this, in A, count as zero.
const NO_CURRENT_A: f64 = 1e-6;

/// Shortest time between two poles, in ns: more than a sample.
const LEAST_NS: f64 = 500_000.0;

/// The fault that remains after the pole of a phase has opened; `None` if no current remains.
fn left(kind: FaultType, phase: usize) -> Option<FaultType> {
    match (kind, phase) {
        (FaultType::Abc, 0) => Some(FaultType::Bc),
        (FaultType::Abc, 1) => Some(FaultType::Ca),
        (FaultType::Abc, _) => Some(FaultType::Ab),
        (FaultType::Abg, 1) | (FaultType::Cag, 2) => Some(FaultType::Ag),
        (FaultType::Abg, _) | (FaultType::Bcg, 2) => Some(FaultType::Bg),
        (FaultType::Bcg, _) | (FaultType::Cag, _) => Some(FaultType::Cg),
        _ => None,
    }
}

/// The fault, and the remaining fault after each pole. It starts at this phase of the frequency, in degrees; its decaying component has vanished when
/// the first pole opens.
pub(super) fn cleared(network: &Network, fault: &Fault, first: State, begin_deg: f64) -> Vec<State> {
    let mut states = vec![first];
    let (mut kind, mut elapsed_ns) = (fault.kind, 0);
    while let Some(now) = states.last_mut() {
        let lasted_ns = now.duration_ns.unwrap_or(0);
        let turned_deg = 360.0 * network.frequency_hz * (elapsed_ns + lasted_ns) as f64 / 1e9;
        let Some((after_ns, phase)) = next_zero(&now.operating, begin_deg + turned_deg) else {
            break;
        };
        now.duration_ns = Some(lasted_ns + after_ns);
        elapsed_ns += lasted_ns + after_ns;
        let Some(rest) = left(kind, phase) else { break };
        kind = rest;
        let operating = network.during(&Fault { kind, ..*fault });
        states.push(State {
            duration_ns: Some(0),
            ..State::steady(&format!("{kind} left"), operating)
        });
    }
    states
}

/// Time from this phase of the frequency to the next zero crossing of a current, in ns, and its phase.
fn next_zero(operating: &Operating, deg: f64) -> Option<(u64, usize)> {
    let zeros = (0..3)
        .filter(|phase| operating.currents_a[*phase] > NO_CURRENT_A)
        .map(|phase| {
            let ns_per_deg = 1e9 / 360.0 / operating.frequency_hz;
            let least_deg = LEAST_NS / ns_per_deg;
            // A cosine passes through zero at 90 and at 270 degrees.
            let at_deg = 90.0 - operating.current_angles_deg[phase] - deg - least_deg;
            (((at_deg.rem_euclid(180.0) + least_deg) * ns_per_deg) as u64, phase)
        });
    zeros.min()
}
