//! The lines and fields of a configuration.

use super::error::Problem;
use std::borrow::Cow;

/// End-of-file character of DOS, which some recorders still append.
const SUBSTITUTE: char = '\u{1a}';

/// Text from bytes: UTF-8, with or without a byte order mark, otherwise ISO-8859-1. With other encodings (GBK) names get wrong letters, but commas
/// and numbers stay correct.
pub(super) fn decode(octets: &[u8]) -> Cow<'_, str> {
    let octets = octets.strip_prefix(b"\xef\xbb\xbf").unwrap_or(octets);
    match std::str::from_utf8(octets) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(octets.iter().copied().map(char::from).collect()),
    }
}

/// The lines of a text, one after the other.
pub(super) struct Lines<'a> {
    lines: std::str::Lines<'a>,
    number: u64,
}

/// One line, split at its commas, without blanks around the fields.
#[derive(Debug)]
pub(super) struct TextLine<'a> {
    pub(super) number: u64,
    pub(super) fields: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            lines: text.lines(),
            number: 0,
        }
    }

    /// The next line; `None` after the last.
    pub(super) fn next(&mut self) -> Option<TextLine<'a>> {
        let text = self.lines.next()?;
        self.number += 1;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == SUBSTITUTE);
        Some(TextLine {
            number: self.number,
            fields: text.split(',').map(str::trim).collect(),
        })
    }

    /// The next line, which must exist: `what` names its content for the error.
    pub(super) fn expect(&mut self, what: &str) -> Result<TextLine<'a>, Problem> {
        self.next().ok_or_else(|| {
            Problem::at(
                self.number + 1,
                format!("the file ends before {what}: it is incomplete, fetch it again"),
            )
        })
    }
}

impl<'a> TextLine<'a> {
    /// Field `index`; empty if the line is shorter.
    pub(super) fn text(&self, index: usize) -> &'a str {
        self.fields.get(index).copied().unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.iter().all(|field| field.is_empty())
    }

    /// Field `index` as a finite number; `default` if it is empty.
    pub(super) fn number_or(&self, index: usize, what: &str, default: f64) -> Result<f64, Problem> {
        match self.text(index) {
            "" => Ok(default),
            _ => self.required(index, what),
        }
    }

    /// Field `index` as a finite number.
    pub(super) fn required(&self, index: usize, what: &str) -> Result<f64, Problem> {
        let text = self.text(index);
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            self.problem(format!(
                "{what} is \"{text}\": expected a number in field {}",
                index + 1
            ))
        })
    }

    /// Field `index` as a count.
    pub(super) fn count(&self, index: usize, what: &str) -> Result<u64, Problem> {
        let text = self.text(index);
        text.parse().map_err(|_| {
            self.problem(format!(
                "{what} is \"{text}\": expected a whole number in field {}",
                index + 1
            ))
        })
    }

    pub(super) fn problem(&self, text: impl Into<String>) -> Problem {
        Problem::at(self.number, text)
    }
}
