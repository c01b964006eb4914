//! Series and notices of the LANs of a doubly attached receiver.

use crate::notice::notices;
use crate::reception::Lans;
use model::{EventKind, SeriesClock, SeriesSpec, kind};
use run::Feed;
use units::Monotonic;
use wire::ether::Mac;
use wire::redundancy::{ENTRY_FORGET_NS, Lan, Node};

notices! {
    /// Notices about the LANs. Their codes are above those of GOOSE.
    pub(super) enum Notice {
        /// Number of missing copies whose loss is not decided.
        Undecided = 2_000,
        /// Number of frames without marks.
        Unmarked = 2_001,
        /// The LAN delivered no frame with its marks; number of those that came on the other one, and of those with the marks of the other one.
        Silent = 2_002,
        /// Numbers that came on neither LAN, and restarts of the numbers.
        Neither = 2_003,
        /// Frames of sources beyond the greatest number.
        Unplaced = 2_004,
        /// Address of a node with its sort, and its supervision frames on both LANs.
        Node = 2_005,
        /// Number of frames whose source was silent on the other LAN.
        Unwitnessed = 2_006,
        /// Number of frames of sampled values or GOOSE without marks.
        Unproven = 2_007,
    }
}

/// Bits of a MAC address.
const MAC_BITS: u32 = 48;

/// The series of a LAN.
pub(super) fn series(label: &str, mut settings: Vec<(String, String)>) -> SeriesSpec {
    let window = format!("{} ms (IEC 62439-3, EntryForgetTime)", ENTRY_FORGET_NS / 1_000_000);
    settings.push(("discard window".into(), window));
    SeriesSpec {
        clock: SeriesClock::Realtime,
        settings,
        ..SeriesSpec::of(&kind::LAN, label, "first copy of a frame -> its copy on this LAN")
    }
}

/// Reports the findings of both LANs, once, at the end. The series of LAN A is in `slot`.
pub(super) fn tell_lans(lans: &Lans, slot: u16, now: Monotonic, feed: &mut Feed) {
    for (slot, lan) in (slot..).zip(Lan::BOTH) {
        let counts = lans.discard.lan(lan);
        let other = lans.discard.lan(lan.other());
        if counts.received == 0 {
            feed.notice(slot, Notice::Silent, now, other.received, counts.wrong);
        }
        for (notice, count) in [
            (Notice::Undecided, counts.undecided),
            (Notice::Unwitnessed, counts.unwitnessed),
            (
                Notice::Unmarked,
                lans.unmarked[lan.number()] - lans.unproven[lan.number()],
            ),
            (Notice::Unproven, lans.unproven[lan.number()]),
            (Notice::Unplaced, lans.discard.unplaced + lans.nodes.unplaced),
        ] {
            if count > 0 {
                feed.notice(slot, notice, now, count, 0);
            }
        }
    }
    let sum = |of: fn(&wire::redundancy::Source) -> u64| lans.discard.sources().iter().map(of).sum::<u64>();
    let (neither, restarts) = (sum(|source| source.neither), sum(|source| source.restarts));
    if neither + restarts > 0 {
        feed.notice(slot, Notice::Neither, now, neither, restarts);
    }
    for node in lans.nodes.known() {
        let [a, b] = node.frames.map(|frames| frames.min(u64::from(u32::MAX)));
        let Mac(octets) = node.newest.mac;
        let mac = octets.iter().fold(0, |mac, octet| mac << 8 | u64::from(*octet));
        let sort = Node::EVERY
            .iter()
            .position(|sort| *sort == node.newest.node)
            .unwrap_or(0) as u64;
        feed.notice(slot, Notice::Node, now, sort << MAC_BITS | mac, a << 32 | b);
    }
}

/// The event for a notice of the series `name`; `None` for a notice of others.
pub(super) fn told(code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
    Some(match Notice::of(code)? {
        Notice::Undecided => (
            EventKind::StreamDoubt,
            format!(
                "{name}: {a} copies were missing when the reception ended: it is not decided whether they are lost"
            ),
        ),
        Notice::Unmarked => (
            EventKind::Note,
            format!(
                "{name}: {a} frames had no marks of PRP or HSR: their sender has one port, and nothing shows their loss on this LAN"
            ),
        ),
        Notice::Unproven => (
            EventKind::StreamDoubt,
            format!(
                "{name}: {a} frames of sampled values or GOOSE had no marks of PRP or HSR: their sender has one port, and nothing shows \
                 their loss on this LAN"
            ),
        ),
        Notice::Silent if b > 0 => (
            EventKind::StreamDoubt,
            format!(
                "{name}: no frame with the marks of this LAN came, and {b} with those of the other one: are the cables crossed?"
            ),
        ),
        Notice::Silent if a > 0 => (
            EventKind::StreamDoubt,
            format!("{name}: no frame of this LAN came, and {a} on the other one: is its cable in, and its sender on?"),
        ),
        Notice::Silent => (
            EventKind::StreamDoubt,
            format!("{name}: no frame with marks came: nothing is known about this LAN"),
        ),
        Notice::Neither => (
            EventKind::Note,
            format!(
                "{a} numbers came on neither LAN (a node also numbers its frames to others: the losses of a stream are its own), and {b} \
                 restarts of the numbers"
            ),
        ),
        Notice::Unplaced => (
            EventKind::StreamDoubt,
            format!("{name}: {a} frames of further sources: their copies were not discarded"),
        ),
        Notice::Node => (EventKind::Note, node_text(a, b)),
        Notice::Unwitnessed => (
            EventKind::StreamDoubt,
            format!("{name}: {a} frames of sources that are silent on the other LAN: a loss here does not show then"),
        ),
    })
}

fn node_text(a: u64, b: u64) -> String {
    let octets = a.to_be_bytes();
    let mut mac = [0; 6];
    mac.copy_from_slice(&octets[2..]);
    let sort = usize::try_from(a >> MAC_BITS).ok().and_then(|at| Node::EVERY.get(at));
    let sort = sort.map_or("node", |sort| sort.words());
    format!(
        "node {} ({sort}): {} supervision frames on LAN A, {} on LAN B",
        Mac(mac),
        b >> 32,
        b & u64::from(u32::MAX)
    )
}

#[cfg(test)]
mod tests {
    use super::{Notice, told};
    use model::EventKind;

    #[test]
    fn nodes_and_silent_lans_are_told() {
        let text = |notice: Notice, a, b| {
            let code = <Notice as run::Notice>::code(notice);
            told(code, "lan/B", a, b).map(|(_, text)| text)
        };
        let node = text(Notice::Node, 3 << 48 | 0x0200_0000_0077, 2 << 32 | 5).unwrap();
        assert_eq!(
            node,
            "node 02:00:00:00:00:77 (HSR node): 2 supervision frames on LAN A, 5 on LAN B"
        );
        let code = <Notice as run::Notice>::code(Notice::Unproven);
        assert_eq!(
            told(code, "lan/B", 7, 0).map(|(kind, _)| kind),
            Some(EventKind::StreamDoubt)
        );
        assert!(text(Notice::Silent, 9, 0).unwrap().contains("9 on the other one"));
        assert!(text(Notice::Unwitnessed, 7, 0).unwrap().contains("7 frames of sources"));
        assert!(
            text(Notice::Silent, 0, 5)
                .unwrap()
                .contains("5 with those of the other one")
        );
        assert!(text(Notice::Silent, 0, 0).unwrap().contains("nothing is known"));
    }
}
