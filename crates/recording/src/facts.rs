//! Facts about a recording beside its segments (group [`GROUP`]). The merging of recordings reads them.

/// Group of these facts.
pub const GROUP: &str = "recording";

/// First instant from which on every frame was to be recorded, as `1790000000000000000 ns since 1970`.
pub const FROM: &str = "from";

/// Last such instant.
pub const TO: &str = "to";

/// How far a stamp may be off on its clock, as `183 ns`.
pub const UNCERTAINTY: &str = "uncertainty of the stamps";

/// An instant as the value of a fact.
pub fn instant(ns: i64) -> String {
    format!("{ns} ns since 1970")
}

/// The instant of such a value.
pub fn instant_of(value: &str) -> Option<i64> {
    value.strip_suffix(" ns since 1970")?.parse().ok()
}

/// A duration as the value of a fact.
pub fn duration(ns: u64) -> String {
    format!("{ns} ns")
}

/// The duration of such a value.
pub fn duration_of(value: &str) -> Option<u64> {
    value.strip_suffix(" ns")?.parse().ok()
}
