//! A comparison as text, as JSON (`triptime.compare/1`, see `docs/formats/compare-json.md`), and as one HTML file.

use super::answer::AnswerScreen;
use super::{Comparison, DOCUMENT, PAGE, TERMINAL};
use crate::section;
use crate::terminal::Paint;
use askama::Template;
use std::io;
use units::foreign::Show;
use units::format_ns;

/// Name and version of the document's format.
const SCHEMA: &str = "triptime.compare/1";

#[derive(Template)]
#[template(path = "compare.html")]
struct Html<'a> {
    css: &'a str,
    answer: Vec<String>,
    runs: Vec<[String; 4]>,
    sections: String,
}

impl Comparison {
    /// The whole comparison, for a terminal.
    pub fn text(&self) -> String {
        section::text(&TERMINAL, &self.shown(), &Paint { colour: false })
    }

    /// The comparison as JSON text, indented, with a line end.
    ///
    /// # Errors
    /// Only if JSON cannot represent a value, which is not possible for our values.
    pub fn json(&self) -> io::Result<String> {
        section::document(|fields| {
            fields.field("schema", SCHEMA)?;
            section::json(&DOCUMENT, self, fields)
        })
    }

    /// The comparison as one self-contained HTML file.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn html(&self) -> Result<String, askama::Error> {
        let comparison = &self.shown();
        Html {
            css: &[crate::html::CSS, crate::html::PICTURE_CSS].concat(),
            answer: answer(comparison),
            runs: comparison.runs.iter().map(row).collect(),
            sections: section::html(&PAGE, comparison)?,
        }
        .render()
    }
}

fn row((name, run): &(String, model::RunView)) -> [String; 4] {
    [
        name.clone(),
        run.info.command.clone(),
        format_ns(run.duration_ns as f64),
        run.file.display().to_string(),
    ]
}

/// The answer above the sections: the sentences, the limits, and the differences in the set-up.
fn answer(comparison: &Comparison) -> Vec<String> {
    let answer = AnswerScreen::of(comparison);
    let limits = answer.of_limits.map(|text| format!("Limits: {text}."));
    let set_up = (!answer.differs.is_empty()).then(|| format!("Set-up: {}.", answer.differs.join("; ")));
    answer.sentences.into_iter().chain(limits).chain(set_up).collect()
}
