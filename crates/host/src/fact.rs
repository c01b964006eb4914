//! The sheet that collects each group of facts.

use std::fmt::Write;

use crate::error::HostError;
use crate::reader::Reader;
use model::Fact;

/// The facts as text, one per line under their group: `name = value <- source`, or `name ? reason <- source`.
pub fn to_text(facts: &[Fact]) -> String {
    let mut text = String::new();
    let mut group = "";
    for fact in facts {
        if fact.group != group {
            group = &fact.group;
            let blank = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{blank}[{group}]");
        }
        let (sign, value) = match &fact.value {
            Ok(value) => ('=', value),
            Err(reason) => ('?', reason),
        };
        let _ = writeln!(text, "{} {sign} {value} <- {}", fact.name, fact.source);
    }
    text
}

/// Facts of one group during gathering.
pub(crate) struct Sheet<'a> {
    pub(crate) reader: &'a Reader,
    group: String,
    facts: Vec<Fact>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(reader: &'a Reader, group: impl Into<String>) -> Self {
        Self {
            reader,
            group: group.into(),
            facts: Vec::new(),
        }
    }

    /// Adds a fact from `value`. A value without a visible character becomes a reason.
    pub(crate) fn add(&mut self, name: &str, source: &str, value: Result<String, HostError>) {
        let value = match value {
            Ok(value) if value.trim().is_empty() => Err("it states nothing".to_owned()),
            Ok(value) => Ok(value),
            Err(error) => Err(error.reason()),
        };
        self.push(name, source, value);
    }

    /// Adds the single line of a file.
    pub(crate) fn line(&mut self, name: &str, path: &str) {
        let value = self.reader.line(path);
        self.add(name, path, value);
    }

    /// Same as [`Sheet::line`]; `absent` is the meaning of a missing file.
    pub(crate) fn line_or(&mut self, name: &str, path: &str, absent: &str) {
        let value = self.reader.line(path);
        self.explained(name, path, value, absent);
    }

    /// Adds a fact from `value`; `absent` is the meaning of a missing file.
    pub(crate) fn explained(&mut self, name: &str, source: &str, value: Result<String, HostError>, absent: &str) {
        match value {
            Err(error) if error.is_absent() && self.has_siblings(source) => {
                self.push(name, source, Err(format!("{} ({absent})", error.reason())));
            }
            other => self.add(name, source, other),
        }
    }

    /// Adds the choice in square brackets of a file such as `always [madvise] never`.
    pub(crate) fn choice(&mut self, name: &str, path: &str, absent: &str) {
        let value = self.reader.line(path).and_then(|line| chosen(path, &line, '[', ']'));
        self.explained(name, path, value, absent);
    }

    /// Adds a 0/1 file as words.
    pub(crate) fn switch(&mut self, name: &str, path: &str, absent: &str) {
        let value = self.reader.line(path).map(|line| match line.as_str() {
            "0" | "N" => "off".to_owned(),
            "1" | "Y" => "on".to_owned(),
            other => other.to_owned(),
        });
        self.explained(name, path, value, absent);
    }

    /// True if the `/proc` or `/sys` that contains `source` exists at all: only then is a missing file evidence.
    fn has_siblings(&self, source: &str) -> bool {
        let witness = if source.starts_with("/proc") {
            "/proc/sys/kernel/osrelease"
        } else if source.starts_with("/sys") {
            "/sys/devices/system/cpu/online"
        } else {
            return true;
        };
        self.reader.exists(witness).unwrap_or(false)
    }

    pub(crate) fn finish(self) -> Vec<Fact> {
        self.facts
    }

    fn push(&mut self, name: &str, source: &str, value: Result<String, String>) {
        self.facts.push(Fact {
            group: self.group.clone(),
            name: name.to_owned(),
            value,
            source: source.to_owned(),
        });
    }
}

/// Choice between `open` and `close`.
pub(crate) fn chosen(path: &str, line: &str, open: char, close: char) -> Result<String, HostError> {
    let choice = line
        .split_once(open)
        .and_then(|(_, rest)| rest.split_once(close))
        .map(|(choice, _)| choice.trim());
    match choice {
        Some(choice) if !choice.is_empty() => Ok(choice.to_owned()),
        _ => Err(HostError::unexpected(path, "one choice in brackets", line)),
    }
}
