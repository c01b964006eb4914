//! Plays faults of growing current through a relay and prints the time of each trip: `cargo run --example curve`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

use relay::config::parse;
use relay::type_test;
use std::error::Error;
use waveform::type_test::find;

const RELAY: &str = r#"
[relay]
name = "R"
[rated]
current-a = 400
voltage-v = 110_000
[[stream]]
name = "bay1"
sv = { svID = "MU01", profile = "F4000S1I4U4" }
[[function]]
name = "I>"
settings.ptoc = { pickup = 2, curve = "iec-normal-inverse", time-multiplier = 0.1 }
[[trip]]
name = "Q0"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let relay = parse(RELAY, "example")?;
    for shot in type_test(&relay, &find("iec-normal-inverse")?, 1)? {
        let time = shot
            .trip_ns
            .map_or("no trip".to_owned(), |ns| format!("{:.3} s", ns as f64 / 1e9));
        println!("{:?}: {time}", shot.cell);
    }
    Ok(())
}
