//! Messages of a relay during one shot. Pure logic without I/O.

use super::listener::{Heard, Source};
use super::selection::Marks;
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::{Counts, Heard as At, Rules};

/// State of the relay's control block, as far as it is known.
#[derive(Default)]
pub(super) struct Relay {
    /// Sender of its first message.
    source: Option<Source>,
    /// Source address in the frame of that message.
    src_on_wire: Option<Mac>,
    rules: Rules,
    trip: Bit,
    start: Bit,
    marks: Marks,
    /// Number of messages from another source.
    pub(super) of_others: u64,
    /// Number of test or simulated messages, or of a publisher that needs commissioning.
    pub(super) unusable: u64,
    /// Number of messages without the trip member.
    pub(super) without_trip: u64,
    /// Number of messages that are old or contradict another.
    pub(super) refused: u64,
    /// confRev and number of entries of the dataset in the first message.
    dataset: Option<[u32; 2]>,
    /// Number of messages in which these differ.
    pub(super) regrouped: u64,
}

/// Reasons why the silence of a relay in a shot proves nothing; each follows "not counted: ".
pub(super) const UNSURE: [&str; 7] = [
    "the relay's GOOSE had expired",
    "a state of the relay never came, and may have been a trip",
    "the relay's GOOSE restarted",
    "messages under the relay's name came from another source",
    "messages of the relay were test or simulated messages, or need commissioning",
    "messages of the relay were old, or contradict others",
    "messages of the relay lacked the trip member",
];

/// Index of the first of [`UNSURE`].
const EXPIRED: usize = 0;

/// Number of times each reason of [`UNSURE`] occurred.
type Unsure = [u64; UNSURE.len()];

/// A boolean of the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bit {
    /// Value in the last message; `None` before the first.
    pub(super) is_set: Option<bool>,
    /// Last instant at which it changed to set.
    pub(super) rose: Option<Monotonic>,
    /// Last instant at which it changed from set.
    fell: Option<Monotonic>,
}

impl Bit {
    fn take(&mut self, value: Option<bool>, at: Monotonic) {
        if value == Some(true) && self.is_set != Some(true) {
            self.rose = Some(at);
        }
        if value == Some(false) && self.is_set == Some(true) {
            self.fell = Some(at);
        }
        self.is_set = value.or(self.is_set);
    }

    fn rose_after(self, at: Monotonic) -> Option<Monotonic> {
        self.rose.filter(|rose| *rose > at)
    }
}

impl Relay {
    /// Takes a message of the control block.
    pub(super) fn take(&mut self, heard: &Heard) {
        if *self.source.get_or_insert(heard.source) != heard.source {
            self.of_others += 1;
            return;
        }
        self.src_on_wire.get_or_insert(heard.src_on_wire);
        if heard.is_unusable {
            self.unusable += 1;
            return;
        }
        let (outcome, _) = self.rules.accept(heard.said, At::at(Some(heard.at.as_ns())));
        if !outcome.is_measured() {
            self.refused += u64::from(!matches!(outcome, wire::goose::Outcome::Repetition(_)));
            return;
        }
        self.regrouped += u64::from(*self.dataset.get_or_insert(heard.dataset) != heard.dataset);
        self.without_trip += u64::from(heard.trip.is_none());
        self.trip.take(heard.trip, heard.at);
        self.start.take(heard.start, heard.at);
        self.marks = heard.marks;
    }

    /// Updates the expiry; every message received before `now` has been taken.
    pub(super) fn look(&mut self, now: Monotonic) {
        self.rules.expire(At::at(Some(now.as_ns())));
    }

    fn unsure(&self) -> Unsure {
        let counts = self.counts();
        [
            counts.expired,
            counts.missed_states,
            counts.restarts,
            self.of_others,
            self.unusable,
            self.refused + counts.altered,
            self.without_trip,
        ]
    }

    /// Source address of its frames; `None` before the first.
    pub(super) fn src_on_wire(&self) -> Option<Mac> {
        self.src_on_wire
    }

    /// True if a message with a readable trip bit has come.
    pub(super) fn is_known(&self) -> bool {
        self.trip.is_set.is_some()
    }

    /// Number of lost messages, according to their numbers.
    pub(super) fn lost(&self) -> u64 {
        self.rules.lost()
    }

    /// Counts of the relay's messages.
    pub(super) fn counts(&self) -> Counts {
        self.rules.counts()
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
    /// Instant up to which the shot before was watched.
    pub(super) begin: Monotonic,
    /// Due instant of the first faulted sample, or of the first sample of the disturbance.
    pub(super) fault: Monotonic,
    /// End of the disturbance.
    pub(super) deadline: Monotonic,
    /// End of the shot: later messages belong to the next one.
    pub(super) until: Monotonic,
}

/// Act of a relay in a shot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// No trip while the disturbance lasted.
    Quiet,
    /// Trip at this instant, while the disturbance lasted.
    Tripped(Monotonic),
    /// Trip at this instant, before the disturbance.
    Early(Monotonic),
    /// Trip at this instant, after the end of the disturbance.
    Late(Monotonic),
    /// The trip bit was already set when the shot began, and stayed set, so a trip could not be seen.
    WasSet,
    /// No message of the relay had come when the disturbance began.
    Unknown,
}

/// State of watching one shot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    pub(super) span: Span,
    /// First rise of the trip bit since the shot began.
    trip: Option<Monotonic>,
    /// First fall of the trip bit after that.
    reset: Option<Monotonic>,
    /// First rise of the start bit since the fault.
    start: Option<Monotonic>,
    /// The trip bit at the beginning of the disturbance.
    was_set: Option<bool>,
    /// Marks of phases and functions at the beginning of the disturbance, and those reported while it lasted.
    marks: Marks,
    /// Doubts from before the shot; for silence, from before the disturbance.
    unsure: Unsure,
    /// True if the relay's messages had expired while the disturbance lasted.
    was_silent: bool,
}

impl Watch {
    /// Starts to watch; earlier acts of the relay do not belong to this shot.
    pub(super) fn new(span: Span, relay: &Relay) -> Self {
        Self {
            span,
            trip: relay.trip().rose_after(span.begin),
            reset: None,
            start: None,
            was_set: relay.trip().is_set,
            marks: relay.marks,
            unsure: relay.unsure(),
            was_silent: false,
        }
    }

    /// Evaluates the changes by a message that came at `at`.
    pub(super) fn look(&mut self, relay: &Relay, at: Monotonic) {
        if at > self.span.until {
            return;
        }
        let (trip, start) = (relay.trip(), relay.start());
        self.trip = self.trip.or(trip.rose_after(self.span.begin));
        self.reset = self
            .reset
            .or(trip.fell.filter(|fell| self.trip.is_some_and(|rose| *fell > rose)));
        self.start = self.start.or(start.rose_after(self.span.fault + -1));
        if at < self.span.fault {
            self.was_set = trip.is_set;
            self.marks = relay.marks;
            self.unsure[EXPIRED] = relay.unsure()[EXPIRED];
        } else if at <= self.span.deadline {
            self.marks = self.marks.and(relay.marks);
        }
    }

    /// Evaluates a silence that lasts until `now`.
    pub(super) fn look_at_silence(&mut self, relay: &Relay, now: Monotonic) {
        if now < self.span.fault {
            self.unsure[EXPIRED] = relay.unsure()[EXPIRED];
        } else {
            self.was_silent |= !relay.rules.is_live();
        }
    }

    /// Reason why the relay's silence in this shot proves nothing, as a number of [`UNSURE`]; `None` if it does.
    pub(super) fn unsure(&self, relay: &Relay) -> Option<usize> {
        let now = relay.unsure();
        let was_so = |number: &usize| now[*number] != self.unsure[*number];
        let silent = self.was_silent.then_some(EXPIRED);
        silent.or_else(|| (0..UNSURE.len()).find(was_so))
    }

    /// Instant of the relay's trip while the fault lasted, as far as it is known.
    pub(super) fn tripped(&self) -> Option<Monotonic> {
        match self.act() {
            Act::Tripped(at) => Some(at),
            _ => None,
        }
    }

    /// Instant at which the trip bit was reset after the relay's trip; `None` if it was not.
    pub(super) fn reset(&self) -> Option<Monotonic> {
        self.reset
    }

    /// Instant of its start while the fault lasted.
    pub(super) fn started(&self) -> Option<Monotonic> {
        self.start.filter(|at| *at <= self.span.deadline)
    }

    /// Marks of phases and functions reported while the disturbance lasted.
    pub(super) fn marks(&self) -> Marks {
        self.marks
    }

    /// The act of the relay.
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
    use super::{Act, EXPIRED, Marks, Relay, Span, UNSURE, Watch};
    use crate::trip::listener::{Heard, Name, Source};
    use units::Monotonic;
    use wire::ether::Mac;
    use wire::goose::{Numbers, Said};

    pub(in crate::trip) fn ms(ms: i64) -> Monotonic {
        Monotonic::from_ns(ms * 1_000_000)
    }

    /// A message with stNum `st` and sqNum `sq` at this time in ms, with its trip and start bits.
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
            src_on_wire: Mac([2; 6]),
            said: Said {
                numbers,
                t_ns: i64::from(st),
                values: u64::from(trip) + 2 * u64::from(start),
            },
            trip: Some(trip),
            start: Some(start),
            marks: Marks::default(),
            dataset: [1, 2],
            is_unusable: false,
        }
    }

    /// Act of a relay that sends these messages, in a shot from 100 to 300 ms whose fault begins at 200 ms.
    fn watched(messages: &[Heard]) -> (Watch, Relay) {
        let mut relay = Relay::default();
        let span = Span {
            begin: ms(100),
            fault: ms(200),
            deadline: ms(300),
            until: ms(400),
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
        assert_eq!(watch.reset(), Some(ms(290)));
        assert_eq!(watched(&said[..4]).0.reset(), None);
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
        // The bit was reset before the fault, so a trip can be seen.
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
        assert_eq!(relay.counts().begun_late, 1, "and that is known");
    }

    #[test]
    fn what_makes_silence_worthless_is_known() {
        let unsure = |messages: &[Heard]| {
            let (watch, relay) = watched(messages);
            assert_eq!(watch.act(), Act::Quiet, "{messages:?}");
            watch.unsure(&relay).map(|number| UNSURE[number])
        };
        let [quiet, next] = [heard(110, [5, 1], NO), heard(210, [5, 2], NO)];
        assert_eq!(unsure(&[quiet, next]), None);
        assert_eq!(
            unsure(&[quiet, heard(210, [7, 0], NO)]),
            Some(UNSURE[1]),
            "state 6 may have been a trip"
        );
        let mut again = heard(210, [1, 1], NO);
        again.said.t_ns = 9;
        assert_eq!(unsure(&[quiet, again]), Some(UNSURE[2]));
        let mut of_another = next;
        of_another.source.src = Mac([3; 6]);
        assert_eq!(unsure(&[quiet, of_another]), Some(UNSURE[3]));
        let mut simulated = next;
        simulated.is_unusable = true;
        assert_eq!(unsure(&[quiet, simulated]), Some(UNSURE[4]));
        assert_eq!(unsure(&[quiet, heard(210, [4, 0], NO)]), Some(UNSURE[5]));
    }

    #[test]
    fn a_relay_that_expired_while_the_disturbance_lasted_was_silent() {
        let silent = |last_ms: i64, look_ms: i64, again_ms: Option<i64>| {
            let mut message = heard(last_ms, [1, 1], NO);
            message.said.numbers.tal_ms = 50;
            let (mut watch, mut relay) = watched(&[message]);
            relay.look(ms(look_ms));
            watch.look_at_silence(&relay, ms(look_ms));
            if let Some(at) = again_ms {
                let again = heard(at, [1, 2], NO);
                relay.take(&again);
                watch.look(&relay, again.at);
            }
            watch.unsure(&relay) == Some(EXPIRED)
        };
        assert!(!silent(190, 230, None));
        assert!(silent(190, 250, None), "and no message came after that");
        assert!(silent(190, 210, Some(250)), "it came back");
        assert!(!silent(110, 180, Some(190)), "it was back before the disturbance");
    }

    #[test]
    fn a_trip_between_two_shots_is_early_in_the_next_one() {
        let mut relay = Relay::default();
        let span = |from: i64| Span {
            begin: ms(from),
            fault: ms(from + 100),
            deadline: ms(from + 200),
            until: ms(from + 300),
        };
        let mut first = Watch::new(span(100), &relay);
        for message in [
            heard(110, [1, 1], NO),
            heard(410, [2, 0], TRIPPED),
            heard(420, [3, 0], NO),
        ] {
            relay.take(&message);
            first.look(&relay, message.at);
        }
        let second = Watch::new(span(400), &relay);
        assert_eq!((first.act(), second.act()), (Act::Quiet, Act::Early(ms(410))));
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
