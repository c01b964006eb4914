//! A refusal of a rule over a whole plan: the key, its line, and advice.

use std::fmt;
use std::ops::Range;

/// A mistake in a plan that is valid TOML with known keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The list and the number, from 0, of the table that has the key; `None`: a key of the plan itself.
    of: Option<(&'static str, usize)>,
    /// The key, with its tables before it, joined by dots: `bed.networks`.
    key: String,
    /// The problem and the advice.
    problem: String,
}

impl Refusal {
    /// Refuses a key of the plan itself.
    pub(crate) fn of(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            of: None,
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// Refuses a key of table number `number`, from 0, of a list: `[[load]]`.
    pub(crate) fn of_one(list: &'static str, number: usize, key: &str, problem: impl Into<String>) -> Self {
        Self {
            of: Some((list, number)),
            ..Self::of(key, problem)
        }
    }

    /// Refuses a key of step number `step`, from 0.
    pub(crate) fn of_step(step: usize, key: &str, problem: impl Into<String>) -> Self {
        Self::of_one("step", step, key, problem)
    }

    /// The text with the line in the plan; if neither the key nor its table is in the text, with the number of the table.
    pub(crate) fn in_text(&self, text: &str) -> String {
        match (self.line(text), self.of) {
            (Some(line), _) => format!("line {line}: {self}"),
            (None, Some((list, number))) => format!("{list} {}: {self}", number + 1),
            (None, None) => self.to_string(),
        }
    }

    fn line(&self, text: &str) -> Option<usize> {
        let lines: Vec<&str> = text.lines().collect();
        if let Some((list, number)) = self.of {
            let table = tables(&lines, list).nth(number)?;
            return Some(1 + line_of_key(&lines, &table, &self.key).unwrap_or(table.start));
        }
        // Looks in the innermost table that is written as one: `[matrix.management.office]`, or a key of `[matrix]`.
        let ends = self.key.match_indices('.').map(|(at, _)| at);
        let mut splits: Vec<usize> = ends.chain([self.key.len()]).collect();
        splits.reverse();
        let in_table = splits.into_iter().find_map(|at| {
            let (table, key) = self.key.split_at(at);
            let table = tables(&lines, table).next()?;
            Some(line_of_key(&lines, &table, first(key.trim_start_matches('.'))).unwrap_or(table.start))
        });
        let top = 0..lines.iter().position(|line| is_header(line)).unwrap_or(lines.len());
        Some(1 + in_table.or_else(|| line_of_key(&lines, &top, first(&self.key)))?)
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

/// The lines of each table of this name, including its subtables.
fn tables<'a>(lines: &'a [&'a str], name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let begins = (0..lines.len()).filter(move |at| is_header(lines[*at]) && name_of(lines[*at]) == name);
    begins.map(|at| at..end(lines, at))
}

/// The line of a table's own key, not of a key in one of its subtables.
fn line_of_key(lines: &[&str], table: &Range<usize>, wanted: &str) -> Option<usize> {
    let own = table
        .clone()
        .take_while(|at| *at == table.start || !is_header(lines[*at]));
    let mut own = own.filter(|at| lines[*at].contains('='));
    own.find(|at| key(lines[*at]) == wanted)
}

pub(crate) fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

fn name_of(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or(line);
    line.trim().trim_matches(['[', ']', ' '])
}

/// The first line after the table that begins at this line and after its subtables, such as `[[step.load]]`.
pub(crate) fn end(lines: &[&str], begin: usize) -> usize {
    let of_it = format!("{}.", name_of(lines[begin]));
    let is_next = |line: &str| is_header(line) && !name_of(line).starts_with(&of_it);
    let next = (begin + 1..lines.len()).find(|at| is_next(lines[*at]));
    next.unwrap_or(lines.len())
}

/// The key at the start of a line.
pub(crate) fn key(line: &str) -> &str {
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
        assert_eq!(of_step(0, "kind"), "line 7: kind: no", "a key of its load");
        assert_eq!(of_step(2, "duration"), "step 3: duration: no");
    }

    #[test]
    fn the_table_of_a_list_is_the_one_that_is_wrong() {
        let text = "[[load]]\nkind = \"timer\"\n[[ load ]]\nkind = \"command\"\nline = \"true\"\n";
        let said = |number, key| Refusal::of_one("load", number, key, "no").in_text(text);
        assert_eq!(said(0, "line"), "line 1: line: no");
        assert_eq!(said(1, "line"), "line 5: line: no");
    }
}
