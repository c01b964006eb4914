//! Position of a mistake in a plan: the line of the key itself, and the key that was probably meant.
//!
//! Steps and loads are parsed in two passes, so the parser only knows the line where their table begins.

use super::Plan;
use crate::refusal::{end, is_header, key};
use std::ops::Range;

/// Number of wrong letters in a key for which a similar key is suggested.
const WRONG_LETTERS: usize = 2;

/// The error as the parser writes it, but with the line of the key.
pub(super) fn said(text: &str, error: &toml::de::Error) -> String {
    let meant = meant(error.message());
    let Some((at, line)) = own_line(text, error) else {
        return format!("{}{meant}", error.to_string().trim_end());
    };
    let number = (at + 1).to_string();
    let gap = " ".repeat(number.len());
    let indent = line.len() - line.trim_start().len();
    let mark = " ".repeat(indent) + &"^".repeat(key(line).len());
    format!(
        "TOML parse error at line {number}, column {}\n {gap} |\n {number} | {line}\n {gap} | {mark}\n{}{meant}",
        indent + 1,
        error.message().trim_end()
    )
}

/// The line of the key that an error is about, counted from 0. Needed because the parser only knows the first table of its kind.
fn own_line<'a>(text: &'a str, error: &toml::de::Error) -> Option<(usize, &'a str)> {
    let begin = text.get(..error.span()?.start)?.matches('\n').count();
    let lines: Vec<&str> = text.lines().collect();
    let header = lines.get(begin).filter(|line| is_header(line))?;
    let begins = (begin..lines.len()).filter(|at| lines[*at].trim() == header.trim());
    let tables: Vec<Range<usize>> = begins.map(|at| at..end(&lines, at)).collect();
    // A table is the wrong one if it alone gives the same error.
    let is_wrong = |table: &Range<usize>| {
        let others = |at: &usize| tables.iter().any(|other| other != table && other.contains(at));
        let alone: Vec<&str> = (0..lines.len()).filter(|at| !others(at)).map(|at| lines[at]).collect();
        toml::from_str::<Plan>(&alone.join("\n")).is_err_and(|alone| alone.message() == error.message())
    };
    let mut wrong = tables.iter().find(|table| is_wrong(table))?.clone();
    let at = wrong.find(|at| is_about(error.message(), lines[*at]))?;
    Some((at, lines[at]))
}

/// True if a message names the key of a line, or begins with its value.
fn is_about(message: &str, line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else {
        return false;
    };
    let (key, value) = (key.trim(), value.trim());
    let named = [format!("unknown field `{key}`"), format!("{key} = ")];
    named.iter().any(|begin| message.starts_with(begin))
        || message.trim_end().ends_with(&format!("in `{key}`"))
        || message.contains(&format!("has no \"{key}\""))
        || value.len() > 2 && message.starts_with(value)
}

/// Suggests the nearest of the allowed words, if one is near.
fn meant(message: &str) -> String {
    let nearest = || {
        let (begin, rest) = message.split_once(['`', '"'])?;
        let (wrong, known) = rest.split_once(['`', '"'])?;
        let known: Vec<&str> = match known.split_once("its keys are ") {
            Some((_, keys)) => keys.split(", ").collect(),
            None => known.split('`').skip(1).step_by(2).collect(),
        };
        let is_of_words =
            ["unknown field", "unknown variant", "probe ="].contains(&begin.trim()) || begin.ends_with(" has no ");
        let far = |word: &&str| strsim::damerau_levenshtein(wrong, word);
        let nearest = known.into_iter().min_by_key(far);
        nearest.filter(|word| is_of_words && far(word) <= WRONG_LETTERS)
    };
    nearest().map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}
