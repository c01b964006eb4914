//! The form: a file of answers, with each question as a comment above its line.

use crate::answers::Answers;
use crate::found::Found;
use crate::question::{QUESTIONS, Question};
use std::fmt::Write;

const HEAD: &str = "\
# The form of a site. Fill in what you know, between the quotes; an empty answer stays open. Then:
#   triptime site --answers THIS-FILE
";

/// The form as TOML. Answers are filled in; a found answer is filled in where a person gave none.
pub fn form(answers: &Answers, found: &Found) -> String {
    let mut text = HEAD.to_owned();
    for question in &QUESTIONS {
        let _ = write!(text, "\n{}", entry(question, answers, found));
    }
    text
}

fn entry(question: &Question, answers: &Answers, found: &Found) -> String {
    let Question {
        key,
        asks,
        how,
        example,
        open,
        ..
    } = question;
    let mut text = format!("# {asks}\n#   how:  {how}\n#   open: {open}\n");
    for candidate in found.candidates(key) {
        let _ = writeln!(text, "#   here: {}", candidate.escape_debug());
    }
    let found = found.of(key);
    if let Some((_, source)) = found {
        let _ = writeln!(text, "#   found: {}", source.escape_debug());
    }
    let answer = answers.of(key).or(found.map(|(answer, _)| answer));
    match answer {
        Some(answer) => writeln!(text, "{key} = {}", quoted(answer)),
        None => writeln!(text, "{key} = \"\"  # such as {}", quoted(example)),
    }
    .ok();
    text
}

/// A text as a basic string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::form;
    use crate::{Answers, Found, QUESTIONS, Question};

    #[test]
    fn every_example_is_an_answer_and_every_form_can_be_read_again() {
        let mut answers = Answers::default();
        assert_eq!(
            Answers::parse(&form(&answers, &Found::default())),
            Ok(Answers::default())
        );
        for question in &QUESTIONS {
            answers.give(question, question.example).expect("its own example");
        }
        assert_eq!(Answers::parse(&form(&answers, &Found::default())), Ok(answers));
    }

    proptest::proptest! {
        #[test]
        fn any_name_survives_the_form(name in "[^\\p{Cc}]{1,40}") {
            let mut answers = Answers::default();
            answers.give(Question::of("site").expect("a question"), &name).expect("a name");
            proptest::prop_assert_eq!(Answers::parse(&form(&answers, &Found::default())), Ok(answers));
        }
    }
}
