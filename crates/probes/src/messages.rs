//! The messages of a GOOSE control block, made in place: numbers, repetitions, times.

use crate::error::ProbeError;
use streamset::goose::ControlBlock;
use wire::ether::Mac;
use wire::goose::{Curve, Progress, Template, Value};
use wire::time::{TimeQuality, UtcTime};

/// Account of what was skipped when a message was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Repetitions that were slept through.
    pub(crate) missed: u64,
    /// True if the message came later than its first repetition was due.
    pub(crate) is_late: bool,
}

/// A control block under way. Times are ns from the start of the run. After it was made nothing here allocates.
pub(crate) struct Messages {
    template: Template,
    /// The frame before the changes at hand, to see whether they change anything.
    before: Vec<u8>,
    progress: Progress,
    curve: Curve,
    quality: TimeQuality,
    repeat_ns: i64,
}

impl Messages {
    /// Encodes the first message, which is due at 0. `command` is what errors begin with.
    pub(crate) fn new(config: &ControlBlock, source: Mac, command: &str) -> Result<Self, ProbeError> {
        let mut message = config.message.clone();
        message.src = source;
        let name = String::from_utf8_lossy(&message.gocb_ref).into_owned();
        let usage = |problem: String| ProbeError::Usage(format!("{command}: GOOSE {name}: {problem}"));
        let template = Template::new(&message).map_err(|error| usage(error.to_string()))?;
        if config.curve.first_ns == 0 || config.curve.last_ns < config.curve.first_ns {
            return Err(usage(
                "the first interval must be above 0 and at most the longest one".into(),
            ));
        }
        Ok(Self {
            before: template.bytes().to_vec(),
            progress: Progress::at(message.st_num, message.sq_num),
            curve: config.curve,
            quality: message.t.quality,
            template,
            repeat_ns: 0,
        })
    }

    /// True if a member can become this: its type and its length stay.
    pub(crate) fn fits(&self, index: usize, value: &Value) -> bool {
        self.template.clone().set_entry(index, value)
    }

    /// Repeats by another curve from the next message on.
    pub(crate) fn set_curve(&mut self, curve: Curve) {
        self.curve = curve;
    }

    /// When the next repetition is due.
    pub(crate) fn repeat_ns(&self) -> i64 {
        self.repeat_ns
    }

    /// Sets members; tells whether a value is another one now.
    pub(crate) fn set<'a>(&mut self, members: impl Iterator<Item = (usize, &'a Value)>) -> bool {
        self.before.copy_from_slice(self.template.bytes());
        for (index, value) in members {
            self.template.set_entry(index, value);
        }
        self.before != self.template.bytes()
    }

    /// Makes the message that is due at `due_ns`: of a new state where a member changed, else a repetition. `utc_ns` is the instant of
    /// the change.
    pub(crate) fn make(&mut self, due_ns: i64, is_change: bool, utc_ns: impl FnOnce() -> i64) {
        if is_change {
            self.progress.change();
            self.repeat_ns = due_ns;
        }
        if is_change || self.is_first() {
            let t = UtcTime::from_ns(utc_ns(), self.quality);
            self.template.set_t(t);
            self.template.set_times(t);
        }
        self.template.set_st_num(self.progress.st_num());
        self.template.set_sq_num(self.progress.sq_num());
        let tal_ms = self.curve.time_allowed_to_live_ms(self.progress.step());
        self.template.set_time_allowed_to_live(tal_ms);
    }

    /// How long the message that was made last lives, in ms.
    pub(crate) fn time_allowed_to_live_ms(&self) -> u32 {
        self.curve.time_allowed_to_live_ms(self.progress.step())
    }

    /// The message as it was made.
    pub(crate) fn frame(&self) -> &[u8] {
        self.template.bytes()
    }

    /// The message that was due at `due_ns` was sent at `now_ns`: goes on to the next one.
    pub(crate) fn sent(&mut self, due_ns: i64, now_ns: i64) -> Sent {
        self.repeat_ns = due_ns + self.interval_ns();
        let is_late = now_ns > self.repeat_ns;
        self.progress.repeat();
        let mut missed = 0;
        while self.repeat_ns + self.interval_ns() <= now_ns {
            self.repeat_ns += self.interval_ns();
            self.progress.skip();
            missed += 1;
        }
        Sent { missed, is_late }
    }

    fn interval_ns(&self) -> i64 {
        i64::try_from(self.curve.interval_ns(self.progress.step())).unwrap_or(i64::MAX / 4)
    }

    /// True if no message of the run was made yet.
    fn is_first(&self) -> bool {
        self.repeat_ns == 0 && self.progress.step() == 0
    }
}
