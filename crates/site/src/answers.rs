//! Answers of a person, from the file of answers or from a terminal.

use crate::found::Found;
use crate::question::{QUESTIONS, Question, frame};
use std::collections::BTreeMap;
use units::{Refusal, line_of, refusal};

/// The answers given so far, by the key of their question. A question without one is open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<&'static str, String>);

impl Answers {
    /// Reads a file of answers: a line `key = "answer"` for each. Empty answers are open questions.
    ///
    /// # Errors
    /// Invalid TOML, an unknown key, or an answer that its question refuses, with the line.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let line = |at: usize| line_of(text, at);
        let table: BTreeMap<toml::Spanned<String>, toml::Spanned<String>> = toml::from_str(text)
            .map_err(|error| Refusal::new(error.message()).at_line(line(error.span().map_or(0, |span| span.start))))?;
        let mut answers = Self::default();
        for (key, value) in table {
            let at = line(key.span().start);
            let question = Question::of(key.get_ref()).ok_or_else(|| unknown(key.get_ref()).at_line(at))?;
            answers
                .give(question, value.get_ref())
                .map_err(|wrong| wrong.at_line(at))?;
        }
        answers.fit_with(&Found::default())?;
        Ok(answers)
    }

    /// Records an answer; an empty one leaves the question open.
    ///
    /// # Errors
    /// The question refuses it.
    pub fn give(&mut self, question: &Question, answer: &str) -> Result<(), Refusal> {
        let answer = answer.trim();
        if answer.is_empty() {
            self.0.remove(question.key);
            return Ok(());
        }
        (question.check)(answer).map_err(|wrong| wrong.of_key(question.key))?;
        self.0.insert(question.key, answer.to_owned());
        Ok(())
    }

    /// Checks answers that depend on each other, or on what was found.
    ///
    /// # Errors
    /// The rate and the ASDUs do not make a frame.
    pub fn fit_with(&self, found: &Found) -> Result<(), Refusal> {
        let settled = |key| self.of(key).or_else(|| found.of(key).map(|(answer, _)| answer));
        match (settled("rate"), settled("asdus")) {
            (Some(rate), Some(asdus)) => frame(rate, asdus).map(drop).map_err(|wrong| wrong.of_key("asdus")),
            _ => Ok(()),
        }
    }

    /// The answer to the question with this key.
    pub fn of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

fn unknown(key: &str) -> Refusal {
    let keys: Vec<&str> = QUESTIONS.iter().map(|question| question.key).collect();
    refusal!("no question has this key; have: {}", keys.join(", ")).of_key(key)
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
