//! Names and units of the result document.

#[cfg(test)]
mod tests;

/// Name and version of the document's format.
pub const SCHEMA: &str = "triptime.result/1";

/// Converts a time to the document's unit, seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
