//! Lines that fit the screen.

use super::{COLUMNS, LINES};
use crate::terminal::{width, wrapped};

/// Column at which the text of a labelled line begins.
pub(super) const INDENT: usize = 8;

/// End of a reason that is cut: the option that shows all of it, as the last line of the answer does.
const WHOLE_WITH: &str = " --full";

/// Smallest terminal for which an answer is laid out; a smaller one wraps or scrolls.
const FEWEST_COLUMNS: usize = 72;
const FEWEST_LINES: usize = 20;

/// The room for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns of a line.
    pub(crate) columns: usize,
    /// Lines of the whole answer, as long as it is cut.
    pub(crate) lines: usize,
    /// True if nothing may be cut: for a file or pipe.
    pub(crate) is_whole: bool,
}

impl Size {
    /// The largest answer, which every page of a guide shows.
    pub const LARGEST: Self = Self {
        columns: COLUMNS,
        lines: LINES,
        is_whole: false,
    };

    /// Complete texts, in as many lines as they need.
    pub(crate) const WHOLE: Self = Self {
        is_whole: true,
        ..Self::LARGEST
    };

    /// The room in a terminal: one line stays free for the prompt, so that the first line of the answer stays on the screen.
    pub fn of_terminal(columns: u16, lines: u16) -> Self {
        Self {
            columns: usize::from(columns).clamp(FEWEST_COLUMNS, COLUMNS),
            lines: usize::from(lines).saturating_sub(1).clamp(FEWEST_LINES, LINES),
            is_whole: false,
        }
    }

    /// Maximum number of lines, for a text that has this many lines on the screen.
    pub(crate) fn most(self, on_the_screen: usize) -> usize {
        if self.is_whole { usize::MAX } else { on_the_screen }
    }

    /// A text of at most this many columns, unless nothing may be cut.
    pub(crate) fn fitted(self, text: &str, columns: usize) -> String {
        if self.is_whole {
            text.to_owned()
        } else {
            fitted(text, columns)
        }
    }

    /// A text of at most this many columns; the end of a cut one says which option shows all of it.
    pub(crate) fn pointed(self, text: &str, columns: usize) -> String {
        match self.is_whole || width(text) <= columns {
            true => text.to_owned(),
            false => fitted(text, columns - WHOLE_WITH.len()) + WHOLE_WITH,
        }
    }

    /// The first `most` of these lines; the end of the last one says which option shows the others.
    pub(crate) fn first_pointed(self, lines: &[String], most: usize, columns: usize) -> Vec<String> {
        if self.is_whole || lines.len() <= most {
            return lines.to_vec();
        }
        let mut first = lines[..most].to_vec();
        if let Some(last) = first.last_mut() {
            *last = self.pointed(&format!("{last} {}", lines[most..].join(" ")), columns);
        }
        first
    }

    /// Sentences after one label, in at most `most` lines together: half a step helps nobody, so that only the first may be cut.
    pub(crate) fn spoken(self, name: &str, sentences: &[String], most: usize) -> Vec<String> {
        let most = self.most(most);
        let mut lines: Vec<String> = Vec::new();
        for sentence in sentences {
            let label = if lines.is_empty() { name } else { "" };
            let whole = self.labelled(label, sentence, usize::MAX);
            if lines.len().saturating_add(whole.len()) <= most {
                lines.extend(whole);
            } else if lines.is_empty() {
                lines.extend(self.labelled(label, sentence, most));
            }
        }
        lines
    }

    /// A text after a label, aligned at its column, in at most `most` lines.
    pub(crate) fn labelled(self, name: &str, text: &str, most: usize) -> Vec<String> {
        let lines = first_lines(text, self.columns - INDENT, most).into_iter().enumerate();
        lines
            .map(|(at, line)| label(if at == 0 { name } else { "" }) + &line)
            .collect()
    }

    /// A text from this column on, in at most `most` lines; the columns before it are blank.
    pub(crate) fn after(self, text: &str, column: usize, most: usize) -> Vec<String> {
        let lines = match self.is_whole {
            true => vec![text.to_owned()],
            false => first_lines(text, self.columns - column, most),
        };
        lines.iter().map(|line| " ".repeat(column) + line).collect()
    }

    /// A text from column 1 on, in at most `most` lines.
    pub(crate) fn first_lines(self, text: &str, most: usize) -> Vec<String> {
        first_lines(text, self.columns, most)
    }
}

pub(crate) fn label(name: &str) -> String {
    format!("{name:<INDENT$}")
}

/// The first lines of a text, wrapped between words; the last line shows if more was cut off.
fn first_lines(text: &str, columns: usize, most: usize) -> Vec<String> {
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

/// Lines of the screen that these lines take: one that is never cut, such as a command, may need more than one.
pub(crate) fn rows_of(lines: &[String], columns: usize) -> usize {
    lines.iter().map(|line| width(line).div_ceil(columns).max(1)).sum()
}
