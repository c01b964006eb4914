//! Acts of relays in a shot, and those that cannot be known.

mod common;

use common::{Fault, Injector, MS, RELAY, config, message, observed, publisher, said, shots, tripped_ns};
use observation::{Act, Config, Seen, WhyNot};
use wire::goose::FollowerDoubt;

/// A fault from 1.0 s to 1.1 s.
fn injector() -> Injector {
    Injector {
        faults: vec![Fault {
            from: 4_800,
            until: 5_280,
            times: 10.0,
            turned_deg: -60.0,
        }],
        ..Injector::default()
    }
}

fn begun(injector: &Injector) -> i64 {
    injector.taken_ns(injector.faults[0].from)
}

/// Findings about a relay that changes so, in ms after the fault of [`injector`] began.
fn seen_of(changes: &[(i64, bool)]) -> Vec<Seen> {
    let injector = injector();
    let changes: Vec<(i64, bool)> = changes
        .iter()
        .map(|(ms, value)| (begun(&injector) + ms * MS, *value))
        .collect();
    let relay = publisher(RELAY, &changes, injector.taken_ns(injector.samples));
    observed(&config("above:1500A"), &[&injector.frames(), &relay])
}

fn act(changes: &[(i64, bool)]) -> Act {
    let seen = seen_of(changes);
    let shots = shots(&seen);
    assert_eq!(shots.len(), 1, "{seen:?}");
    shots[0].act
}

#[test]
fn a_relay_is_in_time_late_early_or_does_not_trip() {
    assert!(matches!(act(&[(20, true), (400, false)]), Act::Tripped(_)));
    assert!(matches!(act(&[(99, true)]), Act::Tripped(_)));
    // A sine is above its threshold for the last time up to half a cycle before its end.
    assert!(matches!(act(&[(111, true)]), Act::Late(_)));
    assert!(matches!(act(&[(190, true)]), Act::Late(_)));
    assert_eq!(act(&[]), Act::Failed);
    assert!(matches!(act(&[(-50, true)]), Act::Early(_)));
    assert_eq!(act(&[(-500, true)]), Act::NotCounted(WhyNot::WasSet));
    // It was reset before the fault: then it can be seen to trip.
    assert!(matches!(
        act(&[(-500, true), (-200, false), (20, true)]),
        Act::Tripped(_)
    ));
}

#[test]
fn a_trip_that_no_fault_explains_is_a_false_one() {
    let seen = seen_of(&[(-500, true), (-300, false), (20, true), (300, false), (700, true)]);
    let false_trips: Vec<i64> = seen
        .iter()
        .filter_map(|seen| match seen {
            Seen::FalseTrip { at_ns, .. } => Some((at_ns - begun(&injector())) / MS),
            _ => None,
        })
        .collect();
    assert_eq!(false_trips, [-500, 700]);
    assert!(matches!(shots(&seen)[0].act, Act::Tripped(_)));
    let (kind, text) = seen[0].told();
    assert_eq!(
        (kind.word(), text.as_str()),
        ("note", "shot 1: false trip: no fault was on")
    );
}

#[test]
fn a_trip_in_the_last_moment_is_not_judged() {
    let seen = seen_of(&[(20, true), (300, false), (1_950, true)]);
    assert_eq!(shots(&seen).len(), 1);
    let said = said(&seen);
    assert!(said[0].starts_with("not-counted: a trip is not counted"), "{said:?}");
}

#[test]
fn a_silence_that_may_hide_a_trip_is_no_failure() {
    let injector = injector();
    let begun = begun(&injector);
    let end = injector.taken_ns(injector.samples);
    let quiet = publisher(RELAY, &[], end);
    let seen_of = |relay: &[(i64, Vec<u8>)]| {
        let seen = observed(&config("above:1500A"), &[&injector.frames(), relay]);
        (shots(&seen)[0].act, said(&seen))
    };
    // Its GOOSE is silent from before the fault until after the shot.
    let gone: Vec<_> = quiet
        .iter()
        .filter(|(at, _)| (at - begun) / MS < -700 || (at - begun) / MS > 1_000)
        .cloned()
        .collect();
    let (act, said) = seen_of(&gone);
    assert_eq!(act, Act::NotCounted(WhyNot::Unsure(FollowerDoubt::Silences)));
    assert!(
        said.iter()
            .any(|text| text.starts_with("stream-doubt: relay: 1 silences")),
        "{said:?}"
    );
    // A state never came.
    let mut lost: Vec<_> = quiet.iter().filter(|(at, _)| *at < begun).cloned().collect();
    lost.extend((0..10).map(|n| (begun + (60 + 150 * i64::from(n)) * MS, message(RELAY, [3, n], false))));
    let (act, said) = seen_of(&lost);
    assert_eq!(
        act,
        Act::NotCounted(WhyNot::Unsure(FollowerDoubt::LostStates)),
        "{said:?}"
    );
    // Nothing came before the fault at all.
    let unknown: Vec<_> = quiet.iter().filter(|(at, _)| *at > begun).cloned().collect();
    assert_eq!(seen_of(&unknown).0, Act::NotCounted(WhyNot::Unknown));
    // Nothing came ever.
    let (act, said) = seen_of(&[]);
    assert_eq!(act, Act::NotCounted(WhyNot::Unknown));
    assert!(
        said.iter()
            .any(|text| text.starts_with("stream-doubt: no message of the relay")),
        "{said:?}"
    );
}

#[test]
fn a_trip_whose_first_message_was_lost_is_told_as_later_than_it_was() {
    let injector = injector();
    let trip = begun(&injector) + 20 * MS;
    let relay = publisher(RELAY, &[(trip, true)], injector.taken_ns(injector.samples));
    let relay: Vec<_> = relay.into_iter().filter(|(at, _)| *at != trip).collect();
    let seen = observed(&config("above:1500A"), &[&injector.frames(), &relay]);
    let shot = shots(&seen)[0];
    assert!(shot.is_late_message);
    assert!((tripped_ns(&shot) - 24 * MS).abs() < 300_000, "{shot:?}");
    let (_, text) = Seen::Shot(shot).told();
    assert!(text.contains("its first message never came"), "{text}");
}

#[test]
fn a_fault_that_never_ends_is_one_shot() {
    let mut injector = injector();
    injector.faults[0].until = u64::MAX;
    let end = injector.taken_ns(injector.samples);
    let begun = begun(&injector);
    let relay = |at_ms: i64| publisher(RELAY, &[(begun + at_ms * MS, true)], end);
    for (rule, said_of_it) in [
        ("above:1500A", "note: the last fault had not ended at the end"),
        ("digital:8", "note: the last fault had not ended at the end"),
        (
            "change:30%",
            "stream-doubt: after the last shot the phasors never came back",
        ),
    ] {
        let of = |at_ms: i64| observed(&config(rule), &[&injector.frames(), &relay(at_ms)]);
        let seen = of(20);
        let said = said(&seen);
        assert!(
            shots(&seen).len() == 1 && matches!(shots(&seen)[0].act, Act::Tripped(_)),
            "{rule}: {seen:?}"
        );
        assert!(said.len() == 1 && said[0].starts_with(said_of_it), "{rule}: {said:?}");
        // The deadline is 500 ms: what comes then is too late, or of no shot any more.
        assert!(matches!(shots(&of(520))[0].act, Act::Late(_)), "{rule}");
        assert_eq!(shots(&of(700))[0].act, Act::Failed, "{rule}");
        assert!(
            of(700).iter().any(|seen| matches!(seen, Seen::AfterTheShot { .. })),
            "{rule}"
        );
    }
}

#[test]
fn an_observation_that_ends_in_a_fault_does_not_fail_the_relay() {
    let mut injector = injector();
    injector.samples = 4_800 + 240;
    let quiet = publisher(RELAY, &[], injector.taken_ns(injector.samples));
    let seen = observed(&config("above:1500A"), &[&injector.frames(), &quiet]);
    assert_eq!(shots(&seen)[0].act, Act::NotCounted(WhyNot::Cut));
}

#[test]
fn faults_that_follow_each_other_are_shots_of_their_own() {
    let mut injector = injector();
    injector.faults = (0..4)
        .map(|number| Fault {
            from: 4_800 + 1_200 * number,
            until: 5_280 + 1_200 * number,
            times: 8.0,
            turned_deg: -30.0,
        })
        .collect();
    // The second one is not tripped for; before the fourth the trip is not reset.
    let at = |fault: usize, ms: i64| injector.taken_ns(injector.faults[fault].from) + ms * MS;
    let changes = [(at(0, 20), true), (at(0, 150), false), (at(2, 30), true)];
    let relay = publisher(RELAY, &changes, injector.taken_ns(injector.samples));
    for rule in ["above:1500A", "change:30%", "digital:8"] {
        let seen = observed(&config(rule), &[&injector.frames(), &relay]);
        let acts: Vec<Act> = shots(&seen).iter().map(|shot| shot.act).collect();
        assert_eq!(acts.len(), 4, "{rule}: {seen:?}");
        assert!(
            matches!(acts[0], Act::Tripped(_)) && matches!(acts[2], Act::Tripped(_)),
            "{rule}: {acts:?}"
        );
        assert_eq!(
            [acts[1], acts[3]],
            [Act::Failed, Act::NotCounted(WhyNot::WasSet)],
            "{rule}"
        );
    }
}

#[test]
fn a_stream_that_begins_again_or_was_silent_is_in_doubt() {
    let injector = injector();
    let quiet = publisher(RELAY, &[], injector.taken_ns(injector.samples));
    // It is silent from 0.9 s to 1.2 s: in the whole fault.
    let frames = injector.frames();
    let is_there = |(at, _): &&(i64, Vec<u8>)| !(900..1_200).contains(&((at - common::START_NS) / MS));
    let silent: Vec<_> = frames.iter().filter(is_there).cloned().collect();
    let seen = observed(&config("above:1500A"), &[&silent, &quiet]);
    let all = said(&seen);
    assert!(shots(&seen).is_empty());
    assert!(all.iter().any(|text| text.starts_with("unproven: no fault")), "{all:?}");
    assert!(all.iter().any(|text| text.contains("silent for 300")), "{all:?}");
    // It begins again with another count.
    let mut again = injector.clone();
    again.first_count = 1_234;
    let mut restarted: Vec<_> = frames[..8_000].to_vec();
    restarted.extend_from_slice(&again.frames()[8_000..]);
    let seen = observed(&config("change:30%"), &[&restarted, &quiet]);
    let all = said(&seen);
    assert!(
        all.iter()
            .any(|text| text.starts_with("stream-doubt: samples: smpCnt jumped")),
        "{all:?}"
    );
}

#[test]
fn a_fault_that_was_on_at_the_begin_is_not_counted() {
    let mut injector = injector();
    injector.faults[0].from = 0;
    let quiet = publisher(RELAY, &[], injector.taken_ns(injector.samples));
    for rule in ["above:1500A", "digital:8"] {
        let seen = observed(&config(rule), &[&injector.frames(), &quiet]);
        let all = said(&seen);
        assert!(shots(&seen).is_empty(), "{rule}: {seen:?}");
        assert!(
            all[0].starts_with("not-counted: not counted: a fault was on already"),
            "{rule}: {all:?}"
        );
    }
}

#[test]
fn frames_of_another_source_and_samples_without_the_member_are_counted() {
    let injector = injector();
    let quiet = publisher(RELAY, &[], injector.taken_ns(injector.samples));
    let mut frames = injector.frames();
    for (_, octets) in frames.iter_mut().skip(6_000).step_by(1_000) {
        octets[11] ^= 1;
    }
    let all = said(&observed(&config("above:1500A"), &[&frames, &quiet]));
    assert!(
        all.iter()
            .any(|text| text.contains("9 frames under the svID had another source")),
        "{all:?}"
    );
    let all = said(&observed(&config("above:1500A@9"), &[&injector.frames(), &quiet]));
    assert!(
        all.iter().any(|text| text.contains("14400 samples lack the members")),
        "{all:?}"
    );
    // Trips of which no fault could be seen are no false ones, and each is not said on its own.
    let tripping = publisher(RELAY, &[(begun(&injector), true)], injector.taken_ns(injector.samples));
    let seen = observed(&config("above:1500A@9"), &[&injector.frames(), &tripping]);
    assert!(
        said(&seen)
            .iter()
            .all(|text| !text.contains("trip is not counted") && !text.contains("false trip")),
        "{seen:?}"
    );
    let other = Config {
        sv_id: "INJ02".into(),
        ..config("above:1500A")
    };
    let all = said(&observed(&other, &[&injector.frames(), &quiet]));
    assert!(
        all.iter()
            .any(|text| text.starts_with("stream-doubt: no sample of the stream came")),
        "{all:?}"
    );
}

#[test]
fn a_contact_starts_a_shot_and_its_first_message_is_needed() {
    let injector = injector();
    let (begun, end) = (begun(&injector), injector.taken_ns(injector.samples));
    let contact = publisher(common::CONTACT, &[(begun, true), (begun + 100 * MS, false)], end);
    let relay = publisher(RELAY, &[(begun + 20 * MS, true)], end);
    let rule = format!("goose:{}:0", common::CONTACT);
    let seen = observed(&config(&rule), &[&contact, &relay]);
    let shot = shots(&seen)[0];
    assert_eq!((tripped_ns(&shot), shot.start.uncertain_ns), (20 * MS, None));
    assert!(said(&seen).is_empty(), "{:?}", said(&seen));
    let late: Vec<_> = contact.iter().filter(|(at, _)| *at != begun).cloned().collect();
    let seen = observed(&config(&rule), &[&late, &relay]);
    assert!(
        matches!(shots(&seen)[0].act, Act::NotCounted(WhyNot::Start(Some(_)))),
        "{seen:?}"
    );
    let on = publisher(common::CONTACT, &[(common::START_NS - 40 * MS, true)], end);
    let on: Vec<_> = on.into_iter().filter(|(at, _)| *at > common::START_NS).collect();
    let all = said(&observed(&config(&rule), &[&on, &relay]));
    assert!(
        all[0].starts_with("not-counted: not counted: a fault was on already"),
        "{all:?}"
    );
}

#[test]
fn a_short_capture_goes_by_the_pace_of_its_frames_and_a_wrong_rate_is_told() {
    let mut injector = injector();
    injector.samples = 4_000;
    injector.faults[0] = Fault {
        from: 2_000,
        until: 2_400,
        ..injector.faults[0]
    };
    let begun = begun(&injector);
    let relay = publisher(RELAY, &[(begun + 20 * MS, true)], injector.taken_ns(injector.samples));
    let seen = observed(&config("above:1500A"), &[&injector.frames(), &relay]);
    assert!((tripped_ns(&shots(&seen)[0]) - 20 * MS).abs() < 208_333, "{seen:?}");
    injector.samples = 4_800 * 3;
    let wrong = Config {
        rate: Some(4_000),
        ..config("above:1500A")
    };
    let all = said(&observed(&wrong, &[&injector.frames(), &relay]));
    let is_told = |text: &String| text.starts_with("stream-doubt: samples: smpC");
    assert!(all.iter().any(is_told), "{all:?}");
}
