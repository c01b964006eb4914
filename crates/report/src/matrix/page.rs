//! A matrix as text, as JSON (`triptime.matrix/1`, see `docs/formats/matrix.md`), and as one HTML file.

use super::cell::Cell;
use super::{DOCUMENT, Matrix, PAGE, TERMINAL};
use crate::section::{self, Fields, Section};
use crate::tables::Published;
use crate::terminal::Paint;
use askama::Template;
use std::io;

/// Name and version of the document's format.
const SCHEMA: &str = "triptime.matrix/1";

#[derive(Template)]
#[template(path = "matrix.html")]
struct Html<'a> {
    css: &'a str,
    name: &'a str,
    sections: String,
}

impl Matrix {
    /// The whole matrix, for a terminal.
    pub fn text(&self) -> String {
        section::text(&TERMINAL, self, &Paint { colour: false })
    }

    /// The matrix as one JSON document that ends with a newline.
    ///
    /// # Errors
    /// Only if JSON cannot represent a value, which is not possible for our values.
    pub fn json(&self) -> io::Result<String> {
        section::document(|fields| {
            fields.field("schema", SCHEMA)?;
            fields.field("name", &self.name)?;
            fields.field("confidence", crate::bound::CONFIDENCE)?;
            section::json(&DOCUMENT, self, fields)
        })
    }

    /// The matrix as one self-contained HTML file.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn html(&self) -> Result<String, askama::Error> {
        Html {
            css: &[crate::html::CSS, crate::html::PICTURE_CSS].concat(),
            name: &self.name,
            sections: section::html(&PAGE, self)?,
        }
        .render()
    }
}

/// Maximum (mean) of each kind, one row for each cell.
pub(super) struct CellsSection;

impl Section<Matrix> for CellsSection {
    fn text(&self, matrix: &Matrix, _paint: &Paint) -> String {
        matrix.table().text()
    }

    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        let tables = vec![matrix.table()];
        Published { tables }.render()
    }

    fn json(&self, matrix: &Matrix, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("cells", matrix.cells.iter().map(Cell::json).collect::<Vec<_>>())
    }
}

/// The run files of each cell.
pub(super) struct FilesSection;

impl Section<Matrix> for FilesSection {
    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        let row = |cell: &Cell| (cell.conditions.words(), cell.files.join(" "));
        let files = matrix.cells.iter().map(row).collect();
        Files { files }.render()
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section>
  <h2>Run files</h2>
  <table class="figures"><tbody>{% for file in files %}<tr><td>{{ file.0 }}</td><td>{{ file.1 }}</td></tr>{% endfor %}</tbody></table>
</section>"##
)]
struct Files {
    files: Vec<(String, String)>,
}
