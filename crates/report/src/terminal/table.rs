//! Text in columns.

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

enum Row {
    Cells(Vec<String>),
    /// A separate line below the row before it.
    Note(String),
}

/// A table of text; colour sequences in cells do not count as width.
pub(crate) struct TextTable {
    heads: Vec<(String, Align)>,
    rows: Vec<Row>,
}

impl TextTable {
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let mut table = Self {
            heads: Vec::new(),
            rows: Vec::new(),
        };
        table.columns(columns);
        table
    }

    pub(crate) fn columns(&mut self, columns: &[(&str, Align)]) {
        self.heads
            .extend(columns.iter().map(|(name, align)| ((*name).to_owned(), *align)));
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a note below the last row; an empty note is left out.
    pub(crate) fn note(&mut self, text: &str) {
        if !text.is_empty() {
            self.rows.push(Row::Note(text.to_owned()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let mut out = self.line(&widths, self.heads.iter().map(|(name, _)| name.as_str()));
        for row in &self.rows {
            match row {
                Row::Cells(cells) => out.push_str(&self.line(&widths, cells.iter().map(String::as_str))),
                Row::Note(text) => {
                    let indent = " ".repeat(widths.first().copied().unwrap_or(0) + 4);
                    for line in wrapped(text, NOTE_WIDTH) {
                        out.push_str(&format!("{indent}{line}\n"));
                    }
                }
            }
        }
        out
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|(name, _)| width(name)).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (widest, cell) in widths.iter_mut().zip(cells) {
                    *widest = (*widest).max(width(cell));
                }
            }
        }
        widths
    }

    fn line<'a>(&self, widths: &[usize], cells: impl Iterator<Item = &'a str>) -> String {
        let mut line = String::new();
        for (cell, (wide, (_, align))) in cells.zip(widths.iter().zip(&self.heads)) {
            let pad = " ".repeat(wide.saturating_sub(width(cell)));
            line.push_str("  ");
            match align {
                Align::Left => line.extend([cell, &pad]),
                Align::Right => line.extend([pad.as_str(), cell]),
            }
        }
        format!("{}\n", line.trim_end())
    }
}

/// Maximum width of a note.
const NOTE_WIDTH: usize = 100;

/// Wraps a text between words into lines of at most this many columns; a number is never split.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The words of a text; groups of three digits stay together with those before them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_group = word.len() >= 3 && word.bytes().take(3).all(|octet| octet.is_ascii_digit());
        let is_whole = word.bytes().skip(3).all(|octet| !octet.is_ascii_digit());
        let follows = words
            .last()
            .is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match words.last_mut() {
            Some(last) if is_group && is_whole && follows => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Number of visible characters: all except those of colour sequences.
pub(crate) fn width(text: &str) -> usize {
    let mut in_colour = false;
    let mut n = 0;
    for c in text.chars() {
        match (in_colour, c) {
            (false, '\x1b') => in_colour = true,
            (false, _) => n += 1,
            (true, 'm') => in_colour = false,
            (true, _) => {}
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::{Align, NOTE_WIDTH, TextTable, wrapped};

    #[test]
    fn long_notes_break_between_words() {
        let lines = wrapped(&"some words ".repeat(20), NOTE_WIDTH);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() <= NOTE_WIDTH));
        assert_eq!(wrapped("short", NOTE_WIDTH), ["short"]);
        assert_eq!(wrapped("of 1 234 567 late", 12), ["of 1 234 567", "late"]);
        assert_eq!(wrapped("only 1 234", 8), ["only", "1 234"]);
    }

    #[test]
    fn columns_line_up_and_colours_do_not_count() {
        let mut table = TextTable::new(&[("name", Align::Left), ("value", Align::Right), ("", Align::Left)]);
        table.row(vec!["\x1b[1ma\x1b[0m".into(), "1.00 µs".into(), "x".into()]);
        table.note("why");
        table.note("");
        table.row(vec!["longer".into(), "2 ms".into(), String::new()]);
        let wanted = "  name      value\n  \x1b[1ma\x1b[0m       1.00 µs  x\n          why\n  longer     2 ms\n";
        assert_eq!(table.text(), wanted);
    }
}
