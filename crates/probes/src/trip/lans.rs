//! The LANs of a doubly attached test set.

use crate::redundant::LanFault;
use model::EventKind;
use run::Events;
use units::Monotonic;
use wire::ether::Mac;
use wire::redundancy::{Discard, Lan};

/// Instants of the first frames of a source with marks of redundancy, one for each LAN.
#[derive(Debug, Clone, Copy)]
pub(super) struct Firsts {
    src: Mac,
    on_lans_ns: [Option<i64>; 2],
}

impl Firsts {
    /// Firsts of all sources.
    pub(super) fn of(discard: &Discard) -> Vec<Self> {
        let sources = discard.sources().iter();
        let firsts = sources.map(|source| Self {
            src: source.mac,
            on_lans_ns: source.first_ns,
        });
        firsts.collect()
    }
}

/// The LANs in which nothing came from this source before `until`. Frames of other nodes say nothing about it.
fn silent(firsts: &[Firsts], src: Option<Mac>, until: Option<Monotonic>) -> impl Iterator<Item = Lan> {
    let spoke = move |lan: Lan| {
        let mut of_source = firsts.iter().filter(|first| Some(first.src) == src);
        of_source.any(|first| {
            let first_ns = first.on_lans_ns[lan.number()];
            first_ns.is_some_and(|ns| until.is_none_or(|until| ns < until.as_ns()))
        })
    };
    Lan::BOTH.into_iter().filter(move |lan| !spoke(*lan))
}

/// Writes the LANs in which nothing came from a relay before the first shot. A fault of the LANs then proves nothing: the relay may work in one LAN
/// alone. Each relay has a prefix of its texts and a source address.
pub(super) fn say_silent(
    firsts: &[Firsts],
    relays: impl Iterator<Item = (String, Option<Mac>)>,
    until: Option<Monotonic>,
    fault: Option<LanFault>,
    events: &Events,
) {
    let (kind, so) = match fault {
        Some(_) => (EventKind::StreamDoubt, "so the fault of the LANs shows nothing"),
        None => (EventKind::Note, "so the relay was heard in the other LAN alone"),
    };
    for (prefix, src) in relays {
        for lan in silent(firsts, src, until) {
            events.write(
                kind,
                format!(
                    "{prefix}{lan}: no frame of the relay with marks of redundancy came before the first fault, {so}"
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Firsts, silent};
    use units::Monotonic;
    use wire::ether::Mac;
    use wire::redundancy::{Discard, Lan, Protocol, Received, Redundancy};

    const RELAY: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const OTHER: Mac = Mac([2, 0, 0, 0, 0, 2]);

    /// The silent LANs of the relay before 10 ns; each frame has a source, a LAN and an instant.
    fn found(frames: &[(Mac, Lan, i64)]) -> Vec<Lan> {
        let mut discard = Discard::new(8, 0);
        for (src, lan, at_ns) in frames {
            let path = 0xa + lan.number() as u8;
            discard.take(&Received {
                dst: Mac::BROADCAST,
                src: *src,
                mark: Redundancy {
                    protocol: Protocol::Prp,
                    path,
                    size: 52,
                    sequence: 7,
                },
                port: Some(*lan),
                at_ns: *at_ns,
                contents: None,
            });
        }
        silent(&Firsts::of(&discard), Some(RELAY), Some(Monotonic::from_ns(10))).collect()
    }

    #[test]
    fn only_frames_of_the_relay_before_the_first_fault_speak_for_it() {
        let both = [(RELAY, Lan::A, 1), (RELAY, Lan::B, 2)];
        assert!(found(&both).is_empty());
        let of_another = [(OTHER, Lan::A, 1), (OTHER, Lan::B, 2)];
        assert_eq!(found(&of_another), Lan::BOTH);
        assert_eq!(found(&[both[0], of_another[1]]), [Lan::B]);
        assert_eq!(
            found(&[both[0], (RELAY, Lan::B, 11)]),
            [Lan::B],
            "after the first fault"
        );
        assert_eq!(silent(&[], None, None).count(), 2, "a relay that never spoke");
    }
}
