//! A full audit as text, as JSON (`triptime.audit/1`, see `docs/formats/audit.md`), and as a single HTML file.

use super::{AuditReport, PARTS, WITH_ALL};
use crate::screen::Size;
use crate::section;
use crate::terminal::Paint;
use askama::Template;
use audit::finding::Outcome;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::io;

#[derive(Template)]
#[template(path = "audit.html")]
struct Html<'a> {
    css: &'a str,
    word: &'static str,
    sign: &'static str,
    machine: &'a str,
    tally: String,
    environment: Vec<(&'a str, String)>,
    cpus: &'a str,
    sections: String,
    hidden: usize,
}

impl AuditReport {
    /// Every finding by group, with ANSI colours if `colour` is set; with `all`, also findings that do not apply.
    pub fn text(&self, colour: bool, all: bool) -> String {
        let paint = Paint { colour };
        let mut out = self.head(&paint, Size::LARGEST).join("\n") + "\n";
        for (name, value) in &self.environment {
            let _ = match value {
                Ok(value) => writeln!(out, "{name}: {value}"),
                Err(reason) => writeln!(out, "{name}: unknown, {reason}"),
            };
        }
        let sections = if all { WITH_ALL } else { PARTS };
        format!("{out}\n{}", section::text(&sections, self, &paint))
    }

    /// The audit as one JSON document that ends with a newline.
    ///
    /// # Errors
    /// Only if JSON cannot represent a value, which is not possible for our values.
    pub fn json(&self) -> io::Result<String> {
        section::document(|fields| {
            fields.field("schema", "triptime.audit/1")?;
            fields.field("answer", self.word())?;
            fields.field("machine", &self.machine)?;
            fields.field("environment", self.environment_entry())?;
            fields.field("cpus", &self.cpus)?;
            fields.field("profile", self.profile.as_deref())?;
            fields.field("fails_from", self.fails_from.word())?;
            section::json(&PARTS, self, fields)
        })
    }

    fn environment_entry(&self) -> Map<String, Value> {
        let entry = |(name, value): &(String, Result<String, String>)| {
            let value = match value {
                Ok(value) => Value::from(value.as_str()),
                Err(reason) => json!({ "unknown": reason }),
            };
            (name.clone(), value)
        };
        self.environment.iter().map(entry).collect()
    }

    /// The audit as one self-contained HTML file.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn html(&self) -> Result<String, askama::Error> {
        let environment = self.environment.iter().map(|(name, value)| {
            let value = match value {
                Ok(value) => value.clone(),
                Err(reason) => format!("unknown: {reason}"),
            };
            (name.as_str(), value)
        });
        Html {
            css: crate::html::CSS,
            word: self.word(),
            sign: self.sign(),
            machine: &self.machine,
            tally: self.tally(),
            environment: environment.collect(),
            cpus: &self.cpus,
            sections: section::html(&PARTS, self)?,
            hidden: self.count(Outcome::NotApplicable),
        }
        .render()
    }
}
