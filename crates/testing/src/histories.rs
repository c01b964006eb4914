//! Simulated histories of a stream of sampled values: the samples that were sent, and the changes on the way. The tests of every command compare its
//! counts with this ledger.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use std::ops::Range;

/// A change to a stream, at a position in it.
#[derive(Debug, Clone)]
pub enum Deed {
    /// This many samples are lost.
    Lose(u32),
    /// This many samples arrive twice; the copies come this many positions later.
    Double(u32, u32),
    /// A sample is swapped with the one this many positions later.
    Swap(u32),
    /// The publisher restarts with its count advanced by the first number, after a pause of this many samples' time.
    Restart(u32, u32),
    /// Another publisher sends this many samples, starting at a count this far away, with different contents; true if from its own address.
    Intrude(u32, u32, bool),
    /// This many samples are duplicated with different contents; the originals arrive, too.
    Contradict(u32),
    /// This many frames are corrupted on the way.
    Break(u32),
    /// This many frames get an svID with a trailing NUL.
    Rename(u32),
    /// The receiver stalls: this many samples get the time stamp of its resumption.
    HoldUp(u32),
    /// Like [`Deed::HoldUp`] with the first number of samples; the second number of later samples overtake them before they come at once.
    Overtake(u32, u32),
    /// A sample comes this many positions late.
    Delay(u32),
    /// A copy of a sample comes this many positions before it.
    Foretell(u32),
    /// No more samples arrive.
    Stop,
}

/// Form of a sample on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    Whole,
    /// A frame that violates the format.
    Broken,
    /// With a NUL after the svID.
    Renamed,
}

/// A sample on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Its position in the stream as the publisher sent it; `None` for samples that the publisher did not send.
    pub place: Option<u32>,
    /// Time of arrival, in ns.
    pub at_ns: i64,
    /// Its smpCnt.
    pub count: u16,
    /// Contents of the sample.
    pub contents: u32,
    /// True if it comes from another address than the stream.
    pub is_foreign: bool,
    /// Its form.
    pub form: Form,
}

/// A stream of `samples` at `rate`, starting at count `first`, with the changes applied, each at its position between 0 and 1; and the intended end
/// time.
pub fn play(rate: u32, first: u32, samples: u32, deeds: &[(f64, Deed)]) -> (Vec<Sent>, i64) {
    let period_ns = 1_000_000_000 / i64::from(rate);
    let end_ns = i64::from(samples) * period_ns;
    let mut stream: Vec<Sent> = (0..samples)
        .map(|index| Sent {
            place: Some(index),
            at_ns: i64::from(index) * period_ns,
            count: ((first + index) % rate) as u16,
            contents: 1 + (first + index) % 997,
            is_foreign: false,
            form: Form::Whole,
        })
        .collect();
    // The stall delays the stream with all earlier changes applied.
    let (held_up, done): (Vec<_>, Vec<_>) = deeds
        .iter()
        .partition(|(_, deed)| matches!(deed, Deed::HoldUp(_) | Deed::Overtake(..)));
    for (place, deed) in done.into_iter().chain(held_up) {
        let at = ((stream.len() as f64 * place) as usize).min(stream.len().saturating_sub(1));
        act(&mut stream, at, rate, period_ns, deed);
        stream.sort_by_key(|sent| sent.at_ns);
    }
    (stream, end_ns)
}

fn act(stream: &mut Vec<Sent>, at: usize, rate: u32, period_ns: i64, deed: &Deed) {
    let all = stream.len();
    let until = |count: u32| (at + count as usize).min(all);
    match *deed {
        Deed::Lose(count) => drop(stream.drain(at..until(count))),
        Deed::Double(count, later) => {
            let later_ns = i64::from(later) * period_ns + 1;
            copy(stream, at..until(count), |sent| sent.at_ns += later_ns);
        }
        Deed::Swap(later) | Deed::Delay(later) => {
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
        Deed::Intrude(count, away, has_own_address) => copy(stream, at..until(count), |sent| {
            sent.at_ns += period_ns / 2;
            sent.count = ((u32::from(sent.count) + away) % rate) as u16;
            sent.contents += 5_000;
            sent.place = None;
            sent.is_foreign = has_own_address;
        }),
        Deed::Contradict(count) => copy(stream, at..until(count), |sent| {
            sent.at_ns += 1;
            sent.contents += 7_000;
            sent.place = None;
        }),
        Deed::Break(count) => stream[at..until(count)]
            .iter_mut()
            .for_each(|sent| sent.form = Form::Broken),
        Deed::Rename(count) => stream[at..until(count)]
            .iter_mut()
            .for_each(|sent| sent.form = Form::Renamed),
        Deed::HoldUp(count) => {
            let last = until(count).saturating_sub(1);
            if let Some(free_ns) = stream.get(last).map(|sent| sent.at_ns) {
                stream[at..=last].iter_mut().for_each(|sent| sent.at_ns = free_ns);
            }
        }
        Deed::Overtake(count, later) => {
            let free = at + count as usize;
            let end = (free + later as usize).min(all);
            if free < end {
                let free_ns = stream[end - 1].at_ns;
                stream[at..end].rotate_left(free - at);
                let burst = end - (free - at)..end;
                stream[burst].iter_mut().for_each(|sent| sent.at_ns = free_ns);
            }
        }
        Deed::Foretell(earlier) => {
            let earlier_ns = i64::from(earlier) * period_ns - 1;
            copy(stream, at..until(1), |sent| {
                sent.at_ns = (sent.at_ns - earlier_ns).max(0);
            });
        }
        Deed::Stop => stream.truncate(at),
    }
}

/// Adds a changed copy of each of some samples.
fn copy(stream: &mut Vec<Sent>, of: Range<usize>, change: impl Fn(&mut Sent)) {
    let mut copies = stream[of].to_vec();
    copies.iter_mut().for_each(change);
    stream.extend(copies);
}

/// True if all samples that the publisher sent in `samples` positions arrived, and no others, in the order of one counter: the ledger.
pub fn is_whole(stream: &[Sent], samples: u32, deeds: &[(f64, Deed)]) -> bool {
    let mut came = vec![false; samples as usize];
    for sent in stream {
        match (sent.place, sent.form) {
            (Some(place), Form::Whole) => came[place as usize] = true,
            _ => return false,
        }
    }
    let began_anew = deeds.iter().any(|(_, deed)| matches!(deed, Deed::Restart(..)));
    !began_anew && came.into_iter().all(|came| came)
}

/// Changes that damage a stream of `rate`, and harmless ones.
pub fn deed(rate: u32) -> impl Strategy<Value = Deed> {
    let some = move |thousandths: Range<u32>| {
        (thousandths.start * rate / 1_000).max(1)..(thousandths.end * rate / 1_000).max(3)
    };
    prop_oneof![
        4 => some(0..50).prop_map(Deed::Lose),
        2 => some(50..3_000).prop_map(Deed::Lose),
        1 => prop_oneof![Just(rate), Just(rate - 1), Just(rate + 1), Just(rate / 2), Just(2 * rate)].prop_map(Deed::Lose),
        2 => (1_u32..50, 0_u32..12).prop_map(|(count, later)| Deed::Double(count, later)),
        2 => (1_u32..12).prop_map(Deed::Swap),
        2 => (17..rate - 17, some(0..1_500)).prop_map(|(further, pause)| Deed::Restart(further, pause)),
        2 => (5_u32..600, 0..rate, any::<bool>()).prop_map(|(count, away, own)| Deed::Intrude(count, away, own)),
        2 => (1_u32..50).prop_map(Deed::Contradict),
        1 => (1_u32..50).prop_map(Deed::Break),
        1 => (1_u32..50).prop_map(Deed::Rename),
        2 => some(0..300).prop_map(Deed::HoldUp),
        2 => (some(0..300), 1_u32..40).prop_map(|(count, later)| Deed::Overtake(count, later)),
        1 => (some(900..1_300), 1_u32..40).prop_map(|(count, later)| Deed::Overtake(count, later)),
        1 => some(4..2_600).prop_map(Deed::Delay),
        1 => (1_u32..400).prop_map(Deed::Foretell),
        1 => Just(Deed::Stop),
    ]
}

/// Up to three changes with their positions.
pub fn deeds(rate: u32) -> impl Strategy<Value = Vec<(f64, Deed)>> {
    prop::collection::vec((0.02_f64..0.85, deed(rate)), 0..4)
}

/// True if the stream ends with a silence that may be shorter than the interval of checks: silence is reported from half a second on.
pub fn ends_early(stream: &[Sent], rate: u32, end_ns: i64) -> bool {
    let came = |sent: &&Sent| sent.form == Form::Whole && sent.at_ns < end_ns;
    let whole = stream.iter().rev().find(came);
    let silent_ns = end_ns - whole.map_or(0, |sent| sent.at_ns);
    let two_periods_ns = 2_000_000_000 / i64::from(rate);
    (two_periods_ns..=500_000_000.max(3 * two_periods_ns) + two_periods_ns).contains(&silent_ns)
}
