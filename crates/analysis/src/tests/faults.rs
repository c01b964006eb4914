//! Losses, repetitions and swaps at random places are counted exactly.

use super::{CONFIG, Kept, SPACING_NS, Stamped, analyse_with, only, sv};
use crate::Config;
use proptest::prelude::{any, prop};
use proptest::{prop_assert_eq, proptest};

/// Number of inserted faults of each kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Faults {
    lost: u64,
    duplicate: u64,
    reordered: u64,
}

/// The numbers of a stream with faults, which are further apart from each other and from the ends than the window for late samples (16), so that each
/// counts separately.
fn inject(numbers: u64, seed: &[u8]) -> (Vec<u64>, Faults) {
    let mut sent: Vec<u64> = (0..numbers).collect();
    let mut faults = Faults::default();
    let mut at = 40;
    for octet in seed {
        let distance = usize::from(octet >> 4 & 7) + 1;
        if at + 40 > sent.len() {
            break;
        }
        match octet & 3 {
            0 => {
                sent.drain(at..at + distance);
                faults.lost += distance as u64;
            }
            1 => {
                let again = sent[at];
                sent.insert(at + distance, again);
                faults.duplicate += 1;
            }
            2 => {
                let late = sent.remove(at);
                sent.insert(at + distance, late);
                faults.reordered += 1;
            }
            _ => {}
        }
        at += 40 + usize::from(octet >> 2);
    }
    (sent, faults)
}

fn counted(frames: &[Stamped], window_ns: Option<u64>) -> (Faults, u64) {
    let config = Config { window_ns, ..CONFIG };
    let (summary, kept) = analyse_with(config, Kept::default(), frames);
    let counts = only(&summary).tally.counters;
    let in_windows: u64 = kept.windows.iter().map(|window| window.4).sum();
    assert_eq!(in_windows, counts.lost, "the windows have what the total has");
    let faults = Faults {
        lost: counts.lost,
        duplicate: counts.duplicate,
        reordered: counts.reordered,
    };
    (faults, counts.received)
}

proptest! {
    #[test]
    fn of_sampled_values(numbers in 100..9_000_u64, seed in prop::collection::vec(any::<u8>(), 0..100), windows: bool) {
        let (sent, faults) = inject(numbers, &seed);
        let frame = |(at, number): (i64, &u64)| (Some(at * SPACING_NS), sv("MU01", (number % 4_000) as u16));
        let frames: Vec<Stamped> = (0..).zip(&sent).map(frame).collect();
        let (found, received) = counted(&frames, windows.then_some(100_000_000));
        prop_assert_eq!(received, sent.len() as u64 - faults.duplicate - 1);
        prop_assert_eq!(found, faults);
    }

    #[test]
    fn of_avtp(numbers in 100..2_000_u64, seed in prop::collection::vec(any::<u8>(), 0..50), windows: bool) {
        let (sent, faults) = inject(numbers, &seed);
        let frame = |(at, number): (i64, &u64)| {
            let ethernet = [0x91, 0xe0, 0xf0, 0, 0xe, 0x80, 2, 0, 0, 0, 0, 1, 0x22, 0xf0];
            let header = [2, 0x80, *number as u8, 0, 0, 0x1b, 0x21, 0, 0, 1, 0, 7];
            (Some(at * SPACING_NS), [&ethernet[..], &header].concat())
        };
        let frames: Vec<Stamped> = (0..).zip(&sent).map(frame).collect();
        let (found, received) = counted(&frames, windows.then_some(100_000_000));
        prop_assert_eq!(received, sent.len() as u64 - faults.duplicate - 1);
        prop_assert_eq!(found, faults);
    }

    #[test]
    fn no_frames_and_no_stamps_make_it_panic(
        frames in prop::collection::vec((any::<u8>(), any::<Option<i64>>(), any::<(u16, u8)>()), 0..60),
        window_ns in 1..u64::MAX,
    ) {
        let kinds = vectors();
        let frames: Vec<Stamped> = frames
            .into_iter()
            .map(|(kind, time_ns, (at, octet))| {
                let mut data = kinds[usize::from(kind) % kinds.len()].clone();
                let at = usize::from(at) % data.len();
                data[at] = octet;
                // Halved, because it is added to the start of the capture.
                (time_ns.map(|ns| ns / 2), data)
            })
            .collect();
        let (total, frames_sent) = {
            let config = Config { window_ns: Some(window_ns), rate: None, max_streams: 3, port_mbit: None };
            let (summary, kept) = analyse_with(config, Kept::default(), &frames);
            let total: u64 = summary.streams.iter().map(|stream| stream.tally.counters.received).sum();
            prop_assert_eq!(total, kept.windows.iter().map(|window| window.3).sum::<u64>());
            (summary.frames, frames.len() as u64)
        };
        prop_assert_eq!(total, frames_sent);
    }
}

/// Frames of the test vectors, including GOOSE.
fn vectors() -> Vec<Vec<u8>> {
    testing::vectors::vectors()
        .into_iter()
        .map(|vector| vector.frame)
        .collect()
}
