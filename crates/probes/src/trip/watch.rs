//! What a relay's messages say during one shot. Pure: instants in, an answer out.

use super::listener::{Heard, Source};
use super::selection::Marks;
use units::Monotonic;
use wire::goose::{Heard as At, Rules};

/// What is known of the relay's control block.
#[derive(Default)]
pub(super) struct Relay {
    /// Who sent its first message.
    source: Option<Source>,
    rules: Rules,
    trip: Bit,
    start: Bit,
    marks: Marks,
    /// Messages of another source.
    pub(super) of_others: u64,
    /// Messages of a test, a simulation, or a publisher that is not commissioned.
    pub(super) unusable: u64,
    /// Messages without the trip member.
    pub(super) without_trip: u64,
    /// Messages that are old, or contradict another.
    pub(super) refused: u64,
}

/// A bit of the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bit {
    /// As the last message had it; `None` before the first.
    pub(super) is_set: Option<bool>,
    /// When it was last found set after it had not been.
    pub(super) rose: Option<Monotonic>,
}

impl Bit {
    fn take(&mut self, value: Option<bool>, at: Monotonic) {
        if value == Some(true) && self.is_set != Some(true) {
            self.rose = Some(at);
        }
        self.is_set = value.or(self.is_set);
    }
}

impl Relay {
    /// Takes a message of the control block.
    pub(super) fn take(&mut self, heard: &Heard) {
        if *self.source.get_or_insert(heard.source) != heard.source {
            self.of_others += 1;
            return;
        }
        if heard.is_unusable {
            self.unusable += 1;
            return;
        }
        let (outcome, _) = self.rules.accept(heard.said, At::at(Some(heard.at.as_ns())));
        if !outcome.is_measured() {
            self.refused += u64::from(!matches!(outcome, wire::goose::Outcome::Repetition(_)));
            return;
        }
        self.without_trip += u64::from(heard.trip.is_none());
        self.trip.take(heard.trip, heard.at);
        self.start.take(heard.start, heard.at);
        self.marks = heard.marks;
    }

    /// Whether a message has come whose trip bit could be read.
    pub(super) fn is_known(&self) -> bool {
        self.trip.is_set.is_some()
    }

    /// Messages that never came, by their numbers.
    pub(super) fn lost(&self) -> u64 {
        self.rules.lost()
    }

    /// States whose first message never came: their trip is that of a later one.
    pub(super) fn begun_late(&self) -> u64 {
        self.rules.counts().begun_late
    }

    pub(super) fn trip(&self) -> Bit {
        self.trip
    }

    pub(super) fn start(&self) -> Bit {
        self.start
    }
}

/// The instants of a shot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// From here on nothing of the shot before is awaited.
    pub(super) begin: Monotonic,
    /// The first faulted sample is due, or the first of the disturbance.
    pub(super) fault: Monotonic,
    /// The disturbance is over.
    pub(super) deadline: Monotonic,
}

/// What a relay did in a shot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing while the disturbance lasted.
    Quiet,
    /// It tripped at this instant, while the disturbance lasted.
    Tripped(Monotonic),
    /// It tripped at this instant, before the disturbance.
    Early(Monotonic),
    /// It tripped at this instant, when the disturbance was over.
    Late(Monotonic),
    /// Its trip bit was set when the shot began, and stayed so: it could not be seen to trip.
    WasSet,
    /// No message of it had come when the disturbance began.
    Unknown,
}

/// One shot as it is watched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    pub(super) span: Span,
    /// The first rise of the trip bit since the shot began.
    trip: Option<Monotonic>,
    /// The first rise of the start bit since the fault.
    start: Option<Monotonic>,
    /// The trip bit as the disturbance found it.
    was_set: Option<bool>,
    /// What was told of phases and functions while the disturbance lasted, and what it found.
    marks: Marks,
}

impl Watch {
    /// Begins to watch; what the relay did before is not of this shot.
    pub(super) fn new(span: Span, relay: &Relay) -> Self {
        Self {
            span,
            trip: None,
            start: None,
            was_set: relay.trip().is_set,
            marks: relay.marks,
        }
    }

    /// Takes what a message changed that came at `at`.
    pub(super) fn look(&mut self, relay: &Relay, at: Monotonic) {
        let (trip, start) = (relay.trip(), relay.start());
        let since = |bit: Bit, from: Monotonic| bit.rose.filter(|rose| *rose >= from);
        self.trip = self.trip.or(since(trip, self.span.begin));
        self.start = self.start.or(since(start, self.span.fault));
        if at < self.span.fault {
            self.was_set = trip.is_set;
            self.marks = relay.marks;
        } else if at <= self.span.deadline {
            self.marks = self.marks.and(relay.marks);
        }
    }

    /// When the relay tripped while the fault lasted, as far as is known.
    pub(super) fn tripped(&self) -> Option<Monotonic> {
        match self.act() {
            Act::Tripped(at) => Some(at),
            _ => None,
        }
    }

    /// When it started, while the fault lasted.
    pub(super) fn started(&self) -> Option<Monotonic> {
        self.start.filter(|at| *at <= self.span.deadline)
    }

    /// What was told of phases and functions while the disturbance lasted.
    pub(super) fn marks(&self) -> Marks {
        self.marks
    }

    /// What the relay did.
    pub(super) fn act(&self) -> Act {
        let Span { fault, deadline, .. } = self.span;
        match (self.trip, self.was_set) {
            (Some(at), _) if at < fault => Act::Early(at),
            (_, Some(true)) => Act::WasSet,
            (_, None) => Act::Unknown,
            (Some(at), _) if at <= deadline => Act::Tripped(at),
            (Some(at), _) => Act::Late(at),
            (None, _) => Act::Quiet,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Act, Marks, Relay, Span, Watch};
    use crate::trip::listener::{Heard, Name, Source};
    use units::Monotonic;
    use wire::ether::Mac;
    use wire::goose::{Numbers, Said};

    pub(in crate::trip) fn ms(ms: i64) -> Monotonic {
        Monotonic::from_ns(ms * 1_000_000)
    }

    /// A message of state `st`, number `sq`, at this ms: trip and start.
    pub(in crate::trip) fn heard(at_ms: i64, [st, sq]: [u32; 2], [trip, start]: [bool; 2]) -> Heard {
        let numbers = Numbers {
            st_num: st,
            sq_num: sq,
            tal_ms: 2_000,
        };
        Heard {
            at: ms(at_ms),
            name: Name::of(b"x"),
            source: Source {
                src: Mac([2; 6]),
                dst: Mac([1; 6]),
                appid: 1,
            },
            said: Said {
                numbers,
                t_ns: i64::from(st),
                values: u64::from(trip) + 2 * u64::from(start),
            },
            trip: Some(trip),
            start: Some(start),
            marks: Marks::default(),
            is_unusable: false,
        }
    }

    /// What a relay does that says this, in a shot from 100 to 300 ms whose fault begins at 200 ms.
    fn watched(messages: &[Heard]) -> (Watch, Relay) {
        let mut relay = Relay::default();
        let span = Span {
            begin: ms(100),
            fault: ms(200),
            deadline: ms(300),
        };
        let mut watch = Watch::new(span, &relay);
        for message in messages {
            relay.take(message);
            watch.look(&relay, message.at);
        }
        (watch, relay)
    }

    fn act(messages: &[Heard]) -> Act {
        watched(messages).0.act()
    }

    const NO: [bool; 2] = [false, false];
    const STARTED: [bool; 2] = [false, true];
    const TRIPPED: [bool; 2] = [true, true];

    #[test]
    fn start_and_trip_are_kept_apart_and_the_first_frame_of_each_counts() {
        let said = [
            heard(90, [1, 1], NO),
            heard(208, [2, 0], STARTED),
            heard(224, [3, 0], TRIPPED),
            heard(226, [3, 1], TRIPPED),
            heard(290, [4, 0], NO),
        ];
        let (watch, _) = watched(&said);
        assert_eq!(watch.act(), Act::Tripped(ms(224)));
        assert_eq!(watch.started(), Some(ms(208)));
        assert_eq!(watch.tripped(), Some(ms(224)));
    }

    #[test]
    fn a_trip_counts_only_between_the_fault_and_its_end() {
        let quiet = heard(110, [1, 1], NO);
        let at = |ms: i64| act(&[quiet, heard(ms, [2, 0], TRIPPED), heard(ms + 4, [2, 1], TRIPPED)]);
        assert_eq!(at(199), Act::Early(ms(199)));
        assert_eq!(at(200), Act::Tripped(ms(200)));
        assert_eq!(at(300), Act::Tripped(ms(300)));
        assert_eq!(at(301), Act::Late(ms(301)));
        assert_eq!(act(&[quiet]), Act::Quiet);
    }

    #[test]
    fn a_bit_that_was_set_or_is_unknown_measures_nothing() {
        assert_eq!(act(&[]), Act::Unknown);
        assert_eq!(act(&[heard(224, [1, 1], TRIPPED)]), Act::Unknown);
        assert_eq!(
            act(&[heard(90, [1, 1], TRIPPED), heard(224, [1, 2], TRIPPED)]),
            Act::WasSet
        );
        // It was reset before the fault: then it can be seen to trip.
        let reset = [
            heard(90, [1, 1], TRIPPED),
            heard(150, [2, 0], NO),
            heard(220, [3, 0], TRIPPED),
        ];
        assert_eq!(act(&reset), Act::Tripped(ms(220)));
    }

    #[test]
    fn tests_old_messages_and_other_sources_trip_nothing() {
        let quiet = heard(110, [5, 1], NO);
        let mut simulated = heard(220, [6, 0], TRIPPED);
        simulated.is_unusable = true;
        let mut of_another = heard(220, [6, 0], TRIPPED);
        of_another.source.src = Mac([3; 6]);
        let old = heard(220, [4, 0], TRIPPED);
        for message in [simulated, of_another, old] {
            let (watch, relay) = watched(&[quiet, message]);
            assert_eq!(watch.act(), Act::Quiet, "{message:?}");
            assert_eq!(relay.of_others + relay.unusable + relay.refused, 1, "{message:?}");
        }
    }

    #[test]
    fn a_trip_whose_first_message_was_lost_is_that_of_the_next() {
        let said = [heard(110, [1, 1], NO), heard(226, [2, 1], TRIPPED)];
        let (watch, relay) = watched(&said);
        assert_eq!(watch.act(), Act::Tripped(ms(226)));
        assert_eq!(relay.begun_late(), 1, "and that is known");
    }

    #[test]
    fn phases_are_those_of_the_disturbance_and_of_what_it_found() {
        let told = |mut message: Heard, set: u32| {
            message.marks = Marks { told: 7, set };
            message
        };
        let said = [
            told(heard(90, [1, 1], NO), 0b010),
            told(heard(150, [2, 0], NO), 0),
            told(heard(224, [3, 0], TRIPPED), 0b001),
            told(heard(240, [4, 0], TRIPPED), 0b100),
            told(heard(310, [5, 0], TRIPPED), 0b010),
        ];
        assert_eq!(watched(&said).0.marks(), Marks { told: 7, set: 0b101 });
        assert_eq!(watched(&said[..1]).0.marks().set, 0b010, "it was set all the time");
    }
}
