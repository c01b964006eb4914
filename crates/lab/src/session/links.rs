//! Whether the measured interfaces keep their link.

use model::EventKind;
use run::Events;
use std::collections::BTreeMap;

/// What was last seen of an interface.
#[derive(Debug, Clone, Copy)]
struct Seen {
    carrier: bool,
    losses: Option<u32>,
}

/// The links of some interfaces, of the calling thread's network namespace. A socket takes frames without a word where no carrier
/// is, so whoever only sends does not notice.
pub(super) struct Links(BTreeMap<String, Option<Seen>>);

impl Links {
    pub(super) fn new(interfaces: Vec<String>) -> Self {
        Self(interfaces.into_iter().map(|name| (name, None)).collect())
    }

    /// Tells what changed since the last look, also a loss that was over before this one.
    pub(super) fn look(&mut self, events: &Events) {
        for (name, before) in &mut self.0 {
            // One that was removed, the probe tells of.
            let Ok(link) = sys::link::find(name) else { continue };
            let now = Seen {
                carrier: link.carrier,
                losses: link.carrier_losses,
            };
            if let Some(text) = change(name, *before, now) {
                events.write(EventKind::Link, text);
            }
            *before = Some(now);
        }
    }
}

fn change(name: &str, before: Option<Seen>, now: Seen) -> Option<String> {
    let Some(before) = before else {
        return (!now.carrier).then(|| format!("{name} has no carrier: no frame leaves it"));
    };
    let losses = now
        .losses
        .zip(before.losses)
        .map_or(0, |(now, before)| now.wrapping_sub(before));
    match (before.carrier, now.carrier) {
        (true, false) => Some(format!("{name} lost its carrier")),
        (false, true) => Some(format!("{name} has its carrier again")),
        (true, true) if losses > 0 => Some(format!("{name} lost its carrier and regained it (losses: {losses})")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, change};

    const UP: Seen = Seen {
        carrier: true,
        losses: Some(3),
    };
    const DOWN: Seen = Seen {
        carrier: false,
        losses: Some(4),
    };

    #[test]
    fn a_carrier_that_was_never_lost_is_not_told() {
        assert_eq!(change("eth1", None, UP), None);
        assert_eq!(change("eth1", Some(UP), UP), None);
        assert_eq!(change("eth1", Some(DOWN), DOWN), None);
    }

    #[test]
    fn each_loss_is_told_also_one_between_two_looks() {
        assert_eq!(
            change("eth1", None, DOWN).as_deref(),
            Some("eth1 has no carrier: no frame leaves it")
        );
        assert_eq!(change("eth1", Some(UP), DOWN).as_deref(), Some("eth1 lost its carrier"));
        assert_eq!(
            change("eth1", Some(DOWN), UP).as_deref(),
            Some("eth1 has its carrier again")
        );
        let later = Seen { losses: Some(5), ..UP };
        let text = change("eth1", Some(UP), later);
        assert_eq!(
            text.as_deref(),
            Some("eth1 lost its carrier and regained it (losses: 2)")
        );
    }
}
