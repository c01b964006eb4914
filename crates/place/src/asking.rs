//! Causes of late samples from the other end: a container is not permitted to trace the kernel, but the machine is.

use super::line::{Asked, FromPlace, Told, written};
use model::{Cause, Fact, Question};
use run::{Answer, Explain};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Time that the recorder of this end waits for an answer. With a longer one, its rings overflow. The machine may have to ask another one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends questions to the other end.
pub struct Asking {
    answers: Receiver<Told>,
    /// True while an earlier answer is outstanding. Until it arrives no question is sent, because answers come in the order of questions.
    is_owed_one: bool,
    /// True if the other end can no longer be reached.
    is_gone: bool,
}

/// Sender for the answers of the other end.
pub struct Answers(Sender<Told>);

/// Makes an [`Asking`], and the [`Answers`] that feeds it.
pub fn asking() -> (Asking, Answers) {
    let (send, answers) = channel();
    let asking = Asking {
        answers,
        is_owed_one: false,
        is_gone: false,
    };
    (asking, Answers(send))
}

impl Answers {
    /// Passes on an answer of the other end.
    pub fn take(&self, told: Told) {
        // An error means that the asking side has ended.
        let _ = self.0.send(told);
    }
}

/// Writes a message line to the other end.
///
/// # Errors
/// Standard output is closed.
pub fn say(said: &FromPlace) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", written(said)).and_then(|()| out.flush())
}

impl Asking {
    /// Asks the machine, and waits for its answer.
    fn ask(&mut self, asked: Asked) -> Result<Told, &'static str> {
        if self.is_gone {
            return Err("the machine cannot be asked any more");
        }
        self.is_owed_one &= self.answers.try_recv().is_err();
        if self.is_owed_one {
            return Err("the machine has not answered an earlier question yet");
        }
        if say(&FromPlace::Why(asked)).is_err() {
            self.is_gone = true;
            return Err("the machine cannot be asked any more");
        }
        let told = self.answers.recv_timeout(PATIENCE).ok();
        self.is_owed_one = told.is_none();
        told.ok_or("the machine did not answer")
    }
}

/// A guest's own flight recorder, combined with the host's. If the guest itself was not running, the host knows what held up the virtual CPU.
pub struct OverHost {
    own: Box<dyn Explain>,
    host: Asking,
}

impl OverHost {
    /// Combines both.
    pub fn new(own: Box<dyn Explain>, host: Asking) -> Self {
        Self { own, host }
    }
}

/// Causes that a guest records when its virtual CPU does not run.
const FROM_OUTSIDE: [Cause; 3] = [Cause::Hypervisor, Cause::InterruptsOff, Cause::Unexplained];

impl Explain for OverHost {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.own.watch(cpu, thread);
    }

    fn observe(&mut self) {
        self.own.observe();
    }

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        let mut answer = self.own.explain(question, with_flight);
        // Samples without flight data are too many to ask about.
        if with_flight
            && FROM_OUTSIDE.contains(&answer.explanation.cause)
            && let Ok(told) = self.host.ask(Asked::of_guest(question))
        {
            answer.explanation.add_host(&told.explanation);
        }
        answer
    }

    fn summary(&mut self) -> Vec<Fact> {
        self.own.summary()
    }
}

impl Explain for Asking {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.is_gone |= say(&FromPlace::Watch { cpu, thread }).is_err();
    }

    fn observe(&mut self) {}

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        match self.ask(Asked::of(question, with_flight)) {
            Ok(told) => Answer {
                explanation: told.explanation,
                flight: told.flight,
            },
            Err(why) => Answer::unknown(question, why),
        }
    }

    fn summary(&mut self) -> Vec<Fact> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, PATIENCE, asking};
    use crate::line::Told;
    use model::{Question, QuestionKind};
    use run::Answer;
    use std::time::Instant;
    use units::Monotonic;

    #[test]
    fn an_answer_that_comes_late_is_of_no_later_question() {
        let (mut asking, answers) = asking();
        let at = Monotonic::from_ns(1);
        let question = Question {
            cpu: 1,
            thread: 1,
            from: at,
            to: at,
            kind: QuestionKind::Gap,
        };
        let answer = |text: &str| Told {
            explanation: Answer::unknown(&question, text).explanation,
            flight: None,
        };
        let asked = || Asked::of(&question, true);
        assert!(asking.ask(asked()).is_err(), "nobody has answered");
        let begun = Instant::now();
        assert!(asking.ask(asked()).is_err(), "the first answer is still to come");
        assert!(begun.elapsed() < PATIENCE, "it is waited for once");
        answers.take(answer("late"));
        answers.take(answer("in time"));
        let told = asking.ask(asked()).expect("an answer");
        assert_eq!(told.explanation.text, "in time");
    }
}
