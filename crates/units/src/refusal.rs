//! A refusal: the reason in words, and where it applies.

use std::fmt::{self, Display};

/// The reason why something is refused or cannot be done, with its advice, and where it applies.
///
/// The text has the parts in this order, each followed by a colon: the file or other thing, the line, the key, the reason.
/// Each method puts its part before the text so far, so they are called from the inside out: key, line, thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    of: Option<String>,
    line: Option<usize>,
    key: Option<String>,
    reason: String,
}

impl Refusal {
    /// A refusal that applies nowhere in particular; [`refusal!`](crate::refusal!) formats its reason.
    pub fn new(reason: impl Display) -> Self {
        Self {
            of: None,
            line: None,
            key: None,
            reason: reason.to_string(),
        }
    }

    /// Applies to a key, with its tables before it: `bed.lans`.
    #[must_use]
    pub fn of_key(self, key: impl Display) -> Self {
        Self {
            key: Some(key.to_string()),
            ..self.inside(|it| it.of.is_none() && it.line.is_none() && it.key.is_none())
        }
    }

    /// Applies to a line, from 1.
    #[must_use]
    pub fn at_line(self, line: usize) -> Self {
        Self {
            line: Some(line),
            ..self.inside(|it| it.of.is_none() && it.line.is_none())
        }
    }

    /// Applies to a file or another thing.
    #[must_use]
    pub fn of(self, thing: impl Display) -> Self {
        Self {
            of: Some(thing.to_string()),
            ..self.inside(|it| it.of.is_none())
        }
    }

    /// The line to which it applies, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The key to which it applies.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// This refusal if the place of the next part is free; else its whole text becomes the reason.
    fn inside(self, is_free: fn(&Self) -> bool) -> Self {
        if is_free(&self) { self } else { Self::new(self) }
    }
}

impl Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(of) = &self.of {
            write!(to, "{of}: ")?;
        }
        if let Some(line) = self.line {
            write!(to, "line {line}: ")?;
        }
        if let Some(key) = &self.key {
            write!(to, "{key}: ")?;
        }
        to.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        Self::new(reason)
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::new(reason)
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.to_string()
    }
}

/// The line, from 1, of an octet of a text.
pub fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|octet| **octet == b'\n').count()
}

/// A [`Refusal`] with a formatted reason.
#[macro_export]
macro_rules! refusal {
    ($($reason:tt)*) => { $crate::Refusal::new(format_args!($($reason)*)) };
}

/// Makes a [`Refusal`] of any error.
pub trait Refuse<T> {
    /// Takes the text of the error as the reason.
    ///
    /// # Errors
    /// The error.
    fn refused(self) -> Result<T, Refusal>;

    /// Takes the text of the error as the reason, which applies to a file or another thing.
    ///
    /// # Errors
    /// The error.
    fn refused_of(self, thing: impl Display) -> Result<T, Refusal>;
}

impl<T, E: Display> Refuse<T> for Result<T, E> {
    fn refused(self) -> Result<T, Refusal> {
        self.map_err(Refusal::new)
    }

    fn refused_of(self, thing: impl Display) -> Result<T, Refusal> {
        self.map_err(|error| Refusal::new(error).of(thing))
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Refuse};

    #[test]
    fn the_parts_have_one_order() {
        let name = "lans";
        let refused = refusal!("{name} is 3; at most {}", 2)
            .of_key("bed.lans")
            .at_line(4)
            .of("a.toml");
        assert_eq!(refused.to_string(), "a.toml: line 4: bed.lans: lans is 3; at most 2");
        assert_eq!((refused.line(), refused.key()), (Some(4), Some("bed.lans")));
    }

    #[test]
    fn each_part_is_put_before_the_text_so_far() {
        let said = |refused: Refusal| refused.to_string();
        let file = || refusal!("no").of("a.toml");
        assert_eq!(said(file().of("b.toml")), "b.toml: a.toml: no");
        assert_eq!(said(file().at_line(2)), "line 2: a.toml: no");
        assert_eq!(said(file().of_key("bed")), "bed: a.toml: no");
        assert_eq!(said(refusal!("no").at_line(2).of_key("bed")), "bed: line 2: no");
        assert_eq!(said(refusal!("no").at_line(2).at_line(3)), "line 3: line 2: no");
        assert_eq!(said(refusal!("no").of_key("a").of_key("b")), "b: a: no");
    }

    #[test]
    fn an_error_becomes_the_reason() {
        let wrong = "x".parse::<u8>();
        assert_eq!(wrong.clone().refused(), Err(refusal!("invalid digit found in string")));
        let of_key = wrong.refused_of("cpu").expect_err("not a number");
        assert_eq!(of_key.to_string(), "cpu: invalid digit found in string");
    }
}
