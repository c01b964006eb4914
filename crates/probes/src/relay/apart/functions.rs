//! The thread of the functions, which runs once a cycle between two rings.

use super::{Changed, FunctionsEnds, Given};
use crate::error::ProbeError;
use crate::relay::functions::{Decided, Functions};
use crate::relay::receiving::{Came, Takes};
use crate::relay::series::{tell_refused, use_slot};
use crate::relay::task::Ends;
use ::relay::Sample;
use ::relay::engine::Placement;
use model::Counter;
use run::Feed;
use units::Monotonic;

pub(in crate::relay) struct Between {
    ends: FunctionsEnds,
    /// Control blocks whose changes could not yet be passed to the output.
    put_off: u64,
    /// Lost samples of each stream counted so far; empty if ages are not measured.
    lost: Box<[u64]>,
}

impl Between {
    /// Measures the age of the samples of `streams` streams.
    pub(in crate::relay) fn new(ends: FunctionsEnds, streams: usize) -> Self {
        Self {
            ends,
            put_off: 0,
            lost: vec![0; streams].into(),
        }
    }

    fn count_lost(&mut self, functions: &Functions, at: Monotonic, feed: &mut Feed) {
        for (stream, counted) in self.lost.iter_mut().enumerate() {
            let lost = functions.lost(stream);
            let new = lost - std::mem::replace(counted, lost);
            feed.count(use_slot(stream), Counter::Lost, at, new);
        }
    }
}

impl Ends for Between {
    fn begin(&mut self, _start: Monotonic) {}

    fn receive(&mut self, functions: &mut Functions, feed: &mut Feed) -> Result<(), ProbeError> {
        for _ in 0..self.ends.from.waiting() {
            match self.ends.from.pop() {
                Some(Given::Sample { stream, sample, came }) => take(functions, stream, &sample, &came, feed),
                Some(Given::Input { number, input }) => functions.input(number, input),
                None => break,
            }
        }
        Ok(())
    }

    fn send(&mut self, functions: &Functions, decided: &Decided, feed: &mut Feed) -> Result<(), ProbeError> {
        let blocks = decided.changed | self.put_off;
        if blocks != 0 {
            let members = functions.states(blocks).map(Changed::Member);
            let all = members.chain(std::iter::once(Changed::Blocks { blocks, at: decided.at }));
            let has_told = self.ends.to.push_all(functions.members(blocks) + 1, all);
            self.put_off = if has_told { 0 } else { blocks };
            self.ends.bell.ring();
        }
        self.count_lost(functions, decided.at, feed);
        let refused = self.ends.from.first_refused();
        tell_refused(refused, decided.at, feed);
        Ok(())
    }

    fn end(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let refused = self.ends.from.refused();
        tell_refused(refused, sys::clock::monotonic(), feed);
        Ok(())
    }
}

/// Passes a sample to the functions, and measures its age if they use it.
fn take(functions: &mut Functions, stream: usize, sample: &Sample, came: &Came, feed: &mut Feed) {
    let placement = functions.take(stream, sample, came);
    if let (Placement::Taken, Some(age_ns)) = (placement, came.age_ns) {
        let now = sys::clock::monotonic();
        let number = u64::from(sample.smp_cnt);
        feed.sample(use_slot(stream), now, age_ns + (now - came.at), number);
    }
}
