//! Watches the links of the measured interfaces, and tells of lost ones.

use model::EventKind;
use run::Events;
use std::collections::BTreeMap;
use sys::link::LinkInfo;
use units::Monotonic;

/// The links of some interfaces, of the calling thread's network namespace. A socket takes frames without a word where no carrier
/// is, so whoever only sends does not notice.
pub(super) struct Links {
    watched: BTreeMap<String, Watched>,
    /// When they were last looked at.
    looked: Monotonic,
}

/// An interface.
#[derive(Default)]
struct Watched {
    before: Option<LinkInfo>,
    /// It has no carrier, and may have had none since then.
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

    /// Tells what changed since the last look, also a loss that was over before this one. A carrier that comes back is told for all of
    /// the time that there was none.
    pub(super) fn look(&mut self, events: &Events) {
        let before = std::mem::replace(&mut self.looked, sys::clock::monotonic());
        for (name, link) in &mut self.watched {
            // One that was removed, the probe tells of.
            let Ok(now) = sys::link::find(name) else { continue };
            if let Some(text) = change(name, link.before.as_ref(), &now) {
                events.write_since(link.down.unwrap_or(before), EventKind::Link, text);
            }
            link.down = (!now.carrier).then(|| link.down.unwrap_or(before));
            link.before = Some(now);
        }
    }

    /// Tells at the end of the run of those that still have no carrier.
    pub(super) fn close(&mut self, events: &Events) {
        for (name, link) in &self.watched {
            if let Some(since) = link.down {
                events.write_since(since, EventKind::Link, format!("{name} had no carrier up to the end"));
            }
        }
    }
}

fn change(name: &str, before: Option<&LinkInfo>, now: &LinkInfo) -> Option<String> {
    let Some(before) = before else {
        return (!now.carrier).then(|| format!("{name} has no carrier: no frame leaves it"));
    };
    // One without a carrier had none for whoever sends, whatever happened between.
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
