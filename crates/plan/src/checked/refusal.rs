//! A refusal of the rules over a whole plan: the key, its line, and what to do.

use std::fmt;
use std::ops::Range;

/// A mistake in a plan that is TOML with known keys, and cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Number of the step, from 0, whose key it is; `None`: a key of the plan.
    step: Option<usize>,
    /// The key, its tables before it with dots: `bed.networks`.
    key: String,
    /// The problem, and what to do.
    problem: String,
}

impl Refusal {
    /// Of a key of the plan.
    pub(crate) fn of(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            step: None,
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// Of a key of step number `step`, from 0.
    pub(crate) fn of_step(step: usize, key: &str, problem: impl Into<String>) -> Self {
        Self {
            step: Some(step),
            ..Self::of(key, problem)
        }
    }

    /// With the line in the text of the plan, if the key or its table is written there.
    pub(super) fn in_text(&self, text: &str) -> String {
        match self.line(text) {
            Some(line) => format!("line {line}: {self}"),
            None => self.to_string(),
        }
    }

    fn line(&self, text: &str) -> Option<usize> {
        let lines: Vec<&str> = text.lines().collect();
        if let Some(step) = self.step {
            let table = tables(&lines, "step").nth(step)?;
            return Some(1 + line_of_key(&lines, table.clone(), &self.key).unwrap_or(table.start));
        }
        // In the innermost table that is written as one: `[matrix.management.office]`, or a key of `[matrix]`.
        let ends = self.key.match_indices('.').map(|(at, _)| at);
        let mut splits: Vec<usize> = ends.chain([self.key.len()]).collect();
        splits.reverse();
        let in_table = splits.into_iter().find_map(|at| {
            let (table, key) = self.key.split_at(at);
            let table = tables(&lines, table).next()?;
            Some(line_of_key(&lines, table.clone(), first(key.trim_start_matches('.'))).unwrap_or(table.start))
        });
        let top = 0..lines.iter().position(|line| is_header(line)).unwrap_or(lines.len());
        Some(1 + in_table.or_else(|| line_of_key(&lines, top, first(&self.key)))?)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.key, self.problem)
    }
}

fn first(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// The lines of each table of this name, with its parts.
fn tables<'a>(lines: &'a [&'a str], name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let begins = (0..lines.len()).filter(move |at| is_header(lines[*at]) && name_of(lines[*at]) == name);
    begins.map(|at| at..end(lines, at))
}

fn line_of_key(lines: &[&str], mut table: Range<usize>, wanted: &str) -> Option<usize> {
    table.find(|at| lines[*at].contains('=') && key(lines[*at]) == wanted)
}

pub(super) fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

fn name_of(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or(line);
    line.trim().trim_matches(['[', ']'])
}

/// The line behind the table that begins at this one, and behind the tables that are parts of it, such as `[[step.load]]`.
pub(super) fn end(lines: &[&str], begin: usize) -> usize {
    let of_it = format!("{}.", name_of(lines[begin]));
    let is_next = |line: &str| is_header(line) && !name_of(line).starts_with(&of_it);
    let next = (begin + 1..lines.len()).find(|at| is_next(lines[*at]));
    next.unwrap_or(lines.len())
}

/// The key that a line begins with.
pub(super) fn key(line: &str) -> &str {
    line.split('=').next().unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    const TEXT: &str = "name = \"x\"\nplace = \"vm\"\n\n[bed] # one\nnetworks = [\"bridge\"]\n\n[[step]]\nprobe = \"wakeup\"\n\n[[step.load]]\n\
                        kind = \"timer\"\n\n[[step]]\nduration = \"0s\"\n\n[matrix.management.office]\nrate = \"1\"\n";

    #[test]
    fn the_line_of_a_key_is_told_or_that_of_its_table() {
        let said = |key: &str| Refusal::of(key, "no").in_text(TEXT);
        assert_eq!(said("place"), "line 2: place: no");
        assert_eq!(said("bed.networks"), "line 5: bed.networks: no");
        assert_eq!(said("bed"), "line 4: bed: no");
        assert_eq!(said("bed.rounds"), "line 4: bed.rounds: no");
        assert_eq!(
            said("matrix.management.office.rate"),
            "line 17: matrix.management.office.rate: no"
        );
        assert_eq!(said("management.rate"), "management.rate: no");
        let of_step = |step, key| Refusal::of_step(step, key, "no").in_text(TEXT);
        assert_eq!(of_step(0, "duration"), "line 7: duration: no");
        assert_eq!(of_step(1, "duration"), "line 14: duration: no");
    }
}
