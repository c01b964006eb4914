//! One subject of a report in all output formats, and helpers to combine them.

#[cfg(test)]
mod tests;

use crate::Report;
use crate::terminal::Paint;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer as _};
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;
use std::io;
use units::foreign::JsonWriter;

/// A section of a report, by default of a run's report. A format without content is empty.
pub(crate) trait Section<R = Report>: Sync {
    /// Text for a terminal, with a heading and a final newline.
    fn text(&self, _report: &R, _paint: &Paint) -> String {
        String::new()
    }

    /// HTML for the page: a `<section>`, from a report whose foreign texts are safe to show.
    ///
    /// # Errors
    /// A value that cannot be written as text, which is not possible for our values.
    fn html(&self, _report: &R) -> askama::Result<String> {
        Ok(String::new())
    }

    /// Its parts that the head of the page links to.
    fn links(&self, _report: &R) -> Vec<Link> {
        Vec::new()
    }

    /// Writes its fields of the result document.
    ///
    /// # Errors
    /// The errors of the writer, or a value that JSON cannot represent, which is not possible for our values.
    fn json(&self, _report: &R, _fields: &mut Fields<'_, '_>) -> io::Result<()> {
        Ok(())
    }
}

/// A part of the page.
pub(crate) struct Link {
    pub(crate) id: String,
    pub(crate) title: String,
}

impl Link {
    pub(crate) fn to(id: &str, title: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
        }
    }
}

type Json<'w> = Serializer<JsonWriter<&'w mut dyn io::Write>, PrettyFormatter<'static>>;

/// Writer for the fields of a document, one after the other. Written fields are not kept in memory.
pub(crate) struct Fields<'a, 'w>(<&'a mut Json<'w> as serde::Serializer>::SerializeMap);

impl Fields<'_, '_> {
    /// Adds a field.
    pub(crate) fn field(&mut self, name: &str, value: impl Serialize) -> io::Result<()> {
        Ok(self.0.serialize_entry(name, &value)?)
    }

    /// Adds a field if it has a value.
    pub(crate) fn some(&mut self, name: &str, value: Option<impl Serialize>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.field(name, value))
    }
}

/// Writes a document: an object with the fields that `add` adds, indented, with a final newline. Names are unchanged;
/// characters that are not safe to show are written as JSON escapes.
///
/// # Errors
/// The errors of `out`, or a value that JSON cannot represent, which is not possible for our values: `f64` infinities
/// become null.
pub(crate) fn write_document(
    out: &mut dyn io::Write,
    add: impl FnOnce(&mut Fields<'_, '_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut json = Serializer::pretty(JsonWriter(out));
    let mut fields = Fields(json.serialize_map(None)?);
    add(&mut fields)?;
    fields.0.end()?;
    writeln!(json.into_inner().0)
}

/// The document as text.
///
/// # Errors
/// Same as [`write_document`], except that memory takes everything.
pub(crate) fn document(add: impl FnOnce(&mut Fields<'_, '_>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write_document(&mut out, add)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Text for a terminal: an empty line separates sections with content.
pub(crate) fn text<R>(sections: &[&dyn Section<R>], report: &R, paint: &Paint) -> String {
    let parts = sections.iter().map(|section| section.text(report, paint));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// HTML for a page: a newline separates sections.
pub(crate) fn html<R>(sections: &[&dyn Section<R>], report: &R) -> askama::Result<String> {
    let parts: Result<Vec<String>, _> = sections.iter().map(|section| section.html(report)).collect();
    Ok(parts?.join("\n"))
}

/// Writes the fields of all sections.
pub(crate) fn json<R>(sections: &[&dyn Section<R>], report: &R, fields: &mut Fields<'_, '_>) -> io::Result<()> {
    sections.iter().try_for_each(|section| section.json(report, fields))
}
