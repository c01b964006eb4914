//! Watches the links of the measured interfaces, and reports lost ones.

use model::EventKind;
use run::Events;
use std::collections::BTreeMap;
use sys::link::LinkInfo;
use units::Monotonic;

/// The links of some interfaces, in the calling thread's network namespace. A socket accepts frames silently when there is no
/// carrier, so a sender does not notice.
pub(super) struct Links {
    watched: BTreeMap<String, Watched>,
    /// Instant of the last look.
    looked: Monotonic,
}

/// An interface.
#[derive(Default)]
struct Watched {
    before: Option<LinkInfo>,
    /// Set while there is no carrier, to the earliest instant at which it may have been lost.
    down: Option<Monotonic>,
}

impl Links {
    pub(super) fn new(interfaces: Vec<String>, start: Monotonic) -> Self {
        let watched = interfaces.into_iter().map(|name| (name, Watched::default()));
        Self {
            watched: watched.collect(),
            looked: start,
        }
    }

    /// Reports changes since the last look, including a loss that is over again. A carrier that returns is reported for all of the
    /// time without it.
    pub(super) fn look(&mut self, events: &Events) {
        let before = std::mem::replace(&mut self.looked, sys::clock::monotonic());
        for (name, link) in &mut self.watched {
            // The probe reports an interface that was removed.
            let Ok(now) = sys::link::find(name) else { continue };
            if let Some(text) = change(name, link.before.as_ref(), &now) {
                events.write_since(link.down.unwrap_or(before), EventKind::Link, text);
            }
            link.down = (!now.carrier).then(|| link.down.unwrap_or(before));
            link.before = Some(now);
        }
    }

    /// Reports, at the end of the run, interfaces that still have no carrier.
    pub(super) fn close(&mut self, events: &Events) {
        for (name, link) in &self.watched {
            if let Some(since) = link.down {
                events.write_since(since, EventKind::Link, format!("{name} had no carrier until the end"));
            }
        }
    }
}

fn change(name: &str, before: Option<&LinkInfo>, now: &LinkInfo) -> Option<String> {
    let Some(before) = before else {
        return (!now.carrier).then(|| format!("{name} has no carrier: no frame leaves it"));
    };
    // An interface without a carrier had none for a sender, whatever happened in between.
    let was_or_is = before.carrier || now.carrier;
    let change = now.carrier_change(before).filter(|_| was_or_is)?;
    Some(format!("{name} {change}"))
}

#[cfg(test)]
mod tests {
    use super::change;
    use sys::link::{LinkInfo, find};

    fn link(carrier: bool, losses: u32) -> LinkInfo {
        LinkInfo {
            carrier,
            carrier_losses: Some(losses),
            ..find("lo").expect("every namespace has lo")
        }
    }

    #[test]
    fn a_carrier_that_was_never_lost_is_not_told() {
        let (up, down) = (link(true, 3), link(false, 4));
        assert_eq!(change("eth1", None, &up), None);
        assert_eq!(change("eth1", Some(&up), &up), None);
        assert_eq!(change("eth1", Some(&down), &down), None);
    }

    #[test]
    fn each_loss_is_told_also_one_between_two_looks() {
        let (up, down) = (link(true, 3), link(false, 4));
        assert_eq!(
            change("eth1", None, &down).as_deref(),
            Some("eth1 has no carrier: no frame leaves it")
        );
        assert_eq!(
            change("eth1", Some(&up), &down).as_deref(),
            Some("eth1 lost its carrier")
        );
        assert_eq!(
            change("eth1", Some(&down), &up).as_deref(),
            Some("eth1 has its carrier again")
        );
        let text = change("eth1", Some(&up), &link(true, 5));
        assert_eq!(
            text.as_deref(),
            Some("eth1 lost its carrier and regained it (losses: 2)")
        );
    }
}
