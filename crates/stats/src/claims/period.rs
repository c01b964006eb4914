//! Periods for a person, from nanoseconds to years.

use super::YEAR_NS;
use units::format_ns;

const HOUR_NS: u64 = 3_600_000_000_000;
const DAY_NS: u64 = 24 * HOUR_NS;
const WEEK_NS: u64 = 7 * DAY_NS;

/// Units of at least a second, largest first.
const UNITS: [(f64, &str); 5] = [
    (YEAR_NS as f64, "years"),
    (DAY_NS as f64, "d"),
    (HOUR_NS as f64, "h"),
    (60e9, "min"),
    (1e9, "s"),
];

/// A period in everyday words: `year`, `week`, `day`, `hour`, or else its length.
pub(super) fn name(ns: u64) -> String {
    match ns {
        YEAR_NS => "year".to_owned(),
        WEEK_NS => "week".to_owned(),
        DAY_NS => "day".to_owned(),
        HOUR_NS => "hour".to_owned(),
        _ => down(ns as f64),
    }
}

/// A period in ns as text, its last digit rounded down.
pub fn down(ns: f64) -> String {
    rounded(ns, f64::floor)
}

/// A period, its last digit rounded up.
pub(super) fn up(ns: f64) -> String {
    rounded(ns, f64::ceil)
}

/// Total time of machines, with two digits, rounded up: `3 machine-years`, `21 machine-days`.
pub(super) fn machine_time_up(ns: f64) -> String {
    let (unit, name) = UNITS
        .into_iter()
        .find(|(unit, _)| ns >= *unit)
        .unwrap_or(UNITS[UNITS.len() - 1]);
    let name = match name {
        "years" => "machine-years",
        "d" => "machine-days",
        "h" => "machine-hours",
        "min" => "machine-minutes",
        _ => "machine-seconds",
    };
    let value = digits(ns / unit, 2, f64::ceil);
    let name = if value == 1.0 { name.trim_end_matches('s') } else { name };
    format!("{value} {name}")
}

fn rounded(ns: f64, round: fn(f64) -> f64) -> String {
    // Below two years, a number of days is more precise than "1 years".
    let fits = |(unit, name): &(f64, &str)| ns >= if *name == "years" { 2.0 * unit } else { *unit };
    match UNITS.into_iter().find(fits) {
        Some((unit, name)) => format!("{} {name}", digits(ns / unit, 3, round)),
        None => {
            let scale = 10f64.powf(2.0 - ns.max(1.0).log10().floor());
            format_ns(whole_or(ns * scale, round) / scale)
        }
    }
}

/// Rounds a number of at least 1 to the given number of significant digits, without zeros at its end.
fn digits(value: f64, significant: i32, round: fn(f64) -> f64) -> f64 {
    let scale = 10f64.powi((significant - 1 - value.max(1.0).log10().floor() as i32).max(0));
    whole_or(value * scale, round) / scale
}

/// Returns a product that is whole except for its last bits as a whole number; rounds any other.
fn whole_or(scaled: f64, round: fn(f64) -> f64) -> f64 {
    let nearest = scaled.round();
    if (scaled - nearest).abs() <= scaled.abs() * 1e-12 {
        nearest
    } else {
        round(scaled)
    }
}
