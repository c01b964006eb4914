//! Distance to the temperature at which the machine throttles.

use super::super::shared::unclear;
use crate::value::Unknown;
use host::reader::Reader;

const ZONES: &str = "/sys/class/thermal";
const SENSORS: &str = "/sys/class/hwmon";
/// Wanted minimum of the distance, in degrees Celsius.
pub(super) const MARGIN_C: f64 = 10.0;
/// Lowest throttling temperature of a Zen processor (AMD: Ryzen 7 7800X3D, 89 degrees; others 90 to 105).
const LOWEST_LIMIT_C: f64 = 89.0;

/// Smallest distance of a zone to its lowest active trip, in degrees Celsius.
pub(super) fn margin_c(reader: &Reader) -> Result<f64, Unknown> {
    let folders = |root: &str, named: &str| match reader.names(root, |name| name.starts_with(named)) {
        Ok(names) => Ok(names.iter().map(|name| format!("{root}/{name}")).collect::<Vec<_>>()),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(unclear(error)),
    };
    let (zones, sensors) = (folders(ZONES, "thermal_zone")?, folders(SENSORS, "hwmon")?);
    let of_zones = zones.iter().filter_map(|zone| margin_of(reader, zone));
    let of_zen = sensors.iter().filter_map(|sensor| margin_of_zen(reader, sensor));
    of_zones.chain(of_zen).reduce(f64::min).ok_or_else(|| {
        Unknown::unclear(format!(
            "no zone of {ZONES} has a temperature and a trip point, and AMD's sensor is missing or too warm to show the distance to its limit"
        ))
    })
}

/// Distance for AMD's processors, which have no trip and different limits: unknown if it is warmer than the lowest limit allows. Files are
/// in thousandths of a degree.
fn margin_of_zen(reader: &Reader, sensor: &str) -> Option<f64> {
    let is_zen = reader
        .line(&format!("{sensor}/name"))
        .is_ok_and(|name| name == "k10temp")
        && reader
            .line(&format!("{sensor}/temp1_label"))
            .is_ok_and(|label| label == "Tctl");
    let milli: i32 = reader.parsed(&format!("{sensor}/temp1_input"), "a temperature").ok()?;
    let margin = LOWEST_LIMIT_C - f64::from(milli) / 1000.0;
    (is_zen && margin >= MARGIN_C).then_some(margin)
}

/// Reads a zone. Files are in thousandths of a degree. A trip at or below zero is disabled.
fn margin_of(reader: &Reader, zone: &str) -> Option<f64> {
    let milli = |file: &str| {
        reader
            .parsed::<i32>(&format!("{zone}/{file}"), "a temperature")
            .ok()
            .map(f64::from)
    };
    let temperature = milli("temp")?;
    let is_type = |name: &str| name.starts_with("trip_point_") && name.ends_with("_type");
    let trips = reader.names(zone, is_type).ok()?;
    let acting = trips.iter().filter(|trip| {
        let kind = reader.line(&format!("{zone}/{trip}")).unwrap_or_default();
        ["passive", "hot", "critical"].contains(&kind.as_str())
    });
    let at = acting.filter_map(|trip| milli(&trip.replace("_type", "_temp")));
    let lowest = at.filter(|at| *at > 0.0).reduce(f64::min)?;
    Some((lowest - temperature) / 1000.0)
}
