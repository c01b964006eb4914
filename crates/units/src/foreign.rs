//! Makes text from other sources safe to display.
//!
//! An svID, a file name or an event in a run file was chosen by somebody else. Displayed unchanged, it can move the
//! terminal's cursor, reverse the direction of the line, or imitate another name. Everything that triptime displays
//! passes through this module.
//!
//! Characters that are not safe to display become `\u{…}` with their number in hexadecimal, and a backslash is doubled:
//! texts that differ are displayed differently.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;

/// Characters that begin a formula in a spreadsheet, and the apostrophe, which marks text.
const FORMULA: [char; 5] = ['=', '+', '-', '@', '\''];

/// True if a character does more than appear in its place: controls (C0, DEL, C1), line and paragraph separators,
/// changes of the writing direction, characters without width, invisible fillers, noncharacters and private characters.
#[inline]
pub fn is_unfit(c: char) -> bool {
    !matches!(c, ' '..='~') && is_unfit_beyond(c)
}

/// Like [`is_unfit`], for characters outside printable ASCII.
fn is_unfit_beyond(c: char) -> bool {
    let code = u32::from(c);
    c.is_control()
        || matches!(
            c,
            // Soft hyphen, Arabic letter mark, Hangul fillers, invisible Khmer vowels, Mongolian separators.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Zero width, marks and embeddings of direction, separators, isolates, invisible operators, digit shapes.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Filler, private use, variation selectors, byte order mark, half-width filler, annotations.
            | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            // Format controls of musical notation and shorthand.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags, further variation selectors, private planes.
            | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..
        )
        || (0xfdd0..=0xfdef).contains(&code)
        || code & 0xfffe == 0xfffe
}

/// True if a space can be mistaken for another kind of space, or is not visible.
fn is_odd_space(c: char) -> bool {
    c != ' ' && c.is_whitespace()
}

fn is_escaped(c: char) -> bool {
    c == '\\' || is_unfit(c) || is_odd_space(c)
}

/// A text as it may be displayed on one line: without unfit characters ([`is_unfit`]) and line ends.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push(&mut out, c);
    }
    Cow::Owned(out)
}

fn push(out: &mut String, c: char) {
    if c == '\\' {
        out.push_str("\\\\");
    } else if is_escaped(c) {
        // Writing to a String cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

/// Values that contain text from other sources, which can be made safe to display in place. Apply it only once: a
/// backslash is doubled each time.
pub trait Show {
    /// Converts every text in the value with [`shown`].
    fn show(&mut self);

    /// Returns the value, made safe to display.
    #[must_use]
    fn shown(&self) -> Self
    where
        Self: Clone,
    {
        let mut copy = self.clone();
        copy.show();
        copy
    }
}

impl Show for String {
    fn show(&mut self) {
        if let Cow::Owned(safe) = shown(self) {
            *self = safe;
        }
    }
}

impl Show for PathBuf {
    fn show(&mut self) {
        *self = Self::from(shown(&self.to_string_lossy()).into_owned());
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&mut self) {
        self.iter_mut().for_each(Show::show);
    }
}

impl<T: Show> Show for Option<T> {
    fn show(&mut self) {
        self.iter_mut().for_each(Show::show);
    }
}

impl<A: Show, B: Show> Show for (A, B) {
    fn show(&mut self) {
        self.0.show();
        self.1.show();
    }
}

impl<A: Show, B: Show> Show for Result<A, B> {
    fn show(&mut self) {
        match self {
            Ok(known) => known.show(),
            Err(why) => why.show(),
        }
    }
}

/// Like [`shown`], for a table cell that a spreadsheet may read. A text that would be a formula gets an apostrophe in
/// front, which marks it as text; so does a text that begins with an apostrophe.
pub fn cell(text: &str) -> Cow<'_, str> {
    match shown(text) {
        Cow::Borrowed(text) => cell_of_shown(text),
        Cow::Owned(text) => Cow::Owned(cell_of_shown(&text).into_owned()),
    }
}

/// Like [`cell`], for a text that [`shown`] has already converted.
pub fn cell_of_shown(shown: &str) -> Cow<'_, str> {
    match shown.starts_with(FORMULA) {
        true => Cow::Owned(format!("'{shown}")),
        false => Cow::Borrowed(shown),
    }
}

/// Converts a message that contains text from other sources and may have several lines: every character except line
/// ends as with [`shown`]. Every further line is indented, so that none looks like a line of triptime's own.
pub fn message(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' => out.push_str("\n  "),
            c => push(&mut out, c),
        }
    }
    out
}

/// Replaces every unfit character in a JSON text by its `\u` escape. In JSON these characters can only be in strings,
/// so readers get exactly the original texts.
pub fn json(text: String) -> String {
    if is_plain(text.as_bytes()) || text.chars().all(is_of_json) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_of_json(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// True if this character may appear unescaped in our JSON texts.
fn is_of_json(c: char) -> bool {
    matches!(c, '\n' | ' ') || !is_unfit(c) && !is_odd_space(c)
}

/// True if the text has only printable ASCII and line ends. Most JSON texts do, and the check is fast.
fn is_plain(octets: &[u8]) -> bool {
    octets.iter().all(|octet| matches!(octet, b' '..=b'~' | b'\n'))
}

/// Writer for a JSON text in pieces; the output is the same as that of [`json`] for the whole text.
///
/// Each piece must consist of whole characters, as serializers write them; writing fails with `InvalidData` for bytes
/// that are not UTF-8.
pub struct JsonWriter<W>(pub W);

impl<W: io::Write> io::Write for JsonWriter<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if is_plain(octets) {
            self.0.write_all(octets)?;
            return Ok(octets.len());
        }
        let text = str::from_utf8(octets).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.0.write_all(json(text.to_owned()).as_bytes())?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonWriter, cell, is_unfit, json, message, shown};
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use std::io::Write as _;

    #[test]
    fn what_a_terminal_acts_on_is_not_left() {
        let text = "MU\u{1b}[2J\u{7}\u{9b}1m\u{202e}SSAP\u{200b}\u{2028}\n\\";
        assert_eq!(
            shown(text),
            "MU\\u{1b}[2J\\u{7}\\u{9b}1m\\u{202e}SSAP\\u{200b}\\u{2028}\\u{a}\\\\"
        );
        assert_eq!(shown("Schutz Ü1/µ – 漢字"), "Schutz Ü1/µ – 漢字");
    }

    #[test]
    fn a_spreadsheet_sees_text() {
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("@x"), "'@x");
        assert_eq!(cell("'=1"), "''=1");
        assert_eq!(cell("\t=1"), "\\u{9}=1");
        assert_eq!(cell("a=1"), "a=1");
    }

    #[test]
    fn a_message_keeps_its_lines_and_nothing_can_forge_one() {
        assert_eq!(
            message("a: not a file\nPASS \u{1b}[1m\\u{1b}"),
            "a: not a file\n  PASS \\u{1b}[1m\\\\u{1b}"
        );
    }

    proptest! {
        #[test]
        fn no_two_texts_are_shown_the_same(a in any::<String>(), b in any::<String>(), c in "[\\\\u{}1b\u{1b}]{0,8}", d in "[\\\\u{}1b\u{1b}]{0,8}") {
            for (one, other) in [(&a, &b), (&c, &d), (&a, &c)] {
                prop_assert_eq!(one == other, shown(one) == shown(other));
                prop_assert_eq!(one == other, cell(one) == cell(other));
            }
        }

        #[test]
        fn nothing_unfit_is_left(text in any::<String>()) {
            prop_assert!(!shown(&text).chars().any(is_unfit));
            prop_assert!(!cell(&text).chars().any(is_unfit));
            prop_assert!(!message(&text).chars().any(|c| c != '\n' && is_unfit(c)));
        }
    }

    #[test]
    fn json_says_the_same_in_other_words() {
        let text = "{\"a\": \"\u{9b}\u{202e}\u{e0001}x\\\\\"\n}".to_owned();
        assert_eq!(json(text), "{\"a\": \"\\u009b\\u202e\\udb40\\udc01x\\\\\"\n}");
    }

    proptest! {
        #[test]
        fn json_in_pieces_is_that_of_the_whole(pieces in proptest::collection::vec(any::<String>(), 0..5)) {
            let mut out = JsonWriter(Vec::new());
            for piece in &pieces {
                out.write_all(piece.as_bytes()).expect("room");
            }
            prop_assert_eq!(out.0, json(pieces.concat()).into_bytes());
        }
    }

    #[test]
    fn what_is_no_text_is_not_written_as_json() {
        let mut out = JsonWriter(Vec::new());
        assert!(out.write_all(b"\xff").is_err());
        assert!(out.0.is_empty());
    }
}
