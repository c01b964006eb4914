//! Messages of a GOOSE control block, encoded in place: their numbers, repetition times and timestamps.

use crate::error::ProbeError;
use streamset::goose::ControlBlock;
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::{Curve, Progress, Template, Value};
use wire::time::{TimeQuality, UtcTime};

/// Converts `due` to the wall clock by the current difference of the two clocks.
pub(crate) fn utc_ns(due: Monotonic) -> i64 {
    let pair = sys::clock::pair();
    pair.realtime.as_ns() + (due - pair.monotonic)
}

/// Skipped repetitions of a message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Number of repetitions that were skipped because the thread slept through them.
    pub(crate) missed: u64,
    /// True if the message was sent later than its first repetition was due.
    pub(crate) is_late: bool,
}

/// A running control block. Times are in ns from the start of the run. Only its creation allocates memory.
pub(crate) struct Messages {
    template: Template,
    /// Copy of the frame before members are set, to detect a change.
    before: Vec<u8>,
    progress: Progress,
    curve: Curve,
    quality: TimeQuality,
    t: UtcTime,
    repeat_ns: i64,
}

impl Messages {
    /// Encodes the first message, which is due at 0. Errors begin with `command`.
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
            t: message.t,
            template,
            repeat_ns: 0,
        })
    }

    /// True if a member can take this value: its type and its length stay the same.
    pub(crate) fn fits(&self, index: usize, value: &Value) -> bool {
        self.template.clone().set_entry(index, value)
    }

    /// Uses another retransmission curve from the next message on.
    pub(crate) fn set_curve(&mut self, curve: Curve) {
        self.curve = curve;
    }

    /// Due time of the next repetition.
    pub(crate) fn repeat_ns(&self) -> i64 {
        self.repeat_ns
    }

    /// Sets members; returns true if a value changed.
    pub(crate) fn set<'a>(&mut self, members: impl Iterator<Item = (usize, &'a Value)>) -> bool {
        self.before.copy_from_slice(self.template.bytes());
        for (index, value) in members {
            self.template.set_entry(index, value);
        }
        self.before != self.template.bytes()
    }

    /// Encodes the message that is due at `due_ns`: a new state if a member changed, otherwise a repetition. `utc_ns` is the
    /// instant of the change.
    pub(crate) fn make(&mut self, due_ns: i64, is_change: bool, utc_ns: impl FnOnce() -> i64) {
        if is_change {
            self.progress.change();
            self.repeat_ns = due_ns;
        }
        if is_change || self.is_first() {
            self.t = UtcTime::from_ns(utc_ns(), self.quality);
            self.template.set_t(self.t);
            self.template.set_times(self.t);
        }
        self.template.set_st_num(self.progress.st_num());
        self.template.set_sq_num(self.progress.sq_num());
        let tal_ms = self.curve.time_allowed_to_live_ms(self.progress.step());
        self.template.set_time_allowed_to_live(tal_ms);
    }

    /// stNum and sqNum of the next message, or of one that is encoded and not yet sent.
    pub(crate) fn numbers(&self) -> [u32; 2] {
        [self.progress.st_num(), self.progress.sq_num()]
    }

    /// Time of the last change of state.
    pub(crate) fn changed(&self) -> UtcTime {
        self.t
    }

    /// timeAllowedtoLive of the encoded message, in ms.
    pub(crate) fn time_allowed_to_live_ms(&self) -> u32 {
        self.curve.time_allowed_to_live_ms(self.progress.step())
    }

    /// The encoded message.
    pub(crate) fn frame(&self) -> &[u8] {
        self.template.bytes()
    }

    /// Records that the message due at `due_ns` was sent at `now_ns`, and advances to the next one.
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

    /// True if no message of the run has been encoded yet.
    fn is_first(&self) -> bool {
        self.repeat_ns == 0 && self.progress.step() == 0
    }
}
