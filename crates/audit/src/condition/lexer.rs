//! Splits a condition into words and signs.

use super::ConditionError;

/// One word or sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Text(&'a str),
    /// A name, a keyword or a path.
    Word(&'a str),
    Sign(&'static str),
}

const SIGNS: [&str; 14] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", "+", "-", "*"];

/// Tokens of `text`, each with the text that begins with it.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, &str)>, ConditionError> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, length) = next(rest)?;
        found.push((token, rest));
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn next(rest: &str) -> Result<(Token<'_>, usize), ConditionError> {
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        let end = inner
            .find('\'')
            .ok_or_else(|| error(rest, "the text has no closing '"))?;
        return Ok((Token::Text(&inner[..end]), end + 2));
    }
    let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
    if length == 0 {
        return Err(error(rest, "this character is not allowed here"));
    }
    let word = &rest[..length];
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((Token::Word(word), length));
    }
    match word.parse() {
        Ok(number) => Ok((Token::Number(number), length)),
        Err(_) => Err(error(rest, "a number was expected")),
    }
}

/// True if a character belongs to a name, a path or a number. A minus inside is a hyphen: `a - b` is written with spaces.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./{}:-".contains(c)
}

pub(super) fn error(near: &str, what: &str) -> ConditionError {
    ConditionError {
        near: near.chars().take(40).collect(),
        what: what.to_owned(),
    }
}
