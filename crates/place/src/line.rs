//! Messages between the two ends of a step: one line of JSON each, on standard input and output of the end in the place.

use super::Vcpu;
use model::{Explanation, Question, QuestionKind};
use serde::{Deserialize, Serialize};
use units::Monotonic;

/// Messages of the end in the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromPlace {
    /// The end is up, and measures as soon as it gets [`ToPlace::Begin`].
    Prepared,
    /// The end now measures, sends or receives.
    Ready,
    /// A measuring thread runs on a CPU.
    Watch {
        /// Number of the CPU on the machine.
        cpu: u32,
        /// Number of the thread in the place.
        thread: i32,
    },
    /// Asks for the cause of a late sample.
    Why(Asked),
    /// It has ended its own measurement, at this time of the place's `CLOCK_REALTIME` in ns.
    Ended(i64),
}

/// Messages to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToPlace {
    /// Starts the measurement.
    Begin,
    /// The sender has ended, at this time of the place's `CLOCK_REALTIME` in ns.
    SenderEnded(i64),
    /// An answer, in the order of the questions.
    Because(Told),
}

/// A question about a sample. Times are of the place's `CLOCK_MONOTONIC`, which a container shares with the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    cpu: u32,
    thread: i32,
    from_ns: i64,
    to_ns: i64,
    kind: Sample,
    /// True if the answer should include the kernel's events around the sample.
    pub with_flight: bool,
    /// For a guest: the difference in ns from its `CLOCK_MONOTONIC` to its `CLOCK_REALTIME`. The question is then about the thread of the virtual
    /// CPU.
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
    /// Explanation of the lost time.
    pub explanation: Explanation,
    /// The events around it, as the run file keeps them.
    pub flight: Option<Vec<u8>>,
}

impl Asked {
    /// The question unchanged, about a thread of the place.
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

    /// The question for the thread that runs the virtual CPU, in the time of this machine; the guest's `CLOCK_REALTIME` is ahead of it by `ahead_ns`.
    pub fn of_vcpu(&self, wall_ns: i64, ahead_ns: i64, vcpu: Vcpu) -> Question {
        let now = sys::clock::pair();
        let shift_ns = wall_ns - ahead_ns - (now.realtime.as_ns() - now.monotonic.as_ns());
        Question {
            cpu: vcpu.cpu,
            thread: vcpu.thread,
            from: Monotonic::from_ns(self.from_ns + shift_ns),
            to: Monotonic::from_ns(self.to_ns + shift_ns),
            // The thread should run all the time, so any time used by others is missing.
            kind: QuestionKind::Gap,
        }
    }

    /// Number of the CPU in the place.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The question, about the thread whose number here `number_of` finds.
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

/// The message as a line, without its newline.
pub fn written<T: Serialize>(said: &T) -> String {
    // Cannot fail: the messages have no maps and only UTF-8 text.
    serde_json::to_string(said).unwrap_or_default()
}

/// Parses a line; `None` if it is not such a message.
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
        // Its monotonic clock started an hour later, and its wall clock is a second ahead.
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
