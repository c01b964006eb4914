//! One subject of a report with all its faces, and the pieces that faces are joined of.

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

/// A subject of a report: of a run, or of what `R` is. A face that has nothing to show is empty.
pub(crate) trait Section<R = Report>: Sync {
    /// For a terminal, with its heading and a line end.
    fn text(&self, _report: &R, _paint: &Paint) -> String {
        String::new()
    }

    /// For the page: a `<section>`, of a report whose foreign texts are safe to show.
    ///
    /// # Errors
    /// A value that cannot be written as text, which none of ours is.
    fn html(&self, _report: &R) -> askama::Result<String> {
        Ok(String::new())
    }

    /// Its parts that the head of the page links to.
    fn links(&self, _report: &R) -> Vec<Link> {
        Vec::new()
    }

    /// For the result document.
    ///
    /// # Errors
    /// Of the writer; and a value that JSON cannot hold, which none of ours is.
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

/// Where a document's fields go, one after the other. What is written is not kept.
pub(crate) struct Fields<'a, 'w>(<&'a mut Json<'w> as serde::Serializer>::SerializeMap);

impl Fields<'_, '_> {
    /// Adds a field.
    pub(crate) fn field(&mut self, name: &str, value: impl Serialize) -> io::Result<()> {
        Ok(self.0.serialize_entry(name, &value)?)
    }

    /// Adds a field that is only there with a value.
    pub(crate) fn some(&mut self, name: &str, value: Option<impl Serialize>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.field(name, value))
    }
}

/// Writes a document: an object with the fields that `add` adds, indented, with a line end. Names are as they are, in which JSON's own
/// escapes stand for what is not to be shown.
///
/// # Errors
/// Of `out`; and a value that JSON cannot hold, which none of ours is: `f64` infinities become null.
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

/// A document as text.
pub(crate) fn document(add: impl FnOnce(&mut Fields<'_, '_>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    let written = write_document(&mut out, add);
    // Memory takes everything, and JSON holds every value of ours.
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8_lossy(&out).into_owned()
}

/// For a terminal: an empty line between sections that show something.
pub(crate) fn text<R>(sections: &[&dyn Section<R>], report: &R, paint: &Paint) -> String {
    let parts = sections.iter().map(|section| section.text(report, paint));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// For a page: a line end between sections.
pub(crate) fn html<R>(sections: &[&dyn Section<R>], report: &R) -> askama::Result<String> {
    let parts: Result<Vec<String>, _> = sections.iter().map(|section| section.html(report)).collect();
    Ok(parts?.join("\n"))
}

/// The fields of sections.
pub(crate) fn json<R>(sections: &[&dyn Section<R>], report: &R, fields: &mut Fields<'_, '_>) -> io::Result<()> {
    sections.iter().try_for_each(|section| section.json(report, fields))
}
