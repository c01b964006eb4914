//! Lines that fit the screen.

use super::COLUMNS;
use crate::terminal::{width, wrapped};

/// Where the text of a labelled line begins.
pub(super) const INDENT: usize = 8;

/// How much of long texts is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// As much as there is room for.
    Screen,
    /// All.
    Whole,
}

impl Length {
    /// Of a text that has so many lines on the screen.
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

/// Sentences behind one label, in at most so many lines together.
pub(crate) fn spoken(name: &str, sentences: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        // One line stays for each sentence that follows.
        let room = most.saturating_sub(lines.len() + sentences.len() - at - 1).min(2);
        lines.extend(labelled(if at == 0 { name } else { "" }, sentence, room));
    }
    lines
}

/// The same in as many lines as they take.
pub(crate) fn spoken_in_full(name: &str, sentences: &[String]) -> Vec<String> {
    let each = sentences.iter().enumerate();
    each.flat_map(|(at, sentence)| labelled(if at == 0 { name } else { "" }, sentence, usize::MAX))
        .collect()
}

/// A text that begins at its place behind a label, in at most so many lines.
pub(crate) fn labelled(name: &str, text: &str, most: usize) -> Vec<String> {
    let lines = first_lines(text, COLUMNS - INDENT, most).into_iter().enumerate();
    lines
        .map(|(at, line)| label(if at == 0 { name } else { "" }) + &line)
        .collect()
}

pub(crate) fn label(name: &str) -> String {
    format!("{name:<INDENT$}")
}

/// The first lines of a text that is broken between words; the last of them says where more was cut off.
pub(crate) fn first_lines(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    // Nothing is to be cut, a long word neither.
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

/// A text within so many columns, its end cut off where it is longer.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns - 1).collect();
    kept.trim_end().to_owned() + "…"
}
