//! The discard counts what a ledger of the two networks says, for any history of losses, delays and repetitions.

use proptest::prelude::{Just, prop, prop_oneof};
use proptest::strategy::Strategy;
use proptest::{prop_assert_eq, proptest};
use wire::ether::Mac;
use wire::redundancy::{Came, Discard, ENTRY_FORGET_NS, Lan, LanCounts, Protocol, Received, Redundancy};
use wire::sequence::Contents;

const MS: i64 = 1_000_000;
const WINDOW: i64 = ENTRY_FORGET_NS as i64;

/// A copy at a port; `stated` is the LAN in its trailer.
fn copy(src: u8, number: u16, port: Lan, stated: Lan, at_ns: i64) -> Received {
    Received {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, src]),
        mark: Redundancy {
            protocol: Protocol::Prp,
            path: 0xa + stated.number() as u8,
            size: 100,
            sequence: number,
        },
        port: Some(port),
        at_ns,
        contents: Contents::new(1 + u32::from(number)),
    }
}

fn on(lan: Lan, number: u16, at_ns: i64) -> Received {
    copy(1, number, lan, lan, at_ns)
}

fn came(discard: &mut Discard, frame: Received) -> Came {
    discard.take(&frame).unwrap()
}

/// The fate of a copy in its network.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Lost,
    After(i64),
    Twice(i64),
    Late(i64),
    Wrong(i64),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        2 => Just(Fate::Lost),
        20 => (0..40_i64).prop_map(|ms| Fate::After(ms * MS / 7)),
        2 => (0..200_i64).prop_map(|ms| Fate::After(ms * MS)),
        1 => (0..90_i64).prop_map(|ms| Fate::Twice(ms * MS)),
        1 => (700..900_i64).prop_map(|ms| Fate::Late(ms * MS)),
        1 => (0..90_i64).prop_map(|ms| Fate::Wrong(ms * MS)),
    ]
}

/// An arrival: the instant, the index of the frame, the port, and true if the trailer states the other LAN.
type Arrival = (i64, usize, Lan, bool);

fn arrivals(fates: &[(Fate, Fate)], interval_ns: i64) -> Vec<Arrival> {
    let mut all = Vec::new();
    for (index, &(a, b)) in fates.iter().enumerate() {
        let sent = index as i64 * interval_ns;
        // A frame whose copies are all late is a frame of another history.
        let is_on_time = |fate: Fate| matches!(fate, Fate::After(_) | Fate::Twice(_));
        let is_someone = is_on_time(a) || is_on_time(b);
        for (lan, fate) in Lan::BOTH.into_iter().zip([a, b]) {
            match fate {
                Fate::Lost => {}
                Fate::After(ns) => all.push((sent + ns, index, lan, false)),
                Fate::Twice(ns) => all.extend([0, 3 * MS].map(|more| (sent + ns + more, index, lan, false))),
                Fate::Late(ns) if is_someone => all.push((sent + ns, index, lan, false)),
                Fate::Late(_) => {}
                Fate::Wrong(ns) => all.push((sent + ns, index, lan, true)),
            }
        }
    }
    all.sort();
    all
}

/// Counts of a LAN by the ledger.
fn ledger(all: &[Arrival], frames: usize, lan: Lan) -> LanCounts {
    let mut counts = LanCounts::default();
    let mut newest = None;
    for &(at, index, port, is_wrong) in all.iter().filter(|arrival| arrival.2 == lan) {
        let first = all.iter().find(|arrival| arrival.1 == index).unwrap().0;
        let is_first_here = all
            .iter()
            .find(|other| (other.1, other.2, other.3) == (index, port, false))
            .is_some_and(|other| other.0 == at);
        match (is_wrong, is_first_here, at - first < WINDOW) {
            (true, ..) => counts.wrong += 1,
            (false, true, true) => {
                counts.received += 1;
                counts.most_after_ns = counts.most_after_ns.max((at - first) as u64);
                counts.reordered += u64::from(newest.is_some_and(|newest| index < newest));
                newest = newest.max(Some(index));
            }
            (false, true, false) => counts.late += 1,
            (false, false, _) => counts.again += 1,
        }
    }
    let has_come = |index: usize| all.iter().any(|arrival| arrival.1 == index);
    let is_of_other = |arrival: &&Arrival| arrival.2 == lan.other() && !arrival.3;
    if all.iter().find(is_of_other).is_none() {
        counts.unwitnessed = counts.received;
    }
    counts.lost = (0..frames).filter(|index| has_come(*index)).count() as u64 - counts.received;
    counts
}

proptest! {
    #[test]
    fn counts_are_those_of_the_ledger(
        first: u16,
        interval_us in prop_oneof![Just(50_i64), Just(208), Just(4_000)],
        fates in prop::collection::vec((fate(), fate()), 1..400),
    ) {
        let all = arrivals(&fates, interval_us * 1_000);
        let mut discard = Discard::new(4, 1);
        let mut taken = vec![0; fates.len()];
        for &(at, index, port, is_wrong) in &all {
            let stated = if is_wrong { port.other() } else { port };
            let number = first.wrapping_add(index as u16);
            let came = came(&mut discard, copy(1, number, port, stated, at));
            taken[index] += usize::from(came == Came::First);
        }
        discard.end(all.last().map_or(0, |arrival| arrival.0) + 2 * WINDOW);
        for lan in Lan::BOTH {
            prop_assert_eq!(discard.lan(lan), ledger(&all, fates.len(), lan), "{}", lan);
        }
        // Every frame that came is taken once.
        let has_come = |index: usize| all.iter().any(|arrival| arrival.1 == index);
        for (index, taken) in taken.iter().enumerate() {
            prop_assert_eq!(*taken, usize::from(has_come(index)), "frame {}", index);
        }
        let Some(source) = discard.sources().first() else { return Ok(()) };
        prop_assert_eq!(source.together, taken.iter().sum::<usize>() as u64);
        let first = all[0].1;
        let last = all.iter().map(|arrival| arrival.1).max().unwrap_or(0);
        let neither = (first..last).filter(|index| !has_come(*index)).count();
        prop_assert_eq!((source.neither, source.restarts), (neither as u64, 0));
    }

    /// Any marks at any stamps: nothing panics, and every frame is counted once.
    #[test]
    fn any_stamps_and_numbers(
        frames in prop::collection::vec((0_u8..6, prop::num::u16::ANY, 0..2_usize, 0..2_usize, prop::num::i64::ANY), 0..300),
    ) {
        let mut discard = Discard::new(4, 0);
        for (src, number, port, stated, at_ns) in &frames {
            discard.take(&copy(*src, *number, Lan::BOTH[*port], Lan::BOTH[*stated], *at_ns));
        }
        discard.end(i64::MAX);
        let counted = Lan::BOTH.map(|lan| discard.lan(lan));
        let counted: u64 = counted.iter().map(|of| of.received + of.late + of.again + of.wrong).sum();
        prop_assert_eq!(counted + discard.unplaced, frames.len() as u64);
    }
}

#[test]
fn a_week_of_numbers_wraps_without_a_loss() {
    let mut discard = Discard::new(1, 1);
    for index in 0..200_000_i64 {
        let at = index * 10_000;
        assert_eq!(came(&mut discard, on(Lan::A, index as u16, at)), Came::First);
        let copy = came(&mut discard, on(Lan::B, index as u16, at + 5_000));
        assert_eq!(copy, Came::Copy { after_ns: 5_000 });
    }
    discard.end(200_000 * 10_000);
    let source = &discard.sources()[0];
    assert_eq!((source.together, source.neither, source.restarts), (200_000, 0, 0));
    for lan in Lan::BOTH {
        assert_eq!((discard.lan(lan).received, discard.lan(lan).lost), (200_000, 0));
    }
}

/// LAN B ends: its losses are counted as soon as they are certain, and the last ones are not decided.
#[test]
fn a_lan_that_is_cut_loses_every_later_frame() {
    let mut discard = Discard::new(1, 1);
    for index in 0..3_000_i64 {
        came(&mut discard, on(Lan::A, index as u16, index * MS));
        if index < 1_000 {
            came(&mut discard, on(Lan::B, index as u16, index * MS + MS / 4));
        }
    }
    assert_eq!(discard.lan(Lan::B).lost, 3_000 - 1_000 - 400);
    discard.end(3_000 * MS);
    let counts = discard.lan(Lan::B);
    assert_eq!((counts.lost, counts.undecided, counts.on_its_way), (1_601, 398, 1));
    assert_eq!((discard.lan(Lan::A).lost, discard.lan(Lan::A).undecided), (0, 0));
    assert_eq!(discard.sources()[0].together, 3_000);
}

#[test]
fn a_lan_without_a_frame_has_lost_all_or_was_not_watched() {
    for is_watched in [true, false] {
        let mut discard = Discard::new(1, 1);
        if !is_watched {
            discard.watched_to(Lan::B, i64::MIN);
        }
        (0..1_000).for_each(|index| {
            came(&mut discard, on(Lan::A, index as u16, index * MS));
        });
        discard.end(1_000 * MS);
        let counts = discard.lan(Lan::B);
        let expected = if is_watched { (601, 399) } else { (0, 1_000) };
        assert_eq!((counts.received, counts.on_its_way), (0, 0));
        assert_eq!((counts.lost, counts.undecided), expected);
        // Nothing shows the losses of the only LAN.
        assert_eq!(discard.lan(Lan::A).unwitnessed, 1_000);
    }
}

#[test]
fn frames_before_the_watch_of_a_lan_are_not_lost_there() {
    let mut discard = Discard::new(1, 1);
    discard.watched_from(Lan::B, 500 * MS);
    for index in 0..2_000_i64 {
        came(&mut discard, on(Lan::A, index as u16, index * MS));
        if index >= 500 {
            came(&mut discard, on(Lan::B, index as u16, index * MS));
        }
    }
    discard.end(2_000 * MS);
    let counts = discard.lan(Lan::B);
    assert_eq!((counts.lost, counts.undecided, counts.received), (0, 500, 1_500));
    assert_eq!(discard.lan(Lan::A).unwitnessed, 500);
}

/// LAN B is 600 us behind, and each LAN is watched for another time: no frame is lost at the edges, and one in their midst is.
#[test]
fn the_edges_of_a_watch_lose_nothing() {
    let mut discard = Discard::new(1, 1);
    let at = |index: i64, lan: Lan| index * MS / 4 + 600_000 * lan.number() as i64;
    let spans = [(100, 9_000), (40, 9_200)].map(|(from, to)| (from * MS / 4, to * MS / 4));
    let mut frames: Vec<_> = (0..10_000)
        .flat_map(|index| Lan::BOTH.map(|lan| (at(index, lan), index, lan)))
        .filter(|(at, index, lan)| {
            let (from, to) = spans[lan.number()];
            (from..=to).contains(at) && (*index, *lan) != (5_000, Lan::B)
        })
        .collect();
    frames.sort_unstable();
    for lan in Lan::BOTH {
        discard.watched_from(lan, spans[lan.number()].0);
    }
    for (at, index, lan) in frames {
        if at > spans[0].1 {
            discard.watched_to(Lan::A, spans[0].1);
        }
        came(&mut discard, on(lan, index as u16, at));
    }
    discard.watched_to(Lan::B, spans[1].1);
    discard.end(spans[1].1);
    let [a, b] = Lan::BOTH.map(|lan| discard.lan(lan));
    assert_eq!((a.lost, b.lost), (0, 1));
    assert_eq!(a.on_its_way, 2);
    assert!(a.undecided > 100 && b.unwitnessed > 100, "{a:?} {b:?}");
}

/// Copies of the first frames came before the account began.
#[test]
fn the_first_frames_only_fill_the_memory() {
    let mut discard = Discard::new(1, 1);
    discard.begins(0);
    for index in 0..2_000_i64 {
        // LAN A is 30 ms ahead, and its first frames came before.
        if index >= 30 {
            came(&mut discard, on(Lan::A, index as u16, (index - 30) * MS));
        }
        if index != 1_000 {
            came(&mut discard, on(Lan::B, index as u16, index * MS));
        }
    }
    discard.end(3_000 * MS);
    let [a, b] = Lan::BOTH.map(|lan| discard.lan(lan));
    assert_eq!((a.lost, a.on_its_way, a.undecided), (0, 30, 0));
    assert_eq!((b.lost, b.on_its_way, b.undecided), (1, 0, 0));
}

#[test]
fn crossed_lans_deliver_nothing_by_their_own_ports() {
    let mut discard = Discard::new(1, 1);
    for index in 0..100_u16 {
        let at = i64::from(index) * MS;
        assert_eq!(came(&mut discard, copy(1, index, Lan::A, Lan::B, at)), Came::First);
        // The port makes it a copy, whatever it states.
        let other = came(&mut discard, copy(1, index, Lan::B, Lan::A, at));
        assert_eq!(other, Came::Copy { after_ns: 0 });
        assert_eq!(came(&mut discard, copy(1, index, Lan::B, Lan::A, at)), Came::Again);
    }
    discard.end(1_000 * MS);
    for lan in Lan::BOTH {
        let counts = discard.lan(lan);
        let wrong = 100 + 100 * lan.number() as u64;
        assert_eq!((counts.wrong, counts.received, counts.lost), (wrong, 0, 100));
    }
    assert_eq!(discard.sources()[0].together, 100);
}

/// A link of a ring sees a frame to one address, or to the neighbour, in one direction.
#[test]
fn frames_that_a_ring_carries_one_way_are_not_lost_in_the_other() {
    let group = Mac([1, 0x0c, 0xcd, 4, 0, 1]);
    for (dst, protocol, is_lost) in [
        (Mac([2, 0, 0, 0, 0, 9]), Protocol::Hsr, false),
        (Mac([1, 0x80, 0xc2, 0, 0, 0x0e]), Protocol::Hsr, false),
        (Mac([1, 0x80, 0xc2, 0, 0, 0x10]), Protocol::Hsr, true),
        (group, Protocol::Hsr, true),
        (Mac([2, 0, 0, 0, 0, 9]), Protocol::Prp, true),
    ] {
        let mut discard = Discard::new(1, 1);
        for index in 0..1_000_u16 {
            let mut frame = on(Lan::A, index, i64::from(index) * MS);
            frame.mark.protocol = protocol;
            frame.dst = if index % 2 == 0 { dst } else { group };
            came(&mut discard, frame);
            if index % 2 == 1 {
                let mut copy = Received {
                    port: Some(Lan::B),
                    ..frame
                };
                copy.mark.path |= 1;
                assert!(came(&mut discard, copy).is_discarded());
            }
        }
        discard.end(2_000 * MS);
        let counts = discard.lan(Lan::B);
        let expected = if is_lost { (500, 0) } else { (0, 500) };
        assert_eq!((counts.lost, counts.one_way), expected, "{dst:?} {protocol:?}");
        assert_eq!(discard.lan(Lan::A).unwitnessed, 0);
    }
}

#[test]
fn contents_that_differ_are_not_discarded() {
    let mut discard = Discard::new(1, 1);
    came(&mut discard, on(Lan::A, 7, 0));
    let other = Received {
        contents: Contents::new(99),
        ..on(Lan::B, 7, MS)
    };
    assert_eq!(came(&mut discard, other), Came::Conflicting);
    assert_eq!(came(&mut discard, on(Lan::A, 7, MS)), Came::Again);
    let counts = discard.lan(Lan::B);
    assert_eq!((counts.received, counts.conflicting), (1, 1));
}

#[test]
fn a_restarted_source_loses_nothing() {
    let mut discard = Discard::new(1, 1);
    let numbers = (40_000..41_000_u16).chain(0..1_000);
    for (index, number) in numbers.enumerate() {
        let at = index as i64 * MS;
        assert_eq!(came(&mut discard, on(Lan::A, number, at)), Came::First);
        assert!(came(&mut discard, on(Lan::B, number, at)).is_discarded());
    }
    discard.end(3_000 * MS);
    let source = &discard.sources()[0];
    assert_eq!((source.neither, source.restarts), (0, 1));
    assert_eq!((discard.lan(Lan::A).lost, discard.lan(Lan::B).lost), (0, 0));
}

/// A node that restarts a little behind its count reorders nothing.
#[test]
fn a_restart_a_little_behind_is_no_reordering() {
    let mut discard = Discard::new(1, 1);
    let frames = (0..1_000)
        .map(|index| (index, index))
        .chain((0..1_000).map(|index| (index, 2_000 + index)));
    for (number, at) in frames {
        for lan in Lan::BOTH {
            came(&mut discard, on(lan, number as u16, at * MS));
        }
    }
    discard.end(4_000 * MS);
    for lan in Lan::BOTH {
        let counts = discard.lan(lan);
        assert_eq!(
            (counts.reordered, counts.late, counts.lost, counts.received),
            (0, 0, 0, 2_000)
        );
    }
    let source = &discard.sources()[0];
    assert_eq!((source.restarts, source.neither), (1, 0));
}

#[test]
fn each_source_counts_for_itself_and_too_many_are_counted() {
    let mut discard = Discard::new(2, 1);
    for src in 0..4 {
        for lan in Lan::BOTH {
            let taken = discard.take(&copy(src, 5, lan, lan, 0));
            assert_eq!(taken.is_some(), src < 2);
        }
    }
    assert_eq!((discard.sources().len(), discard.unplaced), (2, 4));
}
