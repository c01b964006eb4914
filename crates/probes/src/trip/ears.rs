//! Evaluates the messages of the relays, and finds the relay's control block if the user has not named it.

use super::UnderTest;
use super::listener::{Heard, Name, ProofTally, Source, Tallies};
use super::watch::{Relay, Watch};
use model::EventKind;
use run::Events;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use units::Monotonic;
use wire::routed::Publisher;

/// Maximum number of control blocks to track while the relay's is searched.
const MOST: usize = 256;

/// A control block that may belong to the relay.
struct Candidate {
    name: Name,
    source: Source,
    relay: Relay,
    /// True if it tripped in the current shot.
    tripped: bool,
}

/// The conductor's end of the ring from the listener.
pub(super) struct Hearing {
    heard: rtrb::Consumer<Heard>,
    /// The control blocks of the relays, once they are known.
    names: Arc<OnceLock<Vec<Name>>>,
    relays: Vec<(UnderTest, Relay)>,
    candidates: Vec<Candidate>,
}

impl Hearing {
    pub(super) fn new(heard: rtrb::Consumer<Heard>, names: Arc<OnceLock<Vec<Name>>>, relays: Vec<UnderTest>) -> Self {
        Self {
            heard,
            names,
            relays: relays.into_iter().map(|relay| (relay, Relay::default())).collect(),
            candidates: Vec::new(),
        }
    }

    /// True if the relay's control block is not yet found.
    pub(super) fn is_learning(&self) -> bool {
        self.names.get().is_none()
    }

    /// Received messages of each relay, in the order of the relays.
    pub(super) fn relays(&self) -> impl Iterator<Item = &Relay> {
        self.relays.iter().map(|(_, relay)| relay)
    }

    /// Takes the received messages, and passes them to the watches, one for each relay, if there are any.
    pub(super) fn listen(&mut self, watches: &mut [Watch]) {
        while let Ok(heard) = self.heard.pop() {
            let Some(names) = self.names.get() else {
                self.learn(&heard, watches.first());
                continue;
            };
            let Some(number) = names.iter().position(|name| *name == heard.name) else {
                continue;
            };
            let (_, relay) = &mut self.relays[number];
            relay.take(&heard);
            if let Some(watch) = watches.get_mut(number) {
                watch.look(relay, heard.at);
            }
        }
    }

    /// Updates the silence of the relays; every message received before `now` has been taken.
    pub(super) fn look(&mut self, watches: &mut [Watch], now: Monotonic) {
        for ((_, relay), watch) in self.relays.iter_mut().zip(watches) {
            relay.look(now);
            watch.look_at_silence(relay, now);
        }
    }

    fn learn(&mut self, heard: &Heard, watch: Option<&Watch>) {
        let known = self.candidates.iter().position(|known| known.name == heard.name);
        let index = known.unwrap_or(self.candidates.len());
        if known.is_none() {
            if index == MOST {
                return;
            }
            self.candidates.push(Candidate {
                name: heard.name,
                source: heard.source,
                relay: Relay::default(),
                tripped: false,
            });
        }
        let candidate = &mut self.candidates[index];
        // If the first message of a block comes during the fault, only a new state is a trip: other members may have been set for
        // long.
        let is_new = candidate.relay.is_known() || heard.said.numbers.sq_num == 0;
        candidate.relay.take(heard);
        let rose_now = candidate.relay.trip().rose == Some(heard.at);
        let is_in_fault = watch.is_some_and(|watch| heard.at >= watch.span.fault && heard.at <= watch.span.deadline);
        candidate.tripped |= is_new && rose_now && is_in_fault;
    }

    /// The relay's control block, which is the only one that tripped, with a text on how it was found.
    ///
    /// # Errors
    /// No control block tripped, or several did.
    pub(super) fn found(&mut self, tallies: &Tallies) -> Result<String, String> {
        let listed = |wanted: &dyn Fn(&Candidate) -> bool| {
            let names: Vec<String> = self
                .candidates
                .iter()
                .filter(|one| wanted(one))
                .map(Candidate::text)
                .collect();
            names.join(", ")
        };
        let mut tripped = (0..self.candidates.len()).filter(|index| self.candidates[*index].tripped);
        match (tripped.next(), tripped.next()) {
            (Some(index), None) => {
                let found = self.candidates.swap_remove(index);
                let text = format!(
                    "GOOSE found by its trip in a shot that is not counted: {}",
                    found.text()
                );
                self.relays[0].1 = found.relay;
                let _ = self.names.set(vec![found.name]);
                self.candidates.clear();
                Ok(text)
            }
            (Some(_), Some(_)) => Err(format!(
                "trip: several GOOSE control blocks tripped: {}: name the relay's (--goose)",
                listed(&|one| one.tripped)
            )),
            (None, _) if self.candidates.is_empty() => {
                let refused = tallies.refused.load(Ordering::Relaxed);
                if refused > 0 {
                    return Err(none_used(refused, "GOOSE messages"));
                }
                Err("trip: no GOOSE came: is the relay connected to this network, and does it publish?".into())
            }
            (None, _) => {
                let also = match tallies.refused.load(Ordering::Relaxed) {
                    0 => String::new(),
                    refused => format!(
                        ". Another {refused} GOOSE messages were not signed, or not by a key of --key: not used"
                    ),
                };
                Err(format!(
                    "trip: no GOOSE control block tripped while the fault lasted. Control blocks received: {}{also}. Is the relay \
                     set for this stream and this fault, and does --trip-member name the member that is true at a trip? To count \
                     a missing trip as a failure, name the control block (--goose)",
                    listed(&|_| true)
                ))
            }
        }
    }

    /// Reason why no value of a named control block is known: the first one of which this is true.
    pub(super) fn silence(&self, tallies: &Tallies) -> String {
        let mut unknown = self
            .relays
            .iter()
            .enumerate()
            .filter(|(_, (_, relay))| !relay.is_known());
        let Some((number, (under_test, relay))) = unknown.next() else {
            return "trip: the messages of all relays have been received".to_owned();
        };
        let (name, trip) = (under_test.goose.clone().unwrap_or_default(), under_test.trip);
        if relay.without_trip > 0 {
            return format!(
                "trip: member {trip} of {name} is missing or is not a boolean: name another (--trip-member)"
            );
        }
        if relay.unusable > 0 {
            return format!(
                "trip: all messages of {name} are test or simulated messages, or need commissioning: end that state at the relay"
            );
        }
        let refused = tallies.proofs.get(number).map_or(0, ProofTally::refused);
        if refused > 0 {
            return none_used(refused, &format!("messages of {name}"));
        }
        format!("trip: no GOOSE message of {name} came: is the relay connected to this network, and is that its name?")
    }

    /// Writes the doubts about the whole run.
    pub(super) fn say_doubts(&self, tallies: &Tallies, events: &Events) {
        for (number, (under_test, relay)) in self.relays.iter().enumerate() {
            say_doubts_of(under_test, relay, events);
            if let Some(proofs) = tallies.proofs.get(number) {
                say_proofs_of(under_test, proofs, events);
            }
        }
        let [dropped, malformed, unheard, hidden] =
            [&tallies.dropped, &tallies.malformed, &tallies.unheard, &tallies.hidden]
                .map(|count| count.load(Ordering::Relaxed));
        for (count, kind, what) in [
            (
                dropped,
                EventKind::SocketDrop,
                "frames were dropped by the socket before they were read",
            ),
            (
                unheard,
                EventKind::SocketDrop,
                "GOOSE messages were not read, since the test set was held up",
            ),
            (
                hidden,
                EventKind::Note,
                "packets were not read: encrypted, in fragments, or with GOOSE behind other headers",
            ),
            (malformed, EventKind::Note, "GOOSE frames could not be read"),
        ] {
            if count > 0 {
                events.write(kind, format!("{count} {what}"));
            }
        }
    }
}

/// Reason why nothing is known although messages came.
fn none_used(refused: u64, of: &str) -> String {
    format!("trip: {refused} {of} came, and none was used: they are not signed, or not by a key of --key")
}

/// Writes the results of the check of signatures of one relay's messages.
fn say_proofs_of(under_test: &UnderTest, proofs: &ProofTally, events: &Events) {
    for (proof, count) in proofs.counted() {
        let kind = match proof.is_doubt() {
            true => EventKind::StreamDoubt,
            false => EventKind::Note,
        };
        let text = format!(
            "{}{count} GOOSE messages under the relay's name {}",
            under_test.prefix(),
            proof.words()
        );
        events.write(kind, text);
    }
}

/// Writes the doubts about the figures of one relay.
fn say_doubts_of(under_test: &UnderTest, relay: &Relay, events: &Events) {
    for (count, kind, what) in [
        (
            relay.of_others,
            EventKind::StreamDoubt,
            "GOOSE messages under the relay's name came from another source: not used",
        ),
        (
            relay.unusable,
            EventKind::StreamDoubt,
            "GOOSE messages were test or simulated messages, or need commissioning: not used",
        ),
        (
            relay.refused,
            EventKind::StreamDoubt,
            "GOOSE messages were old, or contradict others: not used",
        ),
        (
            relay.counts().altered,
            EventKind::StreamDoubt,
            "GOOSE messages changed values without a new stNum: used",
        ),
        (
            relay.regrouped,
            EventKind::StreamDoubt,
            "GOOSE messages came with another confRev, or another number of entries: their members may have changed",
        ),
        (
            relay.counts().restarts,
            EventKind::Note,
            "times the relay's GOOSE restarted",
        ),
        (
            relay.counts().expired,
            EventKind::Note,
            "times the relay's GOOSE was silent for longer than timeAllowedtoLive",
        ),
        (
            relay.lost(),
            EventKind::Note,
            "GOOSE messages of the relay were lost, according to their numbers",
        ),
        (
            relay.counts().begun_late,
            EventKind::Note,
            "states of the relay began without their first message: a trip among them came earlier",
        ),
    ] {
        if count > 0 {
            events.write(kind, format!("{}{count} {what}", under_test.prefix()));
        }
    }
}

impl Candidate {
    fn text(&self) -> String {
        let Source { src, dst, appid } = self.source;
        let src = Publisher(src);
        format!("{} (APPID 0x{appid:04x}, {src} to {dst})", self.name.text())
    }
}

#[cfg(test)]
mod tests {
    use super::Hearing;
    use crate::trip::TripOptions;
    use crate::trip::listener::{Heard, Name, Tallies};
    use crate::trip::watch::tests::{heard, ms};
    use crate::trip::watch::{Relay, Span, Watch};
    use std::sync::{Arc, OnceLock};

    fn named(name: &[u8], message: Heard) -> Heard {
        Heard {
            name: Name::of(name),
            ..message
        }
    }

    /// Finds the relay's control block in a shot whose fault lasts from 200 to 300 ms.
    fn found(messages: &[Heard]) -> Result<String, String> {
        let (mut sender, receiver) = rtrb::RingBuffer::new(messages.len());
        for message in messages {
            sender.push(*message).expect("room");
        }
        let span = Span {
            begin: ms(100),
            fault: ms(200),
            deadline: ms(300),
            until: ms(400),
        };
        let unknown = TripOptions::default().config().expect("a scenario").relays;
        let mut hearing = Hearing::new(receiver, Arc::new(OnceLock::new()), unknown);
        hearing.listen(&mut [Watch::new(span, &Relay::default())]);
        let found = hearing.found(&Tallies::default());
        assert_eq!(hearing.is_learning(), found.is_err());
        found
    }

    #[test]
    fn refused_messages_are_the_reason_why_nothing_is_known() {
        let tallies = Tallies::of(1);
        tallies.refused.store(7, std::sync::atomic::Ordering::Relaxed);
        let (_, receiver) = rtrb::RingBuffer::new(1);
        let relays = TripOptions::default().config().expect("a scenario").relays;
        let mut hearing = Hearing::new(receiver, Arc::default(), relays);
        let why = hearing.found(&tallies).expect_err("nothing came");
        assert!(why.contains("7 GOOSE messages came, and none was used"), "{why}");
        let why = hearing.found(&Tallies::of(1)).expect_err("nothing came");
        assert!(why.contains("no GOOSE came"), "{why}");
        assert!(
            hearing.silence(&tallies).contains("no GOOSE message of"),
            "not under its name"
        );
    }

    const NO: [bool; 2] = [false, false];
    const TRIPPED: [bool; 2] = [true, true];

    #[test]
    fn the_one_that_trips_is_found_among_others() {
        let [quiet, trip] = [heard(120, [1, 1], NO), heard(224, [2, 0], TRIPPED)];
        let others = [
            // Its bit was set long before; its first message comes during the fault.
            named(b"long", heard(230, [7, 5], TRIPPED)),
            named(b"before", heard(150, [1, 0], TRIPPED)),
            named(b"after", heard(110, [1, 1], NO)),
            named(b"after", heard(320, [2, 0], TRIPPED)),
        ];
        let all: Vec<Heard> = [quiet, trip].into_iter().chain(others).collect();
        let text = found(&all).expect("one");
        assert!(text.contains("not counted: x (APPID 0x0001"), "{text}");
        // A relay whose first message is its trip is found, too.
        assert!(found(&[trip]).is_ok());
        let none = found(&others).expect_err("none of these");
        assert!(
            none.contains("long") && none.contains("before") && none.contains("after"),
            "{none}"
        );
        let second = named(b"second", heard(240, [3, 0], TRIPPED));
        let two = found(&[quiet, trip, second]).expect_err("two");
        assert!(two.contains("several") && two.contains("second"), "{two}");
    }
}
