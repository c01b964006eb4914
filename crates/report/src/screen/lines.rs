//! Lines that fit the screen.

use super::COLUMNS;
use crate::terminal::{width, wrapped};

/// Column at which the text of a labelled line begins.
pub(super) const INDENT: usize = 8;

/// How much of long texts to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// As much as there is room for on the screen.
    Screen,
    /// The complete text.
    Whole,
}

impl Length {
    /// Maximum number of lines, for a text that has this many lines on the screen.
    pub(crate) fn lines(self, on_the_screen: usize) -> usize {
        match self {
            Self::Screen => on_the_screen,
            Self::Whole => usize::MAX,
        }
    }

    pub(crate) fn fitted(self, text: &str, columns: usize) -> String {
        match self {
            Self::Screen => fitted(text, columns),
            Self::Whole => text.to_owned(),
        }
    }
}

/// Sentences after one label, in at most `most` lines together.
pub(crate) fn spoken(name: &str, sentences: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        // One line is reserved for each following sentence.
        let room = most.saturating_sub(lines.len() + sentences.len() - at - 1).min(2);
        lines.extend(labelled(if at == 0 { name } else { "" }, sentence, room));
    }
    lines
}

/// Sentences after one label, in as many lines as they need.
pub(crate) fn spoken_in_full(name: &str, sentences: &[String]) -> Vec<String> {
    let each = sentences.iter().enumerate();
    each.flat_map(|(at, sentence)| labelled(if at == 0 { name } else { "" }, sentence, usize::MAX))
        .collect()
}

/// A text after a label, aligned at its column, in at most `most` lines.
pub(crate) fn labelled(name: &str, text: &str, most: usize) -> Vec<String> {
    let lines = first_lines(text, COLUMNS - INDENT, most).into_iter().enumerate();
    lines
        .map(|(at, line)| label(if at == 0 { name } else { "" }) + &line)
        .collect()
}

pub(crate) fn label(name: &str) -> String {
    format!("{name:<INDENT$}")
}

/// The first lines of a text, wrapped between words; the last line shows if more was cut off.
pub(crate) fn first_lines(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    // Nothing may be cut, not even a long word.
    if most == usize::MAX {
        return lines;
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = fitted(&format!("{last} …"), columns);
        }
    }
    lines.iter().map(|line| fitted(line, columns)).collect()
}

/// A text of at most this many columns; a longer one is cut off at the end.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns - 1).collect();
    kept.trim_end().to_owned() + "…"
}
