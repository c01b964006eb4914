//! Messages between the two ends of a step: one line of JSON for each, on standard input and output of the end in the place.

use super::Vcpu;
use model::{Explanation, Question, QuestionKind};
use serde::{Deserialize, Serialize};
use units::Monotonic;

/// Messages of the end in the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromPlace {
    /// It is up, and measures as soon as it is told to begin.
    Prepared,
    /// It measures, sends or receives by now.
    Ready,
    /// A measuring thread runs on a CPU.
    Watch {
        /// By the numbers of the machine.
        cpu: u32,
        /// By the numbers of the place.
        thread: i32,
    },
    /// Where did the time of this sample go?
    Why(Asked),
}

/// Messages to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToPlace {
    /// It is to measure now.
    Begin,
    /// Its sender has ended, at this instant of the place's `CLOCK_REALTIME` in ns.
    SenderEnded(i64),
    /// An answer, in the order of the questions.
    Because(Told),
}

/// A question about a sample. Instants are of the place's `CLOCK_MONOTONIC`, which a container has in common with the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    cpu: u32,
    thread: i32,
    from_ns: i64,
    to_ns: i64,
    kind: Sample,
    /// True if the kernel's events around it are wanted.
    pub with_flight: bool,
    /// Of a guest: what is added to its `CLOCK_MONOTONIC` to have its `CLOCK_REALTIME`, in ns. The question is then about the thread of
    /// the virtual CPU.
    pub wall_ns: Option<i64>,
}

/// Kind of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sample {
    WakeUp,
    Gap,
    Hop,
    Frame,
}

/// Answer to such a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Where its time went.
    pub explanation: Explanation,
    /// The events around it, as the run file keeps them.
    pub flight: Option<Vec<u8>>,
}

impl Asked {
    /// The question as it is, about a thread of the place.
    pub fn of(question: &Question, with_flight: bool) -> Self {
        Self {
            cpu: question.cpu,
            thread: question.thread,
            from_ns: question.from.as_ns(),
            to_ns: question.to.as_ns(),
            kind: match question.kind {
                QuestionKind::WakeUp => Sample::WakeUp,
                QuestionKind::Gap => Sample::Gap,
                QuestionKind::Hop => Sample::Hop,
                QuestionKind::Frame => Sample::Frame,
            },
            with_flight,
            wall_ns: None,
        }
    }

    /// Asks about the virtual CPU's thread during the sample.
    pub fn of_guest(question: &Question) -> Self {
        let now = sys::clock::pair();
        Self {
            wall_ns: Some(now.realtime.as_ns() - now.monotonic.as_ns()),
            ..Self::of(question, false)
        }
    }

    /// The same for the thread that runs the virtual CPU, in the time of this machine, to which `ahead_ns` is what the guest's
    /// `CLOCK_REALTIME` is ahead.
    pub fn of_vcpu(&self, wall_ns: i64, ahead_ns: i64, vcpu: Vcpu) -> Question {
        let now = sys::clock::pair();
        let shift_ns = wall_ns - ahead_ns - (now.realtime.as_ns() - now.monotonic.as_ns());
        Question {
            cpu: vcpu.cpu,
            thread: vcpu.thread,
            from: Monotonic::from_ns(self.from_ns + shift_ns),
            to: Monotonic::from_ns(self.to_ns + shift_ns),
            // It is to run all the time, and misses what others take.
            kind: QuestionKind::Gap,
        }
    }

    /// The CPU by the numbers of the place.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The question, about the thread that has `number_of` its number here.
    pub fn question(&self, number_of: impl FnOnce(i32) -> i32) -> Question {
        Question {
            cpu: self.cpu,
            thread: number_of(self.thread),
            from: Monotonic::from_ns(self.from_ns),
            to: Monotonic::from_ns(self.to_ns),
            kind: match self.kind {
                Sample::WakeUp => QuestionKind::WakeUp,
                Sample::Gap => QuestionKind::Gap,
                Sample::Hop => QuestionKind::Hop,
                Sample::Frame => QuestionKind::Frame,
            },
        }
    }
}

/// A line for it, without its end.
pub fn written<T: Serialize>(said: &T) -> String {
    // Nothing in it can be refused: no map, and no text that is not UTF-8.
    serde_json::to_string(said).unwrap_or_default()
}

/// Reads a line; `None`: it is no such message.
pub fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Option<T> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::{Asked, FromPlace, ToPlace, Vcpu, read, written};
    use model::{Question, QuestionKind};
    use units::Monotonic;

    #[test]
    fn a_virtual_cpu_is_asked_about_in_the_time_of_its_host() {
        let question = Question {
            cpu: 1,
            thread: 17,
            from: sys::clock::monotonic(),
            to: sys::clock::monotonic() + 3_000_000,
            kind: QuestionKind::WakeUp,
        };
        let asked = Asked::of_guest(&question);
        let wall_ns = asked.wall_ns.expect("of a guest");
        let vcpu = Vcpu { thread: 99, cpu: 2 };
        // Its monotonic clock began an hour later, and its wall clock is a second ahead.
        let there = Asked {
            from_ns: asked.from_ns - 3_600_000_000_000,
            to_ns: asked.to_ns - 3_600_000_000_000,
            ..asked
        };
        let found = there.of_vcpu(wall_ns + 3_601_000_000_000, 1_000_000_000, vcpu);
        assert_eq!((found.cpu, found.thread, found.kind), (2, 99, QuestionKind::Gap));
        assert!((found.from - question.from).abs() < 1_000_000, "{found:?}");
        assert_eq!(found.ns(), question.ns());
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in [
            QuestionKind::WakeUp,
            QuestionKind::Gap,
            QuestionKind::Hop,
            QuestionKind::Frame,
        ] {
            let question = Question {
                cpu: 3,
                thread: 17,
                from: Monotonic::from_ns(5),
                to: Monotonic::from_ns(9),
                kind,
            };
            let line = written(&FromPlace::Why(Asked::of(&question, true)));
            let Some(FromPlace::Why(asked)) = read(&line) else {
                panic!("{line}");
            };
            let numbered = Question {
                thread: 1_017,
                ..question
            };
            assert_eq!(asked.question(|there| there + 1_000), numbered);
        }
        assert_eq!(written(&FromPlace::Ready), "\"ready\"");
        assert_eq!(read("{\"sender-ended\":-4}"), Some(ToPlace::SenderEnded(-4)));
        for broken in ["", "ready", "{\"sender-ended\":\"now\"}", "{\"watch\":{}}"] {
            assert_eq!(read::<FromPlace>(broken), None);
            assert_eq!(read::<ToPlace>(broken), None);
        }
    }
}
