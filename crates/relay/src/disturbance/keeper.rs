//! Keeps the latest samples, and makes a record of them at a trip.

use super::board::{Watched, watched};
use super::record::{Disturbance, Moment, channels, header};
use super::{Row, STATES, Stamp};
use crate::config::Config;
use crate::engine::Engine;
use std::collections::VecDeque;
use std::ops::Range;
use units::Realtime;
use waveform::comtrade::{Header, Rate};

/// Maximum length of a record after its first trip, in ns, however many further trips follow.
pub const LONGEST_NS: u64 = 5_000_000_000;

/// Keeps the last samples, and makes records of them.
#[derive(Debug)]
pub struct Keeper {
    shape: Shape,
    rate: f64,
    /// Largest error of the publishers' clocks, in ns; `None` if it is not known.
    uncertainty_ns: Option<u64>,
    pre: u64,
    post: u64,
    longest: u64,
    /// Number of the first kept moment.
    first: u64,
    moments: VecDeque<Moment>,
    /// Unused moments, kept for their memory.
    spare: Vec<Moment>,
    /// Samples of the task whose rows are not complete yet.
    samples: Vec<Row>,
    /// Decisions of the previous task, and of this one.
    before: Box<[bool]>,
    states: Box<[bool]>,
    open: Option<Open>,
}

/// Layout of a moment.
#[derive(Debug)]
struct Shape {
    header: Header,
    /// Position of each stream's eight channels among the analog channels.
    places: Box<[[Option<usize>; 8]]>,
    watched: Box<[(Watched, String)]>,
}

/// An unfinished record.
#[derive(Debug)]
struct Open {
    /// Number of the last sample processed by the task that tripped.
    trigger: u64,
    why: String,
    stamp: Option<Stamp>,
    /// Number of the first sample after the record, as known so far.
    end: u64,
}

impl Shape {
    fn of(config: &Config) -> Self {
        let mut places = vec![[None; 8]; config.streams.len()].into_boxed_slice();
        for (place, (stream, channel)) in channels(config).into_iter().enumerate() {
            places[stream][channel] = Some(place);
        }
        Self {
            header: header(config),
            places,
            watched: watched(config).into_boxed_slice(),
        }
    }

    fn missing(&self, stream: usize) -> usize {
        self.watched.len() + stream
    }

    fn bad(&self, stream: usize) -> usize {
        self.missing(stream) + self.places.len()
    }

    fn unrecorded(&self) -> usize {
        self.bad(0) + self.places.len()
    }

    fn blank(&self) -> Moment {
        Moment {
            analog: vec![f64::NAN; self.header.analog.len()].into_boxed_slice(),
            digital: vec![false; self.header.digital.len()].into_boxed_slice(),
        }
    }
}

impl Keeper {
    /// Makes a keeper for a relay at `rate` samples a second. If its streams follow a global clock, their instants are correct
    /// within `uncertainty_ns`; `None` if that is not known.
    #[must_use]
    pub fn new(config: &Config, rate: f64, uncertainty_ns: Option<u64>) -> Self {
        let samples = |ns: u64| ((ns as f64 * rate / 1e9).round() as u64).max(1);
        let shape = Shape::of(config);
        let states = vec![false; shape.watched.len()].into_boxed_slice();
        Self {
            rate,
            uncertainty_ns,
            pre: samples(config.recording.pre_ns),
            post: samples(config.recording.post_ns),
            longest: samples(LONGEST_NS),
            first: 0,
            moments: VecDeque::new(),
            spare: Vec::new(),
            samples: Vec::new(),
            before: states.clone(),
            states,
            shape,
            open: None,
        }
    }

    /// Takes the next row of the engine; returns a record that it completes.
    pub fn take(&mut self, row: Row) -> Option<Disturbance> {
        match row {
            Row::Sample { .. } => {
                self.samples.push(row);
                None
            }
            Row::States { place, words } => {
                let states = self.states.iter_mut().skip(usize::from(place) * STATES);
                for (state, bit) in states.zip(0..STATES) {
                    *state = words[bit / 64] >> (bit % 64) & 1 == 1;
                }
                None
            }
            Row::Task { from, to, stamp } => self.task(from..to, stamp),
        }
    }

    /// Ends the recording; returns the unfinished record, if there is one.
    pub fn finish(&mut self) -> Option<Disturbance> {
        self.close()
    }

    /// Number of the first sample without a moment.
    fn next(&self) -> u64 {
        self.first + self.moments.len() as u64
    }

    fn task(&mut self, numbers: Range<u64>, stamp: Option<Stamp>) -> Option<Disturbance> {
        let mut done = None;
        let last = numbers.end.checked_sub(1)?;
        if numbers.end.saturating_sub(self.next()) > self.pre + self.longest {
            // A gap longer than any record: the samples before it do not belong to the next ones.
            done = self.close();
            self.forget(self.moments.len());
            self.first = numbers.start.max(numbers.end.saturating_sub(Engine::KEPT));
        }
        self.extend(numbers);
        self.place();
        if let Some(moment) = self.moments.back_mut() {
            moment.digital[..self.states.len()].copy_from_slice(&self.states);
        }
        if self.open.as_ref().is_some_and(|open| open.end <= last) {
            done = self.close();
        }
        self.trigger(last, stamp);
        self.before.copy_from_slice(&self.states);
        self.trim();
        done
    }

    /// Adds moments up to the end of `numbers`, still without samples and with the states of the task before.
    fn extend(&mut self, numbers: Range<u64>) {
        for number in self.next()..numbers.end {
            let mut moment = self.spare.pop().unwrap_or_else(|| self.shape.blank());
            let is_unrecorded = number < numbers.start;
            moment.analog.fill(f64::NAN);
            moment.digital.fill(false);
            moment.digital[..self.before.len()].copy_from_slice(&self.before);
            moment.digital[self.shape.missing(0)..self.shape.bad(0)].fill(!is_unrecorded);
            moment.digital[self.shape.unrecorded()] = is_unrecorded;
            self.moments.push_back(moment);
        }
    }

    /// Puts the samples of the task into their moments.
    fn place(&mut self) {
        for row in self.samples.drain(..) {
            let Row::Sample {
                stream,
                number,
                values,
                bad,
            } = row
            else {
                continue;
            };
            let stream = usize::from(stream);
            let index = number
                .checked_sub(self.first)
                .and_then(|index| usize::try_from(index).ok());
            let Some(moment) = index.and_then(|index| self.moments.get_mut(index)) else {
                continue;
            };
            let places = self.shape.places[stream].iter().enumerate();
            let mut is_bad = false;
            for (channel, place) in places.filter_map(|(channel, place)| Some((channel, (*place)?))) {
                moment.analog[place] = values[channel];
                is_bad |= bad.0 >> channel & 1 == 1;
            }
            moment.digital[self.shape.missing(stream)] = false;
            moment.digital[self.shape.bad(stream)] = is_bad;
        }
    }

    /// Begins a record for a trip at sample `last`, or extends the unfinished one.
    fn trigger(&mut self, last: u64, stamp: Option<Stamp>) {
        let states = self.shape.watched.iter().zip(self.before.iter().zip(&self.states));
        let came = states.filter(|((watched, _), (before, now))| watched.triggers() && **now && !**before);
        let Some(((_, why), _)) = came.into_iter().next() else {
            return;
        };
        let end = last + 1 + self.post;
        match &mut self.open {
            Some(open) => open.end = end.min(open.trigger + self.longest),
            None => {
                self.open = Some(Open {
                    trigger: last,
                    why: why.clone(),
                    stamp,
                    end,
                });
            }
        }
    }

    /// Removes moments that no record needs any more.
    fn trim(&mut self) {
        let trigger = self.open.as_ref().map_or(self.next(), |open| open.trigger);
        let needed = trigger.saturating_sub(self.pre);
        self.forget(needed.saturating_sub(self.first) as usize);
    }

    fn forget(&mut self, count: usize) {
        let count = count.min(self.moments.len());
        self.first += count as u64;
        self.spare.extend(self.moments.drain(..count));
    }

    /// Completes the unfinished record with the samples that have come.
    fn close(&mut self) -> Option<Disturbance> {
        let open = self.open.take()?;
        let count = open.end.min(self.next()).saturating_sub(self.first);
        let moments: Vec<Moment> = self.moments.range(..count as usize).cloned().collect();
        let of_sample = |place: usize| moments.iter().filter(|moment| moment.digital[place]).count() as u64;
        let missing = (0..self.shape.places.len()).map(|stream| of_sample(self.shape.missing(stream)));
        Some(Disturbance {
            header: self.header(&open, count),
            missing: missing.sum(),
            unrecorded: of_sample(self.shape.unrecorded()),
            trigger: open.why,
            moments,
        })
    }

    fn header(&self, open: &Open, count: u64) -> Header {
        let at = |number: u64| {
            open.stamp
                .map_or(Realtime::from_ns(0), |stamp| instant(stamp, number, self.rate))
        };
        let is_stated = open.stamp.is_some_and(|stamp| stamp.top.is_some());
        Header {
            rates: vec![Rate {
                per_second: self.rate,
                last: count,
            }],
            start: at(self.first),
            trigger: at(open.trigger),
            time_quality: time_quality(self.uncertainty_ns.filter(|_| is_stated)),
            ..self.shape.header.clone()
        }
    }
}

const SECOND_NS: i64 = 1_000_000_000;

/// Instant of sample `number`, UTC.
fn instant(stamp: Stamp, number: u64, rate: f64) -> Realtime {
    let newest = match stamp.top {
        None => stamp.came,
        Some(top) => {
            let turns = rate.round().max(1.0) as u64;
            let in_second = (stamp.newest % turns + turns - top % turns) % turns;
            let in_second_ns = (in_second as f64 / rate * 1e9).round() as i64;
            // The second is the one for which that instant is nearest to its arrival.
            let second = (stamp.came.as_ns() - in_second_ns + SECOND_NS / 2).div_euclid(SECOND_NS);
            Realtime::from_ns(second * SECOND_NS + in_second_ns)
        }
    };
    let later = number as f64 - stamp.newest as f64;
    newest + (later / rate * 1e9).round() as i64
}

/// Code of the uncertainty (time quality of IEEE C37.118): 1 within 1 ns, plus one for each power of ten up to 11 for 10 s; 15
/// above that, or if it is not known.
fn time_quality(uncertainty_ns: Option<u64>) -> u8 {
    let code = |ns: u64| (0..=10).find(|power| ns <= 10_u64.pow(*power));
    uncertainty_ns.and_then(code).map_or(15, |power| power as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::{SECOND_NS, Stamp, instant, time_quality};
    use units::Realtime;

    #[test]
    fn instants_are_those_of_the_publishers_clock_or_of_arrival() {
        let second = 1_790_000_000 * SECOND_NS;
        let stamp = |top| Stamp {
            newest: 10_004,
            came: Realtime::from_ns(second + 1_300_000),
            top,
        };
        // Count 0 is number 2000 modulo 4000, so number 10004 is count 4, at 1 ms.
        let taken = |top, number| instant(stamp(top), number, 4000.0).as_ns() - second;
        assert_eq!(taken(Some(2000), 10_004), 1_000_000);
        assert_eq!(taken(Some(2000), 9_204), -199_000_000);
        assert_eq!(taken(None, 10_004), 1_300_000);
        // It came shortly before the start of its own second, so this machine's clock is behind.
        let early = Stamp {
            newest: 6_000,
            came: Realtime::from_ns(second - 7),
            top: Some(2_000),
        };
        assert_eq!(instant(early, 6_000, 4000.0).as_ns(), second);
    }

    #[test]
    fn what_nobody_states_is_not_relied_on() {
        assert_eq!(time_quality(None), 15);
        let codes = [1, 2, 1_000, 1_001, 10_000_000_000, 10_000_000_001].map(|ns| time_quality(Some(ns)));
        assert_eq!(codes, [1, 2, 4, 5, 11, 15]);
    }
}
