//! Shots with a peer: each attack during a shot without and with a trip, and an honest shot after it.

use super::{Course, Hostile, PeerConfig};
use crate::trip::program::Ask;
use waveform::scenario::{Expect, Scenario, Selection};
use waveform::type_test::Group;

/// Kind of a shot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The peer's member has the value with which the relay must not trip.
    NoTrip,
    /// It has the value with which the relay must trip.
    Trip,
    /// It permits a trip, and there is no fault.
    Alone,
}

/// A shot of each round.
#[derive(Debug, Clone, Copy)]
struct Turn {
    hostile: Option<Hostile>,
    /// The attack of the shots before; the shot itself is honest.
    after: Option<Hostile>,
    wanted: Wanted,
}

/// The shots of a round, in their order. The honest shots come first: a replayed message needs a state before.
fn turns(peer: &PeerConfig) -> impl Iterator<Item = Turn> {
    let turn = |hostile, after, wanted| Turn { hostile, after, wanted };
    let alone = peer.permits().then_some(Wanted::Alone);
    let honest = [Wanted::Trip, Wanted::NoTrip].into_iter().chain(alone);
    let honest = honest.map(move |wanted| turn(None, None, wanted));
    let cases = peer.hostile.iter().flat_map(move |case| {
        [
            turn(Some(*case), None, Wanted::NoTrip),
            turn(Some(*case), None, Wanted::Trip),
            turn(None, Some(*case), Wanted::Trip),
        ]
    });
    honest.chain(cases)
}

impl Turn {
    fn label(self) -> String {
        match (self.hostile, self.after, self.wanted) {
            (None, None, Wanted::Trip) => "goose/honest-trip".to_owned(),
            (None, None, Wanted::NoTrip) => "goose/honest".to_owned(),
            (None, None, Wanted::Alone) => "goose/permission-alone".to_owned(),
            (_, Some(case), _) => format!("goose/{case}-after"),
            (Some(case), _, Wanted::Trip) => format!("goose/{case}-trip"),
            (Some(case), ..) => format!("goose/{case}"),
        }
    }

    fn is_judged(self) -> bool {
        self.hostile.is_none_or(Hostile::is_judged)
    }

    fn expect(self, fault: &Scenario, peer: &PeerConfig) -> Expect {
        match (self.is_judged(), self.wanted) {
            (false, _) => Expect::Either,
            (true, Wanted::NoTrip | Wanted::Alone) => Expect::NoTrip,
            (true, Wanted::Trip) if peer.role.needs_fault() => fault.expect,
            (true, Wanted::Trip) => Expect::Trip {
                within_ns: None,
                soonest_ns: None,
            },
        }
    }

    fn what(self, peer: &PeerConfig) -> String {
        let value = self.value(peer);
        let state = match self.has_fault(peer) {
            true => format!("the fault, while the peer's member is {value}"),
            false => format!(
                "load, while the peer's member {} {value}",
                if value && !peer.permits() { "becomes" } else { "is" }
            ),
        };
        match (self.hostile, self.after) {
            (Some(case), _) => format!("{state}; {}", case.what()),
            (None, Some(case)) => format!("{state}; after the attack {case}"),
            (None, None) => state,
        }
    }

    /// True if the shot has the fault of a scenario.
    fn has_fault(self, peer: &PeerConfig) -> bool {
        peer.role.needs_fault() && self.wanted != Wanted::Alone
    }

    fn value(self, peer: &PeerConfig) -> bool {
        match self.wanted {
            Wanted::Trip | Wanted::Alone => peer.role.trips_with(),
            Wanted::NoTrip => !peer.role.trips_with(),
        }
    }

    fn course(self, peer: &PeerConfig) -> Course {
        let during = self.value(peer);
        Course {
            // An order to trip comes at the instant at which a fault would come; a block or a permission is there before.
            before: during && peer.role.needs_fault(),
            during,
            hostile: self.hostile,
        }
    }

    fn group(self, fault: &Scenario, peer: &PeerConfig) -> Group {
        let expect = self.expect(fault, peer);
        let within_ns = match expect {
            Expect::Trip { within_ns, .. } => within_ns,
            Expect::NoTrip | Expect::Either => None,
        };
        Group {
            label: self.label(),
            what: self.what(peer),
            trips: matches!(expect, Expect::Trip { .. }),
            stays: expect == Expect::NoTrip,
            within_ns,
            selection: Selection::default(),
        }
    }

    fn ask(self, group: usize, fault: &Scenario, peer: &PeerConfig) -> Ask {
        let wave = fault.wave.clone();
        let scenario = Scenario {
            expect: self.expect(fault, peer),
            selection: Selection::default(),
            wave: if self.has_fault(peer) { wave } else { wave.at_load() },
            ..fault.clone()
        };
        Ask {
            name: self.label(),
            course: Some(self.course(peer)),
            ..Ask::plain(group, &scenario)
        }
    }
}

impl PeerConfig {
    /// Groups of shots that are counted together.
    pub(in crate::trip) fn groups(&self, fault: &Scenario) -> Vec<Group> {
        turns(self).map(|turn| turn.group(fault, self)).collect()
    }

    /// The shots of a round.
    pub(in crate::trip) fn round(&self, fault: &Scenario) -> Vec<Ask> {
        let numbered = turns(self).enumerate();
        numbered.map(|(group, turn)| turn.ask(group, fault, self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Hostile, PeerConfig};
    use crate::trip::peer::{Course, PeerRole};
    use crate::trip::{TripConfig, TripOptions};
    use streamset::goose::parse;
    use waveform::scenario::Expect;

    fn peer(role: PeerRole, hostile: &[Hostile]) -> PeerConfig {
        let text = "[[goose]]\ngocb_ref = \"A\"\ndat_set = \"B\"\ndst = \"01:0c:cd:01:00:01\"\nappid = 1\n\
                    member = [{ name = \"order\", type = \"boolean\" }]\n";
        PeerConfig {
            block: parse(text, "test").expect("a sound file").remove(0),
            member: 0,
            role,
            hostile: hostile.to_vec(),
        }
    }

    /// Label, requirement and course of each shot of a round: `+` must trip, `-` must not, `?` may.
    fn shots(role: PeerRole, hostile: &[Hostile]) -> Vec<(String, char, Course)> {
        let config: TripConfig = TripOptions::default().config().expect("the usual scenario");
        let asks = peer(role, hostile).round(&config.faulted());
        let shot = asks.into_iter().map(|ask| {
            let wanted = match ask.scenario.expect {
                Expect::Trip { .. } => '+',
                Expect::NoTrip => '-',
                Expect::Either => '?',
            };
            (ask.name, wanted, ask.course.expect("a peer"))
        });
        shot.collect()
    }

    fn course(before: bool, during: bool, hostile: Option<Hostile>) -> Course {
        Course {
            before,
            during,
            hostile,
        }
    }

    #[test]
    fn a_block_comes_before_the_fault_and_an_order_to_trip_in_its_place() {
        let honest = |role| {
            shots(role, &[])
                .into_iter()
                .map(|(_, wanted, course)| (wanted, course))
                .collect::<Vec<_>>()
        };
        let [off, on] = [course(false, false, None), course(true, true, None)];
        assert_eq!(honest(PeerRole::Block), [('+', off), ('-', on)]);
        assert_eq!(
            honest(PeerRole::Permission),
            [('+', on), ('-', off), ('-', on)],
            "also a permission without a fault"
        );
        assert_eq!(
            honest(PeerRole::Transfer),
            [('+', course(false, true, None)), ('-', off)]
        );
    }

    #[test]
    fn each_attack_has_three_shots_and_what_a_subscriber_may_take_is_judged_after_it_alone() {
        let of = |case: Hostile| {
            let all = shots(PeerRole::Transfer, &[case]);
            all.into_iter()
                .skip(2)
                .map(|(label, wanted, _)| format!("{wanted}{label}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of(Hostile::Replayed),
            ["-goose/replayed", "+goose/replayed-trip", "+goose/replayed-after"]
        );
        assert_eq!(
            of(Hostile::Jump),
            ["?goose/jump", "?goose/jump-trip", "+goose/jump-after"]
        );
    }
}
