//! One running control block: its next message and the due instant of that message.

use crate::error::ProbeError;
use crate::messages::{Messages, Sent};
use streamset::goose::{Change, ControlBlock};
use units::Monotonic;
use wire::ether::Mac;

/// A change, and its next due instant.
struct Pending {
    change: Change,
    next_ns: Option<i64>,
}

/// A control block whose members change by a schedule.
pub(super) struct Block {
    messages: Messages,
    changes: Vec<Pending>,
    /// Due instant of the prepared message; `None` if none is prepared.
    made_ns: Option<i64>,
}

impl Block {
    /// Encodes the first message, and checks every change.
    pub(super) fn new(config: &ControlBlock, source: Mac) -> Result<Self, ProbeError> {
        let messages = Messages::new(config, source, "publish")?;
        for (index, value) in config.changes.iter().flat_map(|change| &change.set) {
            if !messages.fits(*index, value) {
                let name = String::from_utf8_lossy(&config.message.gocb_ref);
                return Err(ProbeError::Usage(format!(
                    "publish: GOOSE {name}: member {index} cannot become {value:?}: its type and length must stay"
                )));
            }
        }
        let changes = config.changes.iter().map(|change| Pending {
            change: change.clone(),
            next_ns: i64::try_from(change.at_ns).ok(),
        });
        Ok(Self {
            messages,
            changes: changes.collect(),
            made_ns: None,
        })
    }

    /// Due instant of the next message, in ns from the start of the run.
    pub(super) fn due_ns(&self) -> i64 {
        let changes = self.changes.iter().filter_map(|pending| pending.next_ns);
        self.made_ns
            .unwrap_or_else(|| changes.fold(self.messages.repeat_ns(), i64::min))
    }

    /// Prepares the message that is due next, unless it is ready; `utc_ns` is its due instant. Returns false if there is no
    /// message, because the due changes change no value.
    pub(super) fn make(&mut self, utc_ns: impl FnOnce() -> i64) -> bool {
        if self.made_ns.is_some() {
            return true;
        }
        let due_ns = self.due_ns();
        let is_change = self.change(due_ns);
        if !is_change && due_ns < self.messages.repeat_ns() {
            return false;
        }
        self.messages.make(due_ns, is_change, utc_ns);
        self.made_ns = Some(due_ns);
        true
    }

    /// The prepared message.
    pub(super) fn frame(&self) -> &[u8] {
        self.messages.frame()
    }

    /// Records that the message was sent at `now_ns` from the start of the run, and advances to the next one.
    pub(super) fn sent(&mut self, now_ns: i64) -> Sent {
        let due_ns = self.made_ns.take().unwrap_or(now_ns);
        self.messages.sent(due_ns, now_ns)
    }

    /// Applies the changes due at `due_ns`; returns true if a value changed.
    fn change(&mut self, due_ns: i64) -> bool {
        let is_due = |pending: &&mut Pending| pending.next_ns == Some(due_ns);
        let members = self
            .changes
            .iter()
            .filter(|pending| pending.next_ns == Some(due_ns))
            .flat_map(|pending| &pending.change.set)
            .map(|(index, value)| (*index, value));
        let is_change = self.messages.set(members);
        for pending in self.changes.iter_mut().filter(is_due) {
            let every = pending.change.every_ns.and_then(|ns| i64::try_from(ns).ok());
            pending.next_ns = every.and_then(|every| due_ns.checked_add(every));
        }
        is_change
    }
}

/// The instant `ns` after `start`.
pub(super) fn instant(start: Monotonic, ns: i64) -> Monotonic {
    Monotonic::from_ns(start.as_ns().saturating_add(ns))
}

#[cfg(test)]
mod tests;
