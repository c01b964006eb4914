//! Errors of records.

/// An error in a record: the problem, its file and line, and advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComtradeError {
    /// The file.
    pub file: String,
    /// Line of a text, or number of a record in binary data, from 1.
    pub line: Option<u64>,
    /// The error, and advice.
    pub problem: String,
}

impl std::fmt::Display for ComtradeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.file, self.problem),
            None => write!(f, "{}: {}", self.file, self.problem),
        }
    }
}

impl std::error::Error for ComtradeError {}

/// A problem in a line, before the file's name is known.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) line: Option<u64>,
    pub(super) text: String,
}

impl Problem {
    pub(super) fn at(line: u64, text: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            text: text.into(),
        }
    }

    pub(super) fn whole(text: impl Into<String>) -> Self {
        Self {
            line: None,
            text: text.into(),
        }
    }

    pub(super) fn within(self, file: &str) -> ComtradeError {
        ComtradeError {
            file: file.to_owned(),
            line: self.line,
            problem: self.text,
        }
    }
}
