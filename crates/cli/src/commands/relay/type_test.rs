//! A type test, played through a relay in simulated time.

use super::replay::print;
use crate::failure::{Failure, say};
use ::relay::{Config, ReplayError};
use report::type_test::type_test_json;
use std::time::Instant;
use waveform::type_test;

/// Seed of the order of the shots, which does not matter here: each shot begins with a new relay.
const SEED: u64 = 1;

/// Plays the test, and prints the result; returns the exit status. It judges nothing.
pub(super) fn run(config: &Config, name: &str, is_json: bool) -> Result<u8, Failure> {
    let test = type_test::find(name).map_err(|error| Failure::Usage(error.to_string()))?;
    let begun = Instant::now();
    let shots = ::relay::type_test(config, &test, SEED).map_err(|error| match error {
        ReplayError::Nothing(why) => Failure::CouldNotMeasure(why),
        other => Failure::Usage(other.to_string()),
    })?;
    let took = begun.elapsed().as_secs_f64();
    print(&match is_json {
        true => type_test_json(&shots),
        false => report::type_test::text(&shots),
    })?;
    let each = shots.len() as f64 / took;
    say(&format_args!(
        "{} shots in {:.1} s, {each:.0} a second",
        shots.len(),
        took
    ));
    Ok(0)
}
