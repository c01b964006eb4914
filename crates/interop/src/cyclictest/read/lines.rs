//! Parses lines of text.

use super::super::CyclictestError;

/// A line and its number, from 1.
#[derive(Debug, Clone)]
pub(super) struct NumberedLine {
    /// Number.
    pub(super) number: usize,
    /// The visible text, without control sequences.
    pub(super) text: String,
}

impl NumberedLine {
    /// An error for this line.
    pub(super) fn error(&self, what: impl Into<String>) -> CyclictestError {
        CyclictestError::Line {
            line: self.number,
            what: what.into(),
        }
    }

    /// The numbers after `heading`; `None` if the line has another heading.
    pub(super) fn numbers(&self, heading: &str) -> Result<Option<Vec<u64>>, CyclictestError> {
        let Some(rest) = self.text.strip_prefix(heading) else {
            return Ok(None);
        };
        rest.split_whitespace()
            .map(|word| self.number_of(word))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// A word of the line as a number.
    pub(super) fn number_of(&self, word: &str) -> Result<u64, CyclictestError> {
        word.parse()
            .map_err(|_| self.error(format!("\"{}\" is not a count", shown(word))))
    }
}

/// A word for a message, shortened if it is long.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

/// The lines of a text without a terminal's cursor movements, and without the indent of a report or a mail that quotes them.
pub(super) fn lines(text: &str) -> Vec<NumberedLine> {
    let numbered = text.lines().zip(1..);
    numbered
        .map(|(line, number)| NumberedLine {
            number,
            text: without_escapes(line).trim().to_owned(),
        })
        .collect()
}

/// A line without its control sequences (`ESC [ … letter`).
fn without_escapes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';');
        let Some(end) = end else { return out };
        rest = sequence[end..].strip_prefix(|_: char| true).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
