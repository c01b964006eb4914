//! A subject of the report with all its faces, and the order of the subjects in each face.
//!
//! To add a subject: a file that has it as a [`Section`], and its lines here.

use crate::Report;
use crate::capacity::CapacitySection;
use crate::contradiction::ContradictionSection;
use crate::document::Coverage;
use crate::readings::ReadingsSection;
use crate::recording::RecordingSection;
use crate::stall::StallSection;
use crate::tables::TablesSection;
use crate::tables::networks::NetworksSection;
use crate::terminal::{self, Paint};
use crate::type_test::TypeTestSection;
use serde::Serialize;
use serde_json::{Map, Value};

/// Fields of the result document, in order.
pub(crate) type Fields = Map<String, Value>;

/// A subject of the report. A face that has nothing to show is empty.
pub(crate) trait Section: Sync {
    /// For a terminal, with its heading and a line end.
    fn text(&self, _report: &Report, _paint: &Paint) -> String {
        String::new()
    }

    /// For the page: a `<section>`, of a report whose foreign texts are safe to show.
    ///
    /// # Errors
    /// A value that cannot be written as text, which none of ours is.
    fn html(&self, _report: &Report) -> askama::Result<String> {
        Ok(String::new())
    }

    /// For the result document.
    fn json(&self, _report: &Report) -> Fields {
        Fields::new()
    }
}

/// The fields of an entry.
pub(crate) fn fields(entry: impl Serialize) -> Fields {
    // An entry is a struct with named fields, and has no value that JSON cannot hold.
    match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        _ => Fields::new(),
    }
}

/// A field with its value; none where there is none.
pub(crate) fn field(name: &str, value: Option<impl Serialize>) -> Fields {
    // No map with keys other than text, and no value that JSON cannot hold.
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    value.map(|value| (name.to_owned(), value)).into_iter().collect()
}

/// The terminal, after its head.
pub(crate) const TERMINAL: [&dyn Section; 17] = [
    &CapacitySection,
    &ContradictionSection,
    &terminal::Part(terminal::checks),
    &terminal::Part(terminal::nics::interfaces),
    &terminal::Part(terminal::budget),
    &terminal::Part(terminal::series::series),
    &terminal::Part(terminal::clock::clocks),
    &terminal::Part(terminal::why::statistics),
    &TypeTestSection,
    &RecordingSection,
    &StallSection,
    &terminal::Part(terminal::worst_samples),
    &terminal::Part(terminal::why::causes),
    &terminal::Part(terminal::events),
    &terminal::Part(terminal::buffers::buffers),
    &terminal::Part(terminal::paced::paced),
    &ReadingsSection,
];

/// The page before its limits.
pub(crate) const PAGE_TOP: [&dyn Section; 2] = [&ContradictionSection, &CapacitySection];

/// The page between its budget and its series.
pub(crate) const PAGE_MIDDLE: [&dyn Section; 3] = [&NetworksSection, &TypeTestSection, &RecordingSection];

/// The page behind its series.
pub(crate) const PAGE_END: [&dyn Section; 1] = [&ReadingsSection];

/// The result document, behind the fields that every run has.
pub(crate) const DOCUMENT: [&dyn Section; 8] = [
    &ContradictionSection,
    &Coverage,
    &StallSection,
    &ReadingsSection,
    &RecordingSection,
    &CapacitySection,
    &TypeTestSection,
    &TablesSection,
];
