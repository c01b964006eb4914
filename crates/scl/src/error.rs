//! Errors of a file, and their places.

use std::fmt;

/// A remark about one element of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the element, from 1.
    pub line: u32,
    /// The element and its name, such as `SampledValueControl MSVCB01 of IED MU01`.
    pub element: String,
    /// The error, and what to do.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.element, self.what)
    }
}

/// A [`Problem`] that does not stop publication or subscription.
pub type Warning = Problem;

/// Reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SclError {
    /// Neither UTF-8, UTF-16 nor ISO-8859-1.
    #[error("octet {at} is not {encoding}, although the file declares it or looks like it: save it as UTF-8")]
    Encoding {
        /// Position of the byte, from 0.
        at: usize,
        /// The encoding with which it was read.
        encoding: &'static str,
    },
    /// Not well-formed XML. The text has line and column.
    #[error("line {line}: not well-formed XML: {what}")]
    Xml {
        /// Line, from 1.
        line: u32,
        /// The error.
        what: String,
    },
    /// XML, but not SCL.
    #[error("line 1: the root element is <{0}>, but an SCL file has <SCL>")]
    NotScl(String),
}
