//! A relay of a feeder, and faults that trip it.

/// Its file.
pub const RELAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/relay.toml");

/// Load, with a fault of 100 ms at 500 ms in every second, as a waveform for `publish`.
pub const FAULTS: &str = "\
currents_a = 300
repeat_every = \"1s\"
[[state]]
name = \"fault\"
at = \"500ms\"
duration = \"100ms\"
currents_a = [6000, 300, 300]
current_angles_deg = [-80, -150, 90]
";

/// Options of commands that run in parallel; the name of the run file has to follow.
pub const BESIDE: [&str; 6] = [
    "--policy",
    "other",
    "--quiet",
    "--json",
    "--no-flight-recorder",
    "--out",
];
