//! Pairing by itself: streams with a counter of 50, which turns once a second.

use crate::pairing::{Found, Pairing, Seen, WITHIN_NS};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use recording::{Numbering, flag};
use wire::sequence::{Sample, Sequence};

const RATE: u16 = 50;
const PERIOD_NS: i64 = 1_000_000_000 / RATE as i64;

/// A frame: its place in the true sequence, its count, and when it came.
#[derive(Debug, Clone, Copy)]
struct Frame {
    truth: usize,
    count: u16,
    at_ns: i64,
}

/// A run's records of frames in the order in which they came; numbered like every recording.
fn recorded(run: u8, stream: u16, frames: &[Frame]) -> Vec<Seen<usize>> {
    let (mut sequence, mut numbering) = (Sequence::new(u32::from(RATE)), Numbering::default());
    let mut next = 0;
    let mut seen = Vec::new();
    for frame in frames {
        let step = sequence.accept(Sample {
            // A recorder numbers by a clock that does not step.
            at_ns: Some(frame.truth as i64 * PERIOD_NS),
            ..Sample::from(frame.count)
        });
        let (number, flags) = numbering.number(frame.count, step, Some(u32::from(RATE)));
        let is_restart = flags & flag::RESTART != 0;
        seen.push(Seen {
            run,
            stream,
            count: frame.count,
            is_restart,
            is_late: !is_restart && number < next,
            at_ns: frame.at_ns,
            data: frame.truth,
        });
        next = if is_restart { number + 1 } else { next.max(number + 1) };
    }
    seen
}

/// The frames matched in runs that are read in parallel, in order of time.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// True sequence numbers of the first and the second run's record.
    pairs: Vec<(usize, usize)>,
    /// Records that only the first run has, and records that only the second run has.
    alone: [usize; 2],
    /// True sequence numbers of the records without a match, for each run.
    lonely: [Vec<usize>; 2],
    again: usize,
    doubtful: usize,
    most_waiting: usize,
}

fn merge(runs: &[Vec<Seen<usize>>]) -> Outcome {
    let mut pairing = Pairing::new(vec![Some(u32::from(RATE)); 2]);
    let mut at = vec![0; runs.len()];
    let mut outcome = Outcome::default();
    let take =
        |found: Found, records: [Option<&Seen<usize>>; 4], outcome: &mut Outcome| match (found, records[0], records[1])
        {
            (Found::Again, ..) => outcome.again += 1,
            (Found::Doubtful, ..) => outcome.doubtful += 1,
            (Found::Whole, Some(a), Some(b)) => outcome.pairs.push((a.data, b.data)),
            (Found::Whole, Some(a), None) => {
                outcome.alone[0] += 1;
                outcome.lonely[0].push(a.data);
            }
            (Found::Whole, None, b) => {
                outcome.alone[1] += 1;
                outcome.lonely[1].extend(b.map(|seen| seen.data));
            }
        };
    loop {
        let heads = runs
            .iter()
            .enumerate()
            .filter_map(|(run, seen)| Some((run, seen.get(at[run])?.at_ns)));
        let Some((run, now_ns)) = heads.min_by_key(|(_, at_ns)| *at_ns) else {
            break;
        };
        pairing.push(runs[run][at[run]]);
        at[run] += 1;
        pairing.settle(now_ns, &mut |found, records| take(found, records, &mut outcome));
        outcome.most_waiting = outcome.most_waiting.max(pairing.waiting());
    }
    pairing.finish(&mut |found, records| take(found, records, &mut outcome));
    outcome
}

/// `frames` frames from count 0 on, `delay_ns` behind the instants they are due.
fn plain(frames: usize, delay_ns: i64) -> Vec<Frame> {
    let frame = |truth: usize| Frame {
        truth,
        count: (truth % usize::from(RATE)) as u16,
        at_ns: truth as i64 * PERIOD_NS + delay_ns,
    };
    (0..frames).map(frame).collect()
}

fn without(frames: &[Frame], lost: impl Fn(usize) -> bool) -> Vec<Frame> {
    frames.iter().copied().filter(|frame| !lost(frame.truth)).collect()
}

fn of(host: &[Frame], guest: &[Frame]) -> Outcome {
    let outcome = merge(&[recorded(0, 0, host), recorded(1, 0, guest)]);
    assert!(outcome.pairs.iter().all(|(a, b)| a == b), "{:?}", outcome.pairs);
    outcome
}

#[test]
fn all_frames_are_found_over_many_turns_in_bounded_memory() {
    let outcome = of(&plain(5_000, 0), &plain(5_000, 300_000));
    assert_eq!((outcome.pairs.len(), outcome.alone), (5_000, [0, 0]));
    assert!(outcome.most_waiting < 200, "{} waiting", outcome.most_waiting);
}

#[test]
fn losses_on_either_side_move_nothing_also_at_the_turn() {
    let (all, late) = (plain(1_000, 0), plain(1_000, 300_000));
    // The frame at which the counter wraps is lost in the guest; other frames are lost in the host.
    let outcome = of(
        &without(&all, |n| n % 77 == 3),
        &without(&late, |n| n == 500 || n % 50 == 49),
    );
    let lost_in_host = (0..1_000).filter(|n| n % 77 == 3).count();
    let lost_in_guest = (0..1_000).filter(|n| *n == 500 || n % 50 == 49).count();
    let in_both = (0..1_000)
        .filter(|n| n % 77 == 3 && (*n == 500 || n % 50 == 49))
        .count();
    assert_eq!(outcome.alone, [lost_in_guest - in_both, lost_in_host - in_both]);
    assert_eq!(outcome.pairs.len(), 1_000 - lost_in_host - lost_in_guest + in_both);
}

#[test]
fn an_outage_of_many_turns_and_different_starts_and_ends() {
    let (all, late) = (plain(2_000, 0), plain(2_000, 300_000));
    let outcome = of(
        &without(&all, |n| n < 130),
        &without(&late, |n| (400..700).contains(&n) || n > 1_800),
    );
    assert_eq!(outcome.pairs.len(), 1_801 - 130 - 300);
    assert_eq!(outcome.alone, [300 + 199, 130]);
}

#[test]
fn what_comes_again_is_counted_and_what_may_be_either_is_not_paired() {
    let (all, late) = (plain(200, 0), plain(200, 300_000));
    let mut twice = late.clone();
    twice.insert(
        101,
        Frame {
            at_ns: late[100].at_ns + 50_000,
            ..late[100]
        },
    );
    let outcome = of(&all, &twice);
    assert_eq!((outcome.pairs.len(), outcome.again, outcome.doubtful), (200, 1, 0));
    let mut twice = all.clone();
    twice.insert(
        101,
        Frame {
            at_ns: all[100].at_ns + 50_000,
            ..all[100]
        },
    );
    let outcome = of(&twice, &late);
    assert_eq!(
        (outcome.pairs.len(), outcome.again, outcome.doubtful),
        (200, 1, 0),
        "the copy is late by its number"
    );
}

#[test]
fn a_restart_is_no_other_frame_of_the_same_count() {
    // The publisher restarts at 0 after count 20: counts 0 to 19 occur again within 0.4 s.
    let mut frames = plain(400, 0);
    for frame in &mut frames[120..] {
        frame.count = ((frame.truth - 120) % usize::from(RATE)) as u16;
    }
    let late: Vec<Frame> = frames
        .iter()
        .map(|frame| Frame {
            at_ns: frame.at_ns + 300_000,
            ..*frame
        })
        .collect();
    let outcome = of(&frames, &late);
    // In both runs, frames within 0.3 s of the restart may be delayed frames from before or after it.
    assert_eq!((outcome.pairs.len(), outcome.doubtful), (400 - 29, 2 * 29));
    // Of each pair of equal counts, each run lost another one: the two must not be matched.
    let outcome = of(
        &without(&frames, |n| (120..140).contains(&n)),
        &without(&late, |n| (100..120).contains(&n)),
    );
    assert!((300..360).contains(&outcome.pairs.len()), "{}", outcome.pairs.len());
}

/// A frame that both runs have must never be reported as one that only one of them has.
fn assert_none_is_falsely_alone(host: &[Frame], guest: &[Frame], outcome: &Outcome) {
    let has = |frames: &[Frame], truth: usize| frames.iter().any(|frame| frame.truth == truth);
    let wrong = |alone: &[usize], other: &[Frame]| alone.iter().copied().filter(|n| has(other, *n)).collect::<Vec<_>>();
    let (of_host, of_guest) = (wrong(&outcome.lonely[0], guest), wrong(&outcome.lonely[1], host));
    assert!(of_host.is_empty() && of_guest.is_empty(), "{of_host:?}, {of_guest:?}");
}

#[test]
fn a_step_of_one_runs_clock_makes_no_losses() {
    for step_ns in [-300_000_000, -40_000_000, 40_000_000, 300_000_000] {
        let (host, mut guest) = (plain(1_000, 0), plain(1_000, 300_000));
        guest[400..].iter_mut().for_each(|frame| frame.at_ns += step_ns);
        let outcome = of(&host, &guest);
        assert_none_is_falsely_alone(&host, &guest, &outcome);
        assert!(outcome.pairs.len() > 900, "{} pairs", outcome.pairs.len());
    }
}

#[test]
fn a_restart_that_one_run_did_not_see_makes_no_losses() {
    // The publisher restarts at 20 after count 20, half a second later: its counts do not show the restart to the host.
    let mut frames = plain(500, 0);
    for frame in &mut frames[120..] {
        frame.at_ns += 500_000_000;
    }
    let late: Vec<Frame> = frames
        .iter()
        .map(|frame| Frame {
            at_ns: frame.at_ns + 5_000_000,
            ..*frame
        })
        .collect();
    // The guest missed the frames before and after it.
    let guest = without(&late, |n| (90..150).contains(&n));
    let outcome = of(&frames, &guest);
    assert_none_is_falsely_alone(&frames, &guest, &outcome);
}

#[test]
fn a_counter_that_is_none_is_told_in_bounded_time() {
    let begun = std::time::Instant::now();
    // Counters that step back and forward at 4000/s, and one that does not move.
    for counts in [[0_u16, 25], [7, 7]] {
        let frame = |truth: usize| Frame {
            truth,
            count: counts[truth % 2],
            at_ns: truth as i64 * 250_000,
        };
        let frames: Vec<Frame> = (0..20_000).map(frame).collect();
        let seen = |run: u8| {
            let seen = |frame: &Frame| Seen {
                run,
                stream: 0,
                count: frame.count,
                is_restart: counts[0] != counts[1],
                is_late: false,
                at_ns: frame.at_ns + i64::from(run) * 100_000,
                data: frame.truth,
            };
            frames.iter().map(seen).collect::<Vec<_>>()
        };
        let outcome = merge(&[seen(0), seen(1)]);
        assert_eq!(outcome.pairs, [], "nothing tells one from another");
        assert_eq!((outcome.doubtful, outcome.alone), (40_000, [0, 0]));
    }
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn two_streams_do_not_touch() {
    let host = [recorded(0, 0, &plain(100, 0)), recorded(0, 1, &plain(100, 100))];
    let guest = [
        recorded(1, 0, &plain(100, 400_000)),
        recorded(1, 1, &without(&plain(100, 400_100), |n| n == 7)),
    ];
    let sides = [host, guest].map(|streams| {
        let mut all = streams.concat();
        all.sort_by_key(|seen| seen.at_ns);
        all
    });
    let outcome = merge(&sides);
    assert_eq!((outcome.pairs.len(), outcome.alone), (199, [1, 0]));
}

/// The records of one run. For each frame: whether it is lost, whether it is duplicated, and its delay.
fn fates() -> impl Strategy<Value = Vec<(u8, i64)>> {
    prop::collection::vec((any::<u8>(), 0_i64..400_000_000), 600)
}

/// The true stream: jumps of the counter, at least a full turn of the counter apart.
fn truth() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec((60_usize..200, 0..RATE), 0..4).prop_map(|jumps| {
        let (mut counts, mut count, mut jumps) = (Vec::new(), 0, jumps.into_iter());
        let mut jump = jumps.next();
        let mut since = 0;
        while counts.len() < 600 {
            if jump.is_some_and(|(after, _)| since == after) {
                count = jump.map_or(0, |(_, to)| to);
                jump = jumps.next();
                since = 0;
            }
            counts.push(count);
            count = (count + 1) % RATE;
            since += 1;
        }
        counts
    })
}

/// The frames that come to a run, in order of arrival: some are lost, some come twice, and a few come very late. If `may_swap` is true,
/// late frames change places with later ones.
fn come(counts: &[u16], fates: &[(u8, i64)], delay_ns: i64, may_swap: bool) -> Vec<Frame> {
    let (mut frames, mut not_before) = (Vec::new(), i64::MIN);
    for (truth, (count, (fate, more_ns))) in counts.iter().zip(fates).enumerate() {
        let is_late = fate % 16 == 1;
        let late_ns = if is_late { more_ns / 4 } else { more_ns / 4_000 };
        let mut at_ns = truth as i64 * PERIOD_NS + delay_ns + late_ns;
        if !may_swap {
            at_ns = at_ns.max(not_before);
            not_before = at_ns + 1;
        }
        let frame = Frame {
            truth,
            count: *count,
            at_ns,
        };
        if fate % 5 != 0 {
            frames.push(frame);
        }
        if *fate > 250 {
            frames.push(Frame {
                at_ns: at_ns + 1_000,
                ..frame
            });
        }
    }
    frames.sort_by_key(|frame| frame.at_ns);
    frames
}

proptest! {
    #[test]
    fn no_pair_is_ever_wrong(counts in truth(), host in fates(), guest in fates(), swap in any::<bool>()) {
        let host = recorded(0, 0, &come(&counts, &host, 0, false));
        let guest = recorded(1, 0, &come(&counts, &guest, 1_000_000, swap));
        let (in_host, in_guest) = (host.len(), guest.len());
        let outcome = merge(&[host, guest]);
        for (a, b) in &outcome.pairs {
            prop_assert_eq!(a, b);
        }
        let told = outcome.pairs.len() * 2 + outcome.alone[0] + outcome.alone[1] + outcome.again + outcome.doubtful;
        prop_assert_eq!(told, in_host + in_guest, "every record is told of once");
        prop_assert!(outcome.pairs.len() > 100, "{} of some 400", outcome.pairs.len());
    }
}

proptest! {
    #[test]
    fn no_loss_is_told_that_is_none(
        counts in truth(),
        host in fates(),
        guest in fates(),
        at in 50_usize..550,
        step_ns in -250_000_000_i64..250_000_000,
        is_of_guest in any::<bool>(),
    ) {
        let mut runs = [come(&counts, &host, 0, false), come(&counts, &guest, 1_000_000, false)];
        for frame in runs[usize::from(is_of_guest)].iter_mut().filter(|frame| frame.truth >= at) {
            frame.at_ns += step_ns;
        }
        let [host, guest] = &runs;
        let outcome = merge(&[recorded(0, 0, host), recorded(1, 0, guest)]);
        for (a, b) in &outcome.pairs {
            prop_assert_eq!(a, b);
        }
        // Within a turn of a jump of the counter, close to a step of one clock, a loss and a jump look alike: the run reports a jump.
        let turn = usize::from(RATE);
        let jumps: Vec<usize> = (1..counts.len()).filter(|n| counts[*n] != (counts[n - 1] + 1) % RATE).collect();
        let is_sure = |n: &usize| jumps.iter().all(|jump| jump.abs_diff(*n) > turn);
        let mut sure = outcome;
        sure.lonely.iter_mut().for_each(|alone| alone.retain(is_sure));
        assert_none_is_falsely_alone(host, guest, &sure);
    }
}

#[test]
fn the_window_is_half_a_turn() {
    let host = recorded(0, 0, &plain(1, 0));
    let far = recorded(1, 0, &plain(1, WITHIN_NS));
    assert_eq!(merge(&[host.clone(), far]).pairs.len(), 0);
    let near = recorded(1, 0, &plain(1, WITHIN_NS - 1));
    assert_eq!(merge(&[host, near]).pairs.len(), 1);
}
