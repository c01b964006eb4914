//! Actions of a plan: commands of a site that ran while a step measured, and what undid them.

/// Part of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionPart {
    /// The command itself.
    Run,
    /// The command that undoes it.
    Undo,
}

impl ActionPart {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Undo => "undo",
        }
    }

    /// The part with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Run, Self::Undo].into_iter().find(|part| part.word() == word)
    }
}

/// End of a command. The text form is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionEnd {
    /// It ended with this exit status.
    Exited(i32),
    /// A signal of this number ended it.
    Signalled(i32),
    /// It took longer than its limit, and was ended.
    Limit,
    /// The step ended first, and it was ended with it.
    Cut,
    /// It could not be started.
    NotStarted,
    /// It was due, but was never begun.
    Skipped,
    /// Its end is not known: the process that ran it is gone.
    Unknown,
}

impl ActionEnd {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signalled(_) => "signalled",
            Self::Limit => "limit",
            Self::Cut => "cut",
            Self::NotStarted => "not-started",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }

    /// Its exit status, or the number of its signal.
    pub fn status(self) -> Option<i32> {
        match self {
            Self::Exited(status) | Self::Signalled(status) => Some(status),
            _ => None,
        }
    }

    /// The end with this word and this status.
    pub fn from_word(word: &str, status: Option<i32>) -> Option<Self> {
        let simple = [Self::Limit, Self::Cut, Self::NotStarted, Self::Skipped, Self::Unknown];
        match (word, status) {
            ("exited", Some(status)) => Some(Self::Exited(status)),
            ("signalled", Some(signal)) => Some(Self::Signalled(signal)),
            _ => simple.into_iter().find(|end| end.word() == word),
        }
    }

    /// True if the command did its work, as far as its exit status says.
    pub fn is_good(self) -> bool {
        self == Self::Exited(0)
    }

    /// The end, for a person.
    pub fn words(self) -> String {
        match self {
            Self::Exited(status) => format!("exit status {status}"),
            Self::Signalled(signal) => format!("ended by signal {signal}"),
            Self::Limit => "ended at its limit".to_owned(),
            Self::Cut => "ended with the step".to_owned(),
            Self::NotStarted => "not started".to_owned(),
            Self::Skipped => "not run".to_owned(),
            Self::Unknown => "end not known".to_owned(),
        }
    }
}

/// One execution of an action's command, or of its undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Name of the action.
    pub name: String,
    /// Number of the step in its plan, from 1; steps side by side count as one.
    pub step: u64,
    /// Instant from which its times are counted: all parts of the step were measuring.
    pub step_ns: u64,
    /// Number of the execution of this action in the step, from 1. An undo has the number of the execution that it undoes.
    pub number: u64,
    /// The command itself, or its undo.
    pub part: ActionPart,
    /// The command, in the form of a shell.
    pub line: String,
    /// When it was due. `None` for an undo.
    pub due_ns: Option<u64>,
    /// When it began; `None` if it did not.
    pub began_ns: Option<u64>,
    /// When it ended; `None` if it did not begin, or if that is not known.
    pub ended_ns: Option<u64>,
    /// Time after its end that still counts as under it.
    pub settle_ns: u64,
    /// How it ended.
    pub end: ActionEnd,
    /// The last line of its output, or the reason why it did not run. At most some hundred characters.
    pub said: String,
}

#[cfg(test)]
mod tests {
    use super::{ActionEnd, ActionPart};

    #[test]
    fn every_end_and_part_is_read_as_it_was_written() {
        let ends = [
            ActionEnd::Exited(0),
            ActionEnd::Exited(7),
            ActionEnd::Signalled(9),
            ActionEnd::Limit,
            ActionEnd::Cut,
            ActionEnd::NotStarted,
            ActionEnd::Skipped,
            ActionEnd::Unknown,
        ];
        for end in ends {
            assert_eq!(ActionEnd::from_word(end.word(), end.status()), Some(end));
            assert_eq!(end.is_good(), end == ActionEnd::Exited(0));
        }
        assert_eq!(ActionEnd::from_word("exited", None), None);
        for part in [ActionPart::Run, ActionPart::Undo] {
            assert_eq!(ActionPart::from_word(part.word()), Some(part));
        }
    }
}
