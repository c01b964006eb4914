//! Names and units of the result document.

#[cfg(test)]
mod tests;

/// Name and number of the document's shape.
pub const SCHEMA: &str = "triptime.result/1";

/// A time in the document's unit.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
