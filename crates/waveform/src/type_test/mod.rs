//! Type tests of a relay: many shots that differ in a few numbers, each with its place in a table. `docs/formats/type-test.md` has every key.
//!
//! A [`ShotPlace`] is a few numbers. Its signal is made just before the shot, so that thousands of shots need no memory before.

mod bias;
mod clearing;
mod distance;
mod file;
mod file_bias;
mod file_reach;
mod library;
mod overcurrent;
mod pick_up;
mod point;
mod reach;
mod search;
#[cfg(test)]
mod tests;

pub use library::{find, names};
pub use point::PointOnWave;
pub use search::Search;

use crate::scenario::{Expect, Scenario, Selection, Wave};
use crate::synth::Synth;
use bias::Bias;
use distance::Distance;
use model::{Cell, RampSignal};
use overcurrent::Overcurrent;
use pick_up::PickUp;
use reach::Reach;
use stats::random::Random;

/// A type test.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeTest {
    /// Its name, also used in the names of its series.
    pub name: String,
    /// Its description, in a sentence.
    pub what: String,
    repeats: usize,
    kind: TestKind,
}

#[derive(Debug, Clone, PartialEq)]
enum TestKind {
    Distance(Distance),
    Overcurrent(Overcurrent),
    PickUp(PickUp),
    Reach(Reach),
    Bias(Bias),
}

/// The coordinates of a shot in a type test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShotPlace {
    /// The series that counts it: its number in [`TypeTest::groups`].
    pub group: usize,
    position: usize,
    point: usize,
}

/// A shot of a type test, ready to be played.
#[derive(Debug, Clone, PartialEq)]
pub struct TestShot {
    /// The series that counts it: its number in [`TypeTest::groups`].
    pub group: usize,
    /// Its signal, and the required action of the relay.
    pub scenario: Scenario,
    /// Its place in the table.
    pub cell: Cell,
    /// Point on wave at which it starts.
    pub point: PointOnWave,
}

/// Shots that are counted in one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name, also used in the name of its series.
    pub label: String,
    /// Its description, in a sentence.
    pub what: String,
    /// True if the relay must trip in some of them.
    pub trips: bool,
    /// True if the relay must not trip in some of them.
    pub stays: bool,
    /// Required operate time in ns; `None` if there is no requirement.
    pub within_ns: Option<u64>,
    /// Required phases and function of the trip.
    pub selection: Selection,
}

impl TypeTest {
    /// The groups of its shots, each with separate series.
    pub fn groups(&self) -> Vec<Group> {
        let groups = match &self.kind {
            TestKind::Distance(test) => test.groups(),
            TestKind::Overcurrent(test) => test.groups(),
            TestKind::PickUp(test) => test.groups(),
            TestKind::Reach(test) => test.groups(),
            TestKind::Bias(test) => test.groups(),
        };
        let named = groups.into_iter().map(|group| Group {
            label: format!("{}-{}", self.name, group.label),
            ..group
        });
        named.collect()
    }

    /// All shots, except those of a search, in an order given by the seed: equal seeds give equal orders.
    pub fn places(&self, seed: u64) -> Vec<ShotPlace> {
        let (groups, positions, points) = match &self.kind {
            TestKind::Distance(test) => test.size(),
            TestKind::Overcurrent(test) => (test.multiples.len(), 1, 1),
            TestKind::PickUp(test) => (test.phases.len(), 1, 1),
            // Its shots follow from outcomes: see [`Self::search`].
            TestKind::Reach(_) | TestKind::Bias(_) => return Vec::new(),
        };
        let count = groups * positions * points * self.repeats;
        let place = |number: usize| ShotPlace {
            group: number % groups,
            position: number / groups % positions,
            point: number / (groups * positions) % points,
        };
        let mut places: Vec<ShotPlace> = (0..count).map(place).collect();
        let mut random = Random::new(seed);
        // Fisher and Yates.
        for last in (1..places.len()).rev() {
            let other = random.next_u64() % (last as u64 + 1);
            places.swap(last, other as usize);
        }
        places
    }

    /// The search whose shots these are; `None` for a test whose shots are known before ([`Self::places`]).
    pub fn search(&self) -> Option<Search> {
        match &self.kind {
            TestKind::Reach(test) => Some(test.search()),
            TestKind::Bias(test) => Some(test.search()),
            TestKind::Distance(_) | TestKind::Overcurrent(_) | TestKind::PickUp(_) => None,
        }
    }

    /// A shot with its signal.
    pub fn shot(&self, place: ShotPlace) -> TestShot {
        let (wave, expect, cell, point) = match &self.kind {
            TestKind::Distance(test) => of_one_side(test.shot(place)),
            TestKind::Overcurrent(test) => of_one_side(test.shot(place.group)),
            TestKind::PickUp(test) => of_one_side(test.shot(place.group)),
            TestKind::Reach(test) => of_one_side(test.shot(place)),
            TestKind::Bias(test) => test.shot(place),
        };
        let selection = match &self.kind {
            TestKind::Distance(test) => test.selection(place),
            TestKind::Overcurrent(_) | TestKind::PickUp(_) | TestKind::Reach(_) | TestKind::Bias(_) => {
                Selection::default()
            }
        };
        // The first state of a search only approaches the fault.
        let first = usize::from(matches!(self.kind, TestKind::Reach(_) | TestKind::Bias(_)));
        let fault = match wave.near() {
            Wave::Synth(synth) => synth.states.get(first).map(|state| state.name.clone()),
            _ => None,
        };
        TestShot {
            group: place.group,
            scenario: Scenario {
                name: self.name.clone(),
                what: self.what.clone(),
                wave,
                fault: fault.unwrap_or_default(),
                expect,
                selection,
                flaw: None,
                notes: Vec::new(),
            },
            cell,
            point,
        }
    }

    /// A shot for which every relay with these settings trips: it is used to find the relay's GOOSE, and for the negative controls.
    pub fn reference(&self) -> Scenario {
        let place = match &self.kind {
            TestKind::Distance(test) => test.surest(),
            // The highest current has the shortest operate time.
            TestKind::Overcurrent(test) => ShotPlace {
                group: test.multiples.len().saturating_sub(1),
                position: 0,
                point: 0,
            },
            TestKind::PickUp(test) => return test.reference(&self.name, &self.what),
            TestKind::Reach(test) => test.surest(),
            TestKind::Bias(test) => test.surest(),
        };
        self.shot(place).scenario
    }

    /// True if its shots are ramps, in which a start or a trip, and its reset, are timed.
    pub fn is_ramp(&self) -> bool {
        matches!(self.kind, TestKind::PickUp(_))
    }

    /// Function of the relay whose start a ramp watches in simulated time; `None`: any of the trip.
    pub fn ramp_function(&self) -> Option<&str> {
        match &self.kind {
            TestKind::PickUp(test) => test.function.as_deref(),
            TestKind::Distance(_) | TestKind::Overcurrent(_) | TestKind::Reach(_) | TestKind::Bias(_) => None,
        }
    }

    /// The state of the relay that a ramp watches; `None` without a ramp.
    pub fn ramp_signal(&self) -> Option<RampSignal> {
        match &self.kind {
            TestKind::PickUp(test) => Some(test.signal),
            TestKind::Distance(_) | TestKind::Overcurrent(_) | TestKind::Reach(_) | TestKind::Bias(_) => None,
        }
    }

    /// The same test, with ramps that watch this state of the relay.
    #[must_use]
    pub fn watching(mut self, signal: RampSignal) -> Self {
        if let TestKind::PickUp(test) = &mut self.kind {
            test.signal = signal;
        }
        self
    }
}

/// A shot whose signal is that of one side.
fn of_one_side((synth, expect, cell, point): (Synth, Expect, Cell, PointOnWave)) -> (Wave, Expect, Cell, PointOnWave) {
    (Wave::Synth(synth), expect, cell, point)
}
