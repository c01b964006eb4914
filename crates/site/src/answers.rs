//! Answers of a person, from the file of answers or from a terminal.

use crate::question::{QUESTIONS, Question, frame};
use std::collections::BTreeMap;

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{key}: {problem}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct Wrong {
    /// Its line in the file, if it comes from one.
    pub line: Option<usize>,
    /// The key of its question.
    pub key: String,
    /// The reason.
    pub problem: String,
}

/// A file of answers that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswersError {
    /// It is not TOML.
    #[error("line {line}: {problem}")]
    NotToml {
        /// Line of the mistake.
        line: usize,
        /// The reason.
        problem: String,
    },
    /// One of its answers is refused.
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

/// The answers given so far, by the key of their question. A question without one is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<&'static str, String>);

impl Answers {
    /// Reads a file of answers: a line `key = "answer"` for each. Empty answers are open questions.
    ///
    /// # Errors
    /// Invalid TOML, an unknown key, or an answer that its question refuses, with the line.
    pub fn parse(text: &str) -> Result<Self, AnswersError> {
        let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
        let table: BTreeMap<toml::Spanned<String>, toml::Spanned<String>> =
            toml::from_str(text).map_err(|error| AnswersError::NotToml {
                line: line(error.span().map_or(0, |span| span.start)),
                problem: error.message().to_owned(),
            })?;
        let mut answers = Self::default();
        for (key, value) in table {
            let at = Some(line(key.span().start));
            let question = Question::of(key.get_ref()).ok_or_else(|| unknown(at, key.get_ref()))?;
            answers
                .give(question, value.get_ref())
                .map_err(|wrong| Wrong { line: at, ..wrong })?;
        }
        answers.fit()?;
        Ok(answers)
    }

    /// Records an answer; an empty one leaves the question open.
    ///
    /// # Errors
    /// The question refuses it.
    pub fn give(&mut self, question: &Question, answer: &str) -> Result<(), Wrong> {
        let answer = answer.trim();
        if answer.is_empty() {
            self.0.remove(question.key);
            return Ok(());
        }
        (question.check)(answer).map_err(|problem| wrong(question.key, problem))?;
        self.0.insert(question.key, answer.to_owned());
        Ok(())
    }

    /// Checks answers that depend on each other.
    ///
    /// # Errors
    /// The rate and the ASDUs do not make a frame.
    pub fn fit(&self) -> Result<(), Wrong> {
        let (Some(rate), Some(asdus)) = (self.of("rate"), self.of("asdus")) else {
            return Ok(());
        };
        frame(rate, asdus).map(drop).map_err(|problem| wrong("asdus", problem))
    }

    /// The answer to the question with this key.
    pub fn of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

fn wrong(key: &str, problem: String) -> Wrong {
    Wrong {
        line: None,
        key: key.to_owned(),
        problem,
    }
}

fn unknown(line: Option<usize>, key: &str) -> Wrong {
    let keys: Vec<&str> = QUESTIONS.iter().map(|question| question.key).collect();
    Wrong {
        line,
        key: key.to_owned(),
        problem: format!("no question has this key; have: {}", keys.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::Answers;

    #[test]
    fn a_wrong_answer_is_refused_with_its_line_and_key() {
        let refused = |text: &str| Answers::parse(text).expect_err("refused").to_string();
        assert_eq!(
            refused("site = \"N\"\nstreams = \"0\"\n"),
            "line 2: streams: must be a whole number from 1 to 200"
        );
        assert!(refused("\nrelay = \"x\"\n").starts_with("line 2: relay: no question has this key; have: site, "));
        assert!(
            refused("rate = \"4800\"\nasdus = \"7\"\n")
                .starts_with("asdus: F4800S7I4U4: a second has to be a whole number")
        );
        assert!(refused("site = 7\n").starts_with("line 1: "));
        assert!(refused("relays = \"IED1LD0/LLN0\"\n").contains("is not a reference"));
        assert!(refused("interface = \"a b\"\n").contains("is not the name of an interface"));
    }

    #[test]
    fn an_empty_answer_leaves_its_question_open() {
        let answers = Answers::parse("site = \"\"\nstreams = \" 8 \"\n").expect("answers");
        assert_eq!((answers.of("site"), answers.of("streams")), (None, Some("8")));
    }
}
