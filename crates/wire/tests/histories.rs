//! For any history of a stream: what the rules let pass without a word was whole. Histories are made up, played to a sequence, and held
//! against the ledger of what was done to them.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, prop_assume, proptest};
use wire::sequence::{Contents, Sample, Sequence};

/// What is done to a stream, at a place between 0 and 1 of its length.
#[derive(Debug, Clone)]
enum Deed {
    /// So many samples are left out.
    Lose(u32),
    /// So many samples come twice, the copies so many places later.
    Double(u32, u32),
    /// A sample changes places with one so many later.
    Swap(u32),
    /// The publisher begins anew so many counts further, after a pause of so many samples' time.
    Restart(u32, u32),
    /// Somebody else sends so many samples, from a count so far away, with other contents.
    Intrude(u32, u32),
    /// So many samples get other contents on the way, and come beside the true ones.
    Contradict(u32),
    /// The receiver is held up: so many samples are stamped when it goes on.
    HoldUp(u32),
    /// Nothing comes any more.
    Stop,
}

impl Deed {
    /// Whether the stream that was received is not the one that was sent.
    fn harms(&self) -> bool {
        match self {
            Self::Lose(count) | Self::Intrude(count, _) | Self::Contradict(count) => *count > 0,
            Self::Restart(..) | Self::Stop => true,
            Self::Double(..) | Self::Swap(_) | Self::HoldUp(_) => false,
        }
    }
}

/// A sample on the wire: when it comes, its count and what it says.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at_ns: i64,
    count: u16,
    contents: u32,
}

/// A stream of `seconds` at `rate`, from count `first` on, with the deeds done to it; and how many samples were lost, if only losses
/// were done.
fn play(rate: u32, first: u32, samples: u32, deeds: &[(f64, Deed)]) -> (Vec<Sent>, i64) {
    let period_ns = 1_000_000_000 / i64::from(rate);
    let end_ns = i64::from(samples) * period_ns;
    let mut stream: Vec<Sent> = (0..samples)
        .map(|index| Sent {
            at_ns: i64::from(index) * period_ns,
            count: ((first + index) % rate) as u16,
            contents: 1 + (first + index) % 997,
        })
        .collect();
    // The receiver is held up with all that was done before it.
    let (held_up, done): (Vec<_>, Vec<_>) = deeds.iter().partition(|(_, deed)| matches!(deed, Deed::HoldUp(_)));
    for (place, deed) in done.into_iter().chain(held_up) {
        let at = ((stream.len() as f64 * place) as usize).min(stream.len().saturating_sub(1));
        act(&mut stream, at, rate, period_ns, deed);
        stream.sort_by_key(|sent| sent.at_ns);
    }
    (stream, end_ns)
}

fn act(stream: &mut Vec<Sent>, at: usize, rate: u32, period_ns: i64, deed: &Deed) {
    let until = |count: u32| (at + count as usize).min(stream.len());
    match *deed {
        Deed::Lose(count) => drop(stream.drain(at..until(count))),
        Deed::Double(count, later) => {
            let copies: Vec<Sent> = stream[at..until(count)]
                .iter()
                .map(|sent| Sent {
                    at_ns: sent.at_ns + i64::from(later) * period_ns + 1,
                    ..*sent
                })
                .collect();
            stream.extend(copies);
        }
        Deed::Swap(later) => {
            if let Some(sent) = stream.get_mut(at) {
                sent.at_ns += i64::from(later) * period_ns + 1;
            }
        }
        Deed::Restart(further, pause) => {
            for sent in &mut stream[at..] {
                sent.at_ns += i64::from(pause) * period_ns;
                sent.count = ((u32::from(sent.count) + further) % rate) as u16;
            }
        }
        Deed::Intrude(count, away) => {
            let foreign: Vec<Sent> = stream[at..until(count)]
                .iter()
                .map(|sent| Sent {
                    at_ns: sent.at_ns + period_ns / 2,
                    count: ((u32::from(sent.count) + away) % rate) as u16,
                    contents: sent.contents + 5_000,
                })
                .collect();
            stream.extend(foreign);
        }
        Deed::Contradict(count) => {
            let changed: Vec<Sent> = stream[at..until(count)]
                .iter()
                .map(|sent| Sent {
                    at_ns: sent.at_ns + 1,
                    contents: sent.contents + 7_000,
                    ..*sent
                })
                .collect();
            stream.extend(changed);
        }
        Deed::HoldUp(count) => {
            let last = until(count).saturating_sub(1);
            if let Some(free_ns) = stream.get(last).map(|sent| sent.at_ns) {
                let held = stream[at..=last].iter_mut();
                held.for_each(|sent| sent.at_ns = free_ns);
            }
        }
        Deed::Stop => stream.truncate(at),
    }
}

/// What the rules say of it.
struct Said {
    lost: u64,
    conflicting: u64,
    doubts: Vec<String>,
}

fn supervise(mut sequence: Sequence, stream: &[Sent], stamped: bool, end_ns: i64) -> Said {
    let mut doubts = Vec::new();
    let mut tell = |sequence: &mut Sequence| {
        while let Some(finding) = sequence.take_finding() {
            if finding.what.is_doubt() {
                doubts.push(finding.to_string());
            }
        }
    };
    for sent in stream {
        sequence.accept(Sample {
            smp_cnt: sent.count,
            contents: Contents::new(sent.contents),
            at_ns: stamped.then_some(sent.at_ns),
            alone: false,
        });
        tell(&mut sequence);
    }
    sequence.end(stamped.then_some(end_ns));
    tell(&mut sequence);
    Said {
        lost: sequence.counters().lost,
        conflicting: sequence.counters().conflicting,
        doubts,
    }
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (1_u32..200).prop_map(Deed::Lose),
        2 => (200_u32..12_000).prop_map(Deed::Lose),
        1 => prop_oneof![Just(4_000_u32), Just(3_999), Just(4_001), Just(2_000), Just(1_998), Just(8_000)].prop_map(Deed::Lose),
        2 => (1_u32..50, 0_u32..12).prop_map(|(count, later)| Deed::Double(count, later)),
        2 => (1_u32..12).prop_map(Deed::Swap),
        2 => (17_u32..3_983, 0_u32..6_000).prop_map(|(further, pause)| Deed::Restart(further, pause)),
        2 => (5_u32..600, 0_u32..4_000).prop_map(|(count, away)| Deed::Intrude(count, away)),
        2 => (1_u32..50).prop_map(Deed::Contradict),
        2 => (1_u32..1_200).prop_map(Deed::HoldUp),
        1 => Just(Deed::Stop),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<(f64, Deed)>> {
    prop::collection::vec((0.02_f64..0.85, deed()), 0..4)
}

/// Whether the stream ends with a silence that may be the time between two looks: it is told from half a second on.
fn ends_early(stream: &[Sent], end_ns: i64) -> bool {
    let silent_ns = end_ns - stream.last().map_or(0, |sent| sent.at_ns);
    (500_000..=500_000_000).contains(&silent_ns)
}

/// Sequences that learn the rate, and that were told.
fn sequence(learns: bool) -> Sequence {
    match learns {
        true => Sequence::learning().comparing(),
        false => Sequence::new(4_000).comparing(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_was_whole(first in 0_u32..4_000, seconds in 2_u32..6, deeds in deeds(), learns in any::<bool>()) {
        let (stream, end_ns) = play(4_000, first, seconds * 4_000, &deeds);
        let said = supervise(sequence(learns), &stream, true, end_ns);
        prop_assume!(!ends_early(&stream, end_ns));
        let passes = said.lost == 0 && said.conflicting == 0 && said.doubts.is_empty();
        let harmed = deeds.iter().any(|(_, deed)| deed.harms());
        prop_assert!(!(passes && harmed), "{deeds:?} passes");
    }

    #[test]
    fn without_stamps_what_passes_had_no_hole_that_a_counter_shows(
        first in 0_u32..4_000,
        place in 0.02_f64..0.85,
        lost in 1_u32..1_900,
        learns in any::<bool>(),
    ) {
        let (stream, end_ns) = play(4_000, first, 16_000, &[(place, Deed::Lose(lost))]);
        let said = supervise(sequence(learns), &stream, false, end_ns);
        prop_assert!(said.lost > 0 || !said.doubts.is_empty(), "{lost} lost at {place} pass");
    }

    #[test]
    fn losses_are_counted_to_the_sample(
        first in 0_u32..4_000,
        losses in prop::collection::vec((0.02_f64..0.85, 1_u32..9_000), 1..4),
        held in prop::option::of((0.02_f64..0.85, 1_u32..400)),
        learns in any::<bool>(),
    ) {
        let mut deeds: Vec<(f64, Deed)> = losses.iter().map(|(place, lost)| (*place, Deed::Lose(*lost))).collect();
        let samples = 48_000;
        let (cut, _) = play(4_000, first, samples, &deeds);
        deeds.extend(held.map(|(place, count)| (place, Deed::HoldUp(count))));
        let (stream, end_ns) = play(4_000, first, samples, &deeds);
        prop_assume!(!ends_early(&stream, end_ns));
        let missing = u64::from(samples) - cut.len() as u64;
        let said = supervise(sequence(learns), &stream, true, end_ns);
        let told = said.lost == missing || !said.doubts.is_empty();
        prop_assert!(told, "{} told of {missing} lost: {deeds:?}", said.lost);
        if held.is_none() && !learns {
            prop_assert_eq!((said.lost, said.doubts), (missing, vec![]));
        }
    }

    #[test]
    fn what_is_whole_passes(
        first in 0_u32..4_000,
        deeds in prop::collection::vec((0.02_f64..0.85, prop_oneof![
            (1_u32..50, 0_u32..12).prop_map(|(count, later)| Deed::Double(count, later)),
            (1_u32..12).prop_map(Deed::Swap),
            (1_u32..800).prop_map(Deed::HoldUp),
        ]), 0..3),
        learns in any::<bool>(),
    ) {
        let (stream, end_ns) = play(4_000, first, 16_000, &deeds);
        let said = supervise(sequence(learns), &stream, true, end_ns);
        prop_assert_eq!((said.lost, said.conflicting, said.doubts), (0, 0, vec![]), "{:?}", deeds);
    }
}
