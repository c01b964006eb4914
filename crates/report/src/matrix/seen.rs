//! Samples over a limit, lost or missed, by cell.

use super::Matrix;
use crate::section::Section;
use crate::terminal::Paint;
use askama::Template;
use std::fmt::Write;

/// The heading of the section.
const SEEN: &str = "Samples over a limit, lost or missed";

/// The section of a matrix.
pub(super) struct SeenSection;

impl Section<Matrix> for SeenSection {
    fn text(&self, matrix: &Matrix, _paint: &Paint) -> String {
        let seen = matrix.seen();
        if seen.is_empty() {
            return String::new();
        }
        let mut out = format!("{SEEN}\n");
        for (cell, lines) in seen {
            let _ = writeln!(out, "  {cell}");
            for line in lines {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }

    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        Html {
            seen_title: SEEN,
            seen: matrix.seen(),
        }
        .render()
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% if !seen.is_empty() %}<section>
  <h2>{{ seen_title }}</h2>
  {% for cell in seen %}<h3>{{ cell.0 }}</h3>
  <ul class="rules">{% for line in cell.1 %}<li>{{ line }}</li>{% endfor %}</ul>{% endfor %}
</section>{% endif %}"##
)]
struct Html {
    seen_title: &'static str,
    seen: Vec<(String, Vec<String>)>,
}

impl Matrix {
    /// Samples over a limit, lost or missed, for each cell that has any.
    fn seen(&self) -> Vec<(String, Vec<String>)> {
        let all = self.cells.iter().map(|cell| (cell.conditions.words(), cell.seen()));
        all.filter(|(_, lines)| !lines.is_empty()).collect()
    }
}
