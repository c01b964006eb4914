//! Lists the scenarios of the crate, each with the first sample of its fault: `cargo run --example scenarios`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

use waveform::WaveformError;
use waveform::sample::Sampling;
use waveform::scenario::{find, names};

fn main() -> Result<(), WaveformError> {
    let sampling = Sampling::new(4_000);
    for name in names() {
        let scenario = find(name, &sampling)?;
        // The disturbance starts after 400 samples of the steady state.
        let shot = scenario.shot(&sampling, 400, 0.0, 1)?;
        let wanted = if scenario.wants_trip() {
            "trip"
        } else {
            "no trip, or either"
        };
        println!(
            "{name}: {} Wanted: {wanted}. Fault: sample {} on.",
            scenario.what, shot.fault
        );
    }
    Ok(())
}
