//! Kernel state of the wall clock, and its distance from the hardware clock that PTP steers.

use sys::phc::Phc;
use toml::{Table, Value as Toml};

use crate::facts::Facts;
use crate::gather::network::only_live;
use crate::value::{Known, Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

const SECOND_NS: f64 = 1e9;

/// `steered`: number of the hardware clock that the wall clock should follow.
pub(super) fn gather(reader: &Reader, steered: &Result<u32, Unknown>, facts: &mut Facts) {
    let kernel = table(reader, "wall-clock", || {
        let clock = sys::timex::kernel_clock().map_err(|error| HostError::Undecided(error.to_string()))?;
        let entries = [
            ("unsynchronised", Toml::Boolean(clock.unsynchronised)),
            ("tai-s", Toml::Integer(i64::from(clock.tai_offset_s))),
            ("max-error-ns", Toml::Integer(clock.max_error_ns.cast_signed())),
        ];
        Ok(text(entries))
    });
    for (fact, key) in [
        ("clock.unsynchronised", "unsynchronised"),
        ("clock.tai-s", "tai-s"),
        ("clock.max-error-ns", "max-error-ns"),
    ] {
        facts.set_known(fact, value(&kernel, key));
    }
    facts.set_known("clock.phc-offset-ns", offset(reader, steered, &kernel));
}

fn text<const N: usize>(entries: [(&str, Toml); N]) -> String {
    let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
    entries.collect::<Table>().to_string()
}

/// An answer that a tree stores as TOML.
pub(super) fn table(
    reader: &Reader,
    name: &str,
    ask: impl FnOnce() -> Result<String, HostError>,
) -> Result<Table, Unknown> {
    let text = reader.answer(name, ask).map_err(only_live)?;
    text.parse()
        .map_err(|error| Unknown::unclear(format!("the recorded answer of {name}: {error}")))
}

pub(super) fn value(table: &Result<Table, Unknown>, key: &str) -> Known {
    let table = table.as_ref().map_err(Clone::clone)?;
    match table.get(key) {
        Some(Toml::Boolean(flag)) => Ok(Value::Flag(*flag)),
        Some(Toml::Integer(number)) => Ok(Value::Number(*number as f64)),
        Some(Toml::String(text)) => Ok(Value::Text(text.clone())),
        _ => Err(Unknown::unclear(format!("the answer has no {key}"))),
    }
}

/// Distance from the wall clock in ns, without the whole seconds between TAI and UTC.
fn offset(reader: &Reader, steered: &Result<u32, Unknown>, kernel: &Result<Table, Unknown>) -> Known {
    let number = *steered.as_ref().map_err(Clone::clone)?;
    let answer = table(reader, &format!("phc-{number}"), || {
        let read = Phc::open(number).and_then(|clock| clock.offset());
        let read = read.map_err(|error| HostError::Undecided(error.to_string()))?;
        Ok(text([("offset-ns", Toml::Integer(read.offset_ns))]))
    });
    let Value::Number(offset) = value(&answer, "offset-ns")? else {
        return Err(Unknown::unclear("the recorded offset is not a number"));
    };
    let tai = match value(kernel, "tai-s") {
        Ok(Value::Number(seconds)) => seconds * SECOND_NS,
        _ => 0.0,
    };
    Ok(Value::Number(offset.abs().min((offset - tai).abs())))
}
