//! Differences between cells, one sentence for each conclusion.

use super::Matrix;
use super::conclusion::{Conclusion, Factor};
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use askama::Template;
use std::fmt::Write;
use std::io;

/// The section of a matrix.
pub(super) struct DifferencesSection;

impl Section<Matrix> for DifferencesSection {
    fn text(&self, matrix: &Matrix, _paint: &Paint) -> String {
        let mut out = "Differences\n".to_owned();
        for conclusion in &matrix.conclusions {
            let _ = writeln!(out, "  {}", conclusion.text());
        }
        let _ = writeln!(out, "  {}", matrix.how_sure());
        out
    }

    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        Html {
            differences: matrix.differences(),
            how_sure: matrix.how_sure(),
        }
        .render()
    }

    fn json(&self, matrix: &Matrix, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let all = matrix.conclusions.iter().map(Conclusion::json);
        fields.field("conclusions", all.collect::<Vec<_>>())
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section>
  <h2>Differences</h2>
  {% for group in differences %}<h3>By {{ group.0 }}</h3>
  <ul class="rules">{% for line in group.1 %}<li>{{ line }}</li>{% endfor %}</ul>{% endfor %}
  <p class="note">{{ how_sure }}</p>
</section>"##
)]
struct Html {
    differences: Vec<(&'static str, Vec<String>)>,
    how_sure: &'static str,
}

impl Matrix {
    /// The sentences, grouped by the condition in which the cells differ.
    fn differences(&self) -> Vec<(&'static str, Vec<String>)> {
        let of = |factor: Factor| {
            let all = self.conclusions.iter().filter(|one| one.factor == factor);
            (factor.word(), all.map(Conclusion::text).collect::<Vec<_>>())
        };
        let all = Factor::ALL.map(of);
        all.into_iter().filter(|(_, texts)| !texts.is_empty()).collect()
    }

    /// The confidence in all sentences together.
    pub(super) fn how_sure(&self) -> &'static str {
        match self.conclusions.is_empty() {
            true => "None: no two measured cells differ in place, network, management network or isolation alone.",
            false => {
                "Statements without \"not sure\" are true together (95 %). Each compares a cell with the first similar one."
            }
        }
    }
}
