//! The calibration as a JSON document.

use super::Calibration;
use crate::failure::Failure;
use crate::version;
use serde_json::{Value, json};
use session::instrument::Instrument;
use sys::readout::Readout;

/// Name and version of the document's format.
const SCHEMA: &str = "triptime.calibration/1";

pub(super) fn document(calibration: &Calibration) -> Result<String, Failure> {
    let clocks = calibration.clocks.iter().map(|(cpu, clock)| of_cpu(*cpu, clock));
    let stamps = calibration.stamps.iter().map(|one| {
        json!({"interface": one.interface, "in_hardware": one.in_hardware.as_ref().ok(), "is_known": one.is_known(), "text": one.text()})
    });
    let failed = |error: serde_json::Error| Failure::CouldNotMeasure(format!("cannot make the document: {error}"));
    let document = json!({
        "schema": SCHEMA,
        "tool": version::one_line(),
        "clocks": clocks.collect::<Vec<Value>>(),
        "effect": effect(calibration),
        "stamp_to_wire": stamps.collect::<Vec<Value>>(),
        "uncertainty": calibration.budgets.json().map_err(failed)?,
    });
    Ok(serde_json::to_string_pretty(&document).map_err(failed)? + "\n")
}

fn of_cpu(cpu: u32, clock: &Result<Instrument, String>) -> Value {
    let of = |one: &Readout| json!({"mean": one.mean_ns, "long": one.long_ns, "step": one.step_ns});
    match clock {
        Ok(clock) => json!({
            "cpu": cpu,
            "monotonic": of(&clock.monotonic),
            "realtime": of(&clock.realtime),
            "system_call": clock.system_call_ns,
            "counter": clock.counter_ns,
            "conversion": clock.apart_ns,
            "unknown_because": null,
        }),
        Err(why) => json!({"cpu": cpu, "unknown_because": why}),
    }
}

fn effect(calibration: &Calibration) -> Value {
    match &calibration.effects.0 {
        Ok(effect) => {
            let difference = effect.difference_ns();
            json!({
                "cpu": effect.cpu,
                "bare": effect.bare_ns,
                "whole": effect.whole_ns,
                "difference": difference.map(|(mean, _)| mean),
                "standard": difference.map(|(_, standard)| standard),
                "without_flight_recorder_because": effect.no_flight,
                "unknown_because": null,
            })
        }
        Err(why) => json!({"unknown_because": why}),
    }
}
