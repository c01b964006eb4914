//! Matches the records of a frame in several runs.
//!
//! A frame is identified by its stream and the count of its first sample. A count repeats about once a second, so two records can only belong to one
//! frame if they are less than half a second apart, with no restart of the counter between them. If several records match, none is chosen, because a
//! choice would be a guess. A record also does not count as unmatched if its counterpart may be an ambiguous record: see [`Found::Doubtful`].

use super::phase::{Jump, LASTS_NS, Phase};
use super::restarts::{Restarts, Side};
use std::collections::VecDeque;

/// Largest number of runs that can be merged.
pub(crate) const MOST_RUNS: usize = 4;

/// Records further apart than this do not belong to one frame: half a period of the counter.
pub(crate) const WITHIN_NS: i64 = 500_000_000;

/// Records of a run may be out of order by this much, in ns.
const OUT_OF_TURN_NS: i64 = 100_000_000;

/// Time that a frame waits for all its possible counterparts, and for their other possible counterparts.
const WAIT_NS: i64 = 2 * WITHIN_NS + OUT_OF_TURN_NS;

/// A record of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen<T> {
    /// The run.
    pub(crate) run: u8,
    /// The stream, by a number that is valid in all runs.
    pub(crate) stream: u16,
    /// smpCnt of its first sample.
    pub(crate) count: u16,
    /// True if the counter restarted with it.
    pub(crate) is_restart: bool,
    /// True if its number is not beyond the earlier ones: it is late, or a duplicate, or the counter went back slightly.
    pub(crate) is_late: bool,
    /// Time of arrival, by a common clock of all runs.
    pub(crate) at_ns: i64,
    /// Additional data.
    pub(crate) data: T,
}

/// The result for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Once in each run that has it, which may be one run or several.
    Whole,
    /// A duplicate in a run that already has the frame; the record is reported alone.
    Again,
    /// It arrived twice in an earlier run, or its match or that of a candidate is ambiguous: the records are reported alone.
    Doubtful,
}

/// A frame with its records, by run.
pub(crate) type Records<'a, T> = [Option<&'a Seen<T>>; MOST_RUNS];

#[derive(Debug)]
struct Waiting<T> {
    seen: Seen<T>,
    is_open: bool,
    /// Runs, as bits, with a possible counterpart that was reported as doubtful.
    doubted_by: u8,
    /// The previous entry with the same stream and count.
    before: u64,
}

/// Largest number of nearby records with one count; if there are more, the counter does not repeat once a second.
const MOST_ALIKE: usize = 32;

#[derive(Debug, Default)]
struct StreamRecords {
    /// Newest entry of each count.
    newest: Vec<u64>,
    restarts: Restarts,
    phases: [Phase; MOST_RUNS],
    /// Time in which the counter is unusable: see [`StreamRecords::is_wild`].
    wild: Option<(i64, i64)>,
}

impl StreamRecords {
    /// Marks the counter as unusable from `from_ns` to `to_ns`.
    fn note_wild(&mut self, from_ns: i64, to_ns: i64) {
        let before = self.wild.filter(|wild| from_ns <= wild.1.saturating_add(2 * WAIT_NS));
        self.wild = Some(before.map_or((from_ns, to_ns), |wild| (wild.0.min(from_ns), wild.1.max(to_ns))));
    }

    /// True if the counter restarts or repeats a count so often around `at_ns` that it cannot identify frames.
    fn is_wild(&self, at_ns: i64) -> bool {
        let near =
            |wild: (i64, i64)| (wild.0.saturating_sub(WITHIN_NS)..=wild.1.saturating_add(WITHIN_NS)).contains(&at_ns);
        self.wild.is_some_and(near)
    }

    /// True if a record cannot be distinguished from another frame's.
    fn is_unsure<T>(&self, seen: &Seen<T>) -> bool {
        self.is_wild(seen.at_ns) || self.restarts.is_near_jump(seen.run, seen.at_ns, LASTS_NS)
    }

    fn note(&mut self, run: u8, jump: Jump, is_by_time: bool) {
        if !self.restarts.note(run, jump, is_by_time) {
            self.note_wild(self.restarts.first_ns().unwrap_or(jump.1), jump.1);
        }
    }
}

/// Marks a missing entry.
const NONE: u64 = u64::MAX;

/// The records that wait for their counterparts.
#[derive(Debug)]
pub(crate) struct Pairing<T> {
    entries: VecDeque<Waiting<T>>,
    /// Number of entries that have been removed.
    gone: u64,
    streams: Vec<StreamRecords>,
    /// Period of each stream's counter.
    rates: Vec<Option<u32>>,
    group: Vec<u64>,
}

impl<T> Pairing<T> {
    /// An empty pairing; `rates` has the period of each stream's counter, if it is known.
    pub(crate) fn new(rates: Vec<Option<u32>>) -> Self {
        Self {
            rates,
            entries: VecDeque::new(),
            gone: 0,
            streams: Vec::new(),
            group: Vec::new(),
        }
    }

    /// Adds a record. Records of one run come in the run's order, and all together roughly in order of time.
    pub(crate) fn push(&mut self, seen: Seen<T>) {
        let number = self.gone + self.entries.len() as u64;
        let index = usize::from(seen.stream);
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, StreamRecords::default);
        }
        let stream = &mut self.streams[index];
        let count = usize::from(seen.count);
        if stream.newest.len() <= count {
            stream.newest.resize(count + 1, NONE);
        }
        let before = std::mem::replace(&mut stream.newest[count], number);
        if seen.is_restart {
            stream.note(seen.run, (number, seen.at_ns), false);
        }
        if let Some(rate) = self.rates.get(index).copied().flatten() {
            let phase = &mut stream.phases[usize::from(seen.run)];
            let jumps = phase.take(seen.count, rate, number, seen.at_ns);
            jumps
                .into_iter()
                .flatten()
                .for_each(|jump| stream.note(seen.run, jump, true));
        }
        self.watch_count(&seen, before);
        self.entries.push_back(Waiting {
            seen,
            is_open: true,
            doubted_by: 0,
            before,
        });
    }

    /// Checks for too many recent repetitions of a count.
    fn watch_count(&mut self, seen: &Seen<T>, before: u64) {
        let at_ns = |number: u64| self.entries[(number - self.gone) as usize].seen.at_ns;
        let near = |number: &u64| at_ns(*number).saturating_add(WITHIN_NS) > seen.at_ns;
        let Some(oldest) = self.chain(before).take_while(near).nth(MOST_ALIKE) else {
            return;
        };
        let from_ns = at_ns(oldest);
        self.streams[usize::from(seen.stream)].note_wild(from_ns, seen.at_ns);
    }

    /// Number of waiting records.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.entries.len()
    }

    /// Decides all records that are complete: records up to `read_to_ns` have been added.
    pub(crate) fn settle(&mut self, read_to_ns: i64, out: &mut impl FnMut(Found, Records<'_, T>)) {
        while let Some(front) = self.entries.front() {
            let at_ns = front.seen.at_ns;
            if at_ns.saturating_add(WAIT_NS) > read_to_ns {
                return;
            }
            if front.is_open {
                self.settle_front(read_to_ns, out);
            }
            self.entries.pop_front();
            self.gone += 1;
        }
    }

    /// Decides all remaining records, at the end of the input.
    pub(crate) fn finish(&mut self, out: &mut impl FnMut(Found, Records<'_, T>)) {
        self.settle(i64::MAX, out);
    }

    fn settle_front(&mut self, read_to_ns: i64, out: &mut impl FnMut(Found, Records<'_, T>)) {
        let stream = &mut self.streams[usize::from(self.entries[0].seen.stream)];
        for run in 0..MOST_RUNS {
            if let Some(jump) = stream.phases[run].lasts(read_to_ns) {
                stream.note(run as u8, jump, true);
            }
        }
        let front = &self.entries[0].seen;
        let at_ns = front.at_ns;
        stream.restarts.forget(at_ns.saturating_sub(2 * WAIT_NS));
        if stream.is_unsure(front) {
            alone(Found::Doubtful, front, out);
            // While the counter is unusable, so are the records near this time.
            if stream.wild.is_none_or(|wild| !(wild.0..=wild.1).contains(&at_ns)) {
                self.doubt_near(&[self.gone]);
            }
            return;
        }
        let mut group = std::mem::take(&mut self.group);
        self.gather(&mut group);
        let doubted_by = self.doubted_by(&group);
        let entry = |number: u64| &self.entries[(number - self.gone) as usize].seen;
        let seen: Vec<&Seen<T>> = group.iter().map(|number| entry(*number)).collect();
        let runs = seen.iter().fold(0, |runs, seen| runs | 1 << seen.run);
        let is_doubtful = doubted_by & !runs != 0;
        match is_doubtful {
            // The missing record may be one that cannot be distinguished from another frame's.
            true => seen.iter().for_each(|seen| alone(Found::Doubtful, seen, out)),
            false => tell(&seen, out),
        }
        if is_doubtful {
            self.doubt_near(&group);
        }
        for number in group.drain(..) {
            let index = (number - self.gone) as usize;
            self.entries[index].is_open = false;
        }
        self.group = group;
    }

    /// The front entry, all open entries that may belong to the same frame, and entries of its own run that compete for these.
    fn gather(&self, group: &mut Vec<u64>) {
        let front = &self.entries[0].seen;
        let stream = &self.streams[usize::from(front.stream)];
        let newest = stream.newest[usize::from(front.count)];
        let open = |number: &u64| {
            let entry = &self.entries[(*number - self.gone) as usize];
            entry.is_open && !stream.is_unsure(&entry.seen)
        };
        let same: Vec<u64> = self.chain(newest).filter(open).collect();
        let entry = |number: u64| &self.entries[(number - self.gone) as usize].seen;
        group.clear();
        group.push(self.gone);
        let near = |a: u64, b: u64| self.are_near(a, b) && self.side(stream, a, b) == Side::Same;
        for number in same.iter().rev().filter(|number| **number != self.gone) {
            if near(self.gone, *number) {
                group.push(*number);
            }
        }
        for at in 1..group.len() {
            let other = group[at];
            if entry(other).run == front.run {
                continue;
            }
            for rival in &same {
                let is_rival = entry(*rival).run == front.run && near(other, *rival);
                if is_rival && !group.contains(rival) {
                    group.push(*rival);
                }
            }
        }
    }

    /// Runs, as bits, with a doubtful record that may belong to the same frame as the group.
    fn doubted_by(&self, group: &[u64]) -> u8 {
        let entry = |number: u64| &self.entries[(number - self.gone) as usize];
        let front = &entry(group[0]).seen;
        let stream = &self.streams[usize::from(front.stream)];
        let newest = stream.newest[usize::from(front.count)];
        let told = group.iter().fold(0, |runs, number| runs | entry(*number).doubted_by);
        let others = self.chain(newest).filter(|number| !group.contains(number));
        others.fold(told, |runs, other| {
            let is_in_doubt = |number: &u64| {
                let is_unsure = entry(other).is_open && stream.is_unsure(&entry(other).seen);
                self.are_near(*number, other) && (is_unsure || self.side(stream, *number, other) == Side::Unsure)
            };
            let of_other = entry(other).seen.run;
            match group.iter().any(is_in_doubt) {
                true => runs | 1 << of_other,
                false => runs,
            }
        })
    }

    /// Marks records near these doubtful ones, because their counterparts may be among them.
    fn doubt_near(&mut self, told: &[u64]) {
        let front = &self.entries[0].seen;
        let newest = self.streams[usize::from(front.stream)].newest[usize::from(front.count)];
        let same: Vec<u64> = self.chain(newest).filter(|number| !told.contains(number)).collect();
        for number in same {
            let near = told.iter().filter(|other| self.are_near(**other, number));
            let run = |other: &u64| self.entries[(*other - self.gone) as usize].seen.run;
            let runs = near.map(run).fold(0, |runs, run| runs | 1 << run);
            self.entries[(number - self.gone) as usize].doubted_by |= runs;
        }
    }

    fn are_near(&self, a: u64, b: u64) -> bool {
        let at_ns = |number: u64| self.entries[(number - self.gone) as usize].seen.at_ns;
        at_ns(a).abs_diff(at_ns(b)) < WITHIN_NS.unsigned_abs()
    }

    /// Decides if a restart of the stream is between two entries.
    fn side(&self, stream: &StreamRecords, a: u64, b: u64) -> Side {
        let of = |number: u64| {
            let seen = &self.entries[(number - self.gone) as usize].seen;
            (seen.run, number, seen.at_ns)
        };
        stream.restarts.side(of(a), of(b))
    }

    /// The entries from `newest` backwards, as far as they are stored.
    fn chain(&self, newest: u64) -> impl Iterator<Item = u64> + '_ {
        let here = move |number: u64| (number != NONE && number >= self.gone).then_some(number);
        std::iter::successors(here(newest), move |number| {
            here(self.entries[(*number - self.gone) as usize].before)
        })
    }
}

/// Reports the result for a group of records of one stream and count.
fn tell<T>(group: &[&Seen<T>], out: &mut impl FnMut(Found, Records<'_, T>)) {
    if let [seen] = group {
        return alone(Found::Whole, seen, out);
    }
    let has_timely = |run: u8| group.iter().any(|seen| seen.run == run && !seen.is_late);
    // A late record with a timely one in its own run is a duplicate; with timely ones only in other runs, it may be another frame.
    let is_again = |seen: &Seen<T>| seen.is_late && has_timely(seen.run);
    let (again, rest): (Vec<&Seen<T>>, Vec<&Seen<T>>) = group.iter().copied().partition(|seen| is_again(seen));
    let mut counts = [0_usize; MOST_RUNS];
    rest.iter().for_each(|seen| counts[usize::from(seen.run)] += 1);
    let last_run = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
    // Two records in the last run are a frame and its duplicate; two records in an earlier run may both match the later one.
    let is_double = counts[..last_run].iter().any(|count| *count > 1);
    let is_mixed = rest.iter().any(|seen| seen.is_late) && rest.iter().any(|seen| !seen.is_late);
    if is_double || is_mixed {
        rest.into_iter().for_each(|seen| alone(Found::Doubtful, seen, out));
    } else {
        let mut records: Records<'_, T> = [None; MOST_RUNS];
        let mut more = Vec::new();
        for seen in rest {
            match &mut records[usize::from(seen.run)] {
                free @ None => *free = Some(seen),
                Some(first) if seen.at_ns < first.at_ns => more.push(std::mem::replace(first, seen)),
                Some(_) => more.push(seen),
            }
        }
        out(Found::Whole, records);
        more.into_iter().for_each(|seen| alone(Found::Again, seen, out));
    }
    again.into_iter().for_each(|seen| alone(Found::Again, seen, out));
}

fn alone<T>(found: Found, seen: &Seen<T>, out: &mut impl FnMut(Found, Records<'_, T>)) {
    let mut records: Records<'_, T> = [None; MOST_RUNS];
    records[usize::from(seen.run)] = Some(seen);
    out(found, records);
}
