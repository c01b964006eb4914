//! One control block under way: which message is next, and when.

use crate::error::ProbeError;
use streamset::goose::{Change, ControlBlock};
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::{Curve, Progress, Template};
use wire::time::{TimeQuality, UtcTime};

/// A change, and when it comes next.
struct Pending {
    change: Change,
    next_ns: Option<i64>,
}

/// A control block whose messages are made in place.
pub(super) struct Block {
    template: Template,
    /// The frame before the changes at hand, to see whether they change anything.
    before: Vec<u8>,
    progress: Progress,
    curve: Curve,
    quality: TimeQuality,
    changes: Vec<Pending>,
    /// When the next repetition is due, from the start of the run.
    repeat_ns: i64,
    /// When the message that is made is due; `None` before it is made.
    made_ns: Option<i64>,
}

/// What was skipped when a message was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    /// Repetitions that were slept through.
    pub(super) missed: u64,
    /// Whether the message came later than its first repetition was due.
    pub(super) is_late: bool,
}

impl Block {
    /// Encodes the first message, and tries every change.
    pub(super) fn new(config: &ControlBlock, source: Mac) -> Result<Self, ProbeError> {
        let mut message = config.message.clone();
        message.src = source;
        let name = String::from_utf8_lossy(&message.gocb_ref).into_owned();
        let usage = |problem: String| ProbeError::Usage(format!("publish: GOOSE {name}: {problem}"));
        let template = Template::new(&message).map_err(|error| usage(error.to_string()))?;
        if config.curve.first_ns == 0 || config.curve.last_ns < config.curve.first_ns {
            return Err(usage(
                "the first interval must be above 0 and at most the longest one".into(),
            ));
        }
        let mut trial = template.clone();
        for (index, value) in config.changes.iter().flat_map(|change| &change.set) {
            if !trial.set_entry(*index, value) {
                return Err(usage(format!(
                    "member {index} cannot become {value:?}: its type and length must stay"
                )));
            }
        }
        let changes = config.changes.iter().map(|change| Pending {
            change: change.clone(),
            next_ns: i64::try_from(change.at_ns).ok(),
        });
        Ok(Self {
            before: template.bytes().to_vec(),
            progress: Progress::at(message.st_num, message.sq_num),
            curve: config.curve,
            quality: message.t.quality,
            changes: changes.collect(),
            template,
            repeat_ns: 0,
            made_ns: None,
        })
    }

    /// When the next message is due, from the start of the run; ns.
    pub(super) fn due_ns(&self) -> i64 {
        let changes = self.changes.iter().filter_map(|pending| pending.next_ns);
        self.made_ns.unwrap_or_else(|| changes.fold(self.repeat_ns, i64::min))
    }

    /// Makes the message that is due next, unless it is made; `utc_ns` is its due instant. False when there is none after all:
    /// the changes due then change nothing.
    pub(super) fn make(&mut self, utc_ns: impl FnOnce() -> i64) -> bool {
        if self.made_ns.is_some() {
            return true;
        }
        let due_ns = self.due_ns();
        let is_change = self.change(due_ns);
        if !is_change && due_ns < self.repeat_ns {
            return false;
        }
        if is_change {
            self.progress.change();
            self.repeat_ns = due_ns;
        }
        if is_change || self.template_is_new() {
            self.stamp(UtcTime::from_ns(utc_ns(), self.quality));
        }
        self.template.set_st_num(self.progress.st_num());
        self.template.set_sq_num(self.progress.sq_num());
        let tal_ms = self.curve.time_allowed_to_live_ms(self.progress.step());
        self.template.set_time_allowed_to_live(tal_ms);
        self.made_ns = Some(due_ns);
        true
    }

    /// The message as it was made.
    pub(super) fn frame(&self) -> &[u8] {
        self.template.bytes()
    }

    /// The message was sent at `now_ns` from the start of the run: goes on to the next one.
    pub(super) fn sent(&mut self, now_ns: i64) -> Sent {
        let due_ns = self.made_ns.take().unwrap_or(now_ns);
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

    /// Applies the changes due at `due_ns`; tells whether a value is another one now.
    fn change(&mut self, due_ns: i64) -> bool {
        self.before.copy_from_slice(self.template.bytes());
        for pending in self
            .changes
            .iter_mut()
            .filter(|pending| pending.next_ns == Some(due_ns))
        {
            for (index, value) in &pending.change.set {
                self.template.set_entry(*index, value);
            }
            let every = pending.change.every_ns.and_then(|ns| i64::try_from(ns).ok());
            pending.next_ns = every.and_then(|every| due_ns.checked_add(every));
        }
        self.before != self.template.bytes()
    }

    /// Whether no message of the run was made yet.
    fn template_is_new(&self) -> bool {
        self.repeat_ns == 0 && self.progress.step() == 0
    }

    fn stamp(&mut self, t: UtcTime) {
        self.template.set_t(t);
        self.template.set_times(t);
    }
}

/// The instant `ns` after `start`.
pub(super) fn instant(start: Monotonic, ns: i64) -> Monotonic {
    Monotonic::from_ns(start.as_ns().saturating_add(ns))
}

#[cfg(test)]
mod tests;
