//! Faults that are recognised, and their starts: within one sample of the truth.

mod common;

use common::{Fault, Injector, MS, config, observed, publisher, said, shots, tripped_ns};
use observation::{Act, Seen, StartDoubt, WhyNot};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

const RULES: [&str; 4] = ["above:1500A", "change:30%", "digital:8.3", "digital:8.q12"];

fn fault(from: u64, until: u64) -> Fault {
    Fault {
        from,
        until,
        times: 10.0,
        turned_deg: -60.0,
    }
}

/// Frames of a relay that trips so long after each fault of the injector began, and resets 300 ms later.
fn relay(injector: &Injector, after_ns: i64) -> Vec<(i64, Vec<u8>)> {
    let changes = injector.faults.iter().flat_map(|fault| {
        let begun = injector.taken_ns(fault.from);
        [(begun + after_ns, true), (begun + after_ns + 300 * MS, false)]
    });
    let changes: Vec<(i64, bool)> = changes.collect();
    publisher(common::RELAY, &changes, injector.taken_ns(injector.samples))
}

#[test]
fn every_rule_times_the_same_trips_within_one_sample() {
    let injector = Injector {
        faults: vec![fault(5_001, 5_500), fault(8_137, 8_700)],
        ..Injector::default()
    };
    let relay = relay(&injector, 17 * MS);
    for rule in RULES {
        let seen = observed(&config(rule), &[&injector.frames(), &relay]);
        let shots = shots(&seen);
        assert_eq!(shots.len(), 2, "{rule}: {seen:?}");
        for (shot, fault) in shots.iter().zip(&injector.faults) {
            let off = tripped_ns(shot) - 17 * MS;
            assert!(off.abs() < 208_333, "{rule}: {off} ns off");
            assert_eq!(
                u64::from(shot.start.smp_cnt.expect("a count")),
                fault.from % 4_800,
                "{rule}"
            );
            let uncertain = shot.start.uncertain_ns.expect("known");
            assert!((208_333..250_000).contains(&uncertain), "{rule}: {uncertain}");
        }
        assert!(said(&seen).is_empty(), "{rule}: {:?}", said(&seen));
    }
}

fn rates() -> impl Strategy<Value = (u64, f64, u64)> {
    prop_oneof![
        Just((4_000, 50.0, 1)),
        Just((4_800, 50.0, 1)),
        Just((4_800, 60.0, 2)),
        Just((4_800, 50.0, 2)),
        Just((14_400, 50.0, 6)),
        Just((4_000, 60.0, 1)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Wherever on the wave a fault begins, whatever noise and frequency, the start is the first faulted sample, or the one after it where
    /// noise hides it; and the uncertainty says so.
    #[test]
    fn a_start_is_within_one_sample_of_the_truth(
        (rate, frequency_hz, asdus) in rates(),
        phase_deg in 0.0..360.0_f64,
        off_hz in -0.1..0.1_f64,
        noise in 0..2_000_i64,
        rule in prop_oneof![Just("above:1500A"), Just("change:40%")],
        place in 0..1_000_u64,
        drift_ppm in -50.0..50.0_f64,
        first_count in any::<u16>(),
    ) {
        let from = rate + place;
        let injector = Injector {
            rate,
            asdus,
            samples: rate * 2,
            frequency_hz: frequency_hz + off_hz,
            phase_deg,
            noise,
            drift_ppm,
            first_count: u64::from(first_count) % rate,
            faults: vec![fault(from, from + rate / 10)],
            ..Injector::default()
        };
        let relay = relay(&injector, 23 * MS);
        let config = observation::Config { frequency_hz, ..config(rule) };
        let seen = observed(&config, &[&injector.frames(), &relay]);
        let shots = shots(&seen);
        prop_assert_eq!(shots.len(), 1, "{:?}", said(&seen));
        let shot = shots[0];
        prop_assert!(said(&seen).is_empty(), "{:?}", said(&seen));
        let interval_ns = 1_000_000_000 / rate as i64;
        let off = tripped_ns(&shot) - 23 * MS;
        let uncertain = shot.start.uncertain_ns.expect("known") as i64;
        // The stamp is later than the sample by what comes after it in its frame, and by the network.
        prop_assert!(off <= 0 && off > -(asdus as i64 + 1) * interval_ns - 20_000, "{} ns off", off);
        prop_assert!(-off <= uncertain, "{} ns off, and {} were said", off, uncertain);
        let counted = i64::from(shot.start.smp_cnt.expect("a count")) - (first_count as i64 + from as i64) % rate as i64;
        let counted = counted.rem_euclid(rate as i64);
        prop_assert!(counted <= 1, "{} samples late", counted);
    }
}

#[test]
fn samples_lost_before_the_first_faulted_one_make_a_shot_that_does_not_count() {
    for (lost, missing) in [(vec![4_999, 5_000], 2), (vec![5_000, 5_001], 0)] {
        let injector = Injector {
            faults: vec![fault(5_001, 5_500)],
            lost,
            ..Injector::default()
        };
        let relay = relay(&injector, 17 * MS);
        for rule in RULES {
            let seen = observed(&config(rule), &[&injector.frames(), &relay]);
            let shots = shots(&seen);
            assert_eq!(shots.len(), 1, "{rule}: {seen:?}");
            let doubt = shots[0].start.doubt;
            // Where the first faulted sample itself is lost, it is one of the missing ones.
            assert_eq!(doubt, Some(StartDoubt::Missing(2)), "{rule} {missing}");
            let Act::NotCounted(WhyNot::Start(Some(_))) = shots[0].act else {
                panic!("{rule}: {:?}", shots[0])
            };
            let uncertain = shots[0].start.uncertain_ns.expect("known");
            assert!((625_000..700_000).contains(&uncertain), "{rule}: {uncertain}");
            assert_eq!(Seen::Shot(shots[0]).counts(), [None; 2]);
        }
    }
}

#[test]
fn a_frame_lost_elsewhere_costs_no_shot() {
    let injector = Injector {
        faults: vec![fault(5_001, 5_500)],
        lost: vec![4_800, 4_990, 5_010, 5_200],
        ..Injector::default()
    };
    let relay = relay(&injector, 17 * MS);
    for rule in RULES {
        let seen = observed(&config(rule), &[&injector.frames(), &relay]);
        let shots = shots(&seen);
        assert_eq!(shots.len(), 1, "{rule}: {seen:?}");
        assert!((tripped_ns(&shots[0]) - 17 * MS).abs() < 208_333, "{rule}");
        assert_eq!(said(&seen), ["stream: 4 samples never came"], "{rule}");
    }
}

#[test]
fn a_fault_that_began_while_too_many_frames_were_lost_is_not_counted() {
    let mut injector = Injector {
        faults: vec![fault(5_001, 5_500)],
        ..Injector::default()
    };
    let relay = relay(&injector, 17 * MS);
    for lost in [vec![4_900, 4_960, 5_010, 5_100, 5_190], (4_950..5_100).collect()] {
        injector.lost = lost;
        for rule in ["above:1500A", "change:30%"] {
            let seen = observed(&config(rule), &[&injector.frames(), &relay]);
            let said = said(&seen);
            let was_on = said
                .iter()
                .any(|text| text.starts_with("not-counted: not counted: a fault was on already"));
            // A threshold needs no cycle of samples: it is recognised where single frames are lost.
            let is_shot = rule == "above:1500A" && injector.lost.len() < 10;
            assert_eq!(
                (shots(&seen).len(), was_on),
                (usize::from(is_shot), !is_shot),
                "{rule}: {seen:?}"
            );
        }
    }
}

#[test]
fn a_late_frame_makes_its_start_as_uncertain_as_it_is_late() {
    let injector = Injector {
        faults: vec![fault(5_001, 5_500)],
        ..Injector::default()
    };
    let relay = relay(&injector, 17 * MS);
    let mut frames = injector.frames();
    frames[5_001].0 += 3 * MS;
    frames.sort_by_key(|(at, _)| *at);
    let seen = observed(&config("above:1500A"), &[&frames, &relay]);
    let shots = shots(&seen);
    // It comes behind samples that are faulted, too: the first of those is late by as much as nothing, but one before it is missing.
    let uncertain = shots[0].start.uncertain_ns.expect("known");
    let off = 17 * MS - shots[0].trip_ns().expect("a trip");
    assert!(off <= uncertain as i64, "{off} ns off, and {uncertain} were said");
}

#[test]
fn load_noise_and_a_changing_load_are_no_fault() {
    let injector = Injector {
        noise: 20_000,
        frequency_hz: 49.9,
        faults: vec![Fault {
            from: 6_000,
            until: 9_000,
            times: 1.2,
            turned_deg: 3.0,
        }],
        ..Injector::default()
    };
    let quiet = publisher(common::RELAY, &[], injector.taken_ns(injector.samples));
    for rule in ["above:1500A", "change:30%"] {
        let seen = observed(&config(rule), &[&injector.frames(), &quiet]);
        let said = said(&seen);
        assert!(shots(&seen).is_empty(), "{rule}: {seen:?}");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("unproven: no fault was seen"), "{said:?}");
    }
}

#[test]
fn an_angle_alone_is_a_change_too() {
    let injector = Injector {
        faults: vec![Fault {
            from: 5_001,
            until: 6_500,
            times: 1.0,
            turned_deg: 40.0,
        }],
        ..Injector::default()
    };
    let relay = relay(&injector, 60 * MS);
    let seen = observed(&config("change:30%"), &[&injector.frames(), &relay]);
    let shots = shots(&seen);
    assert_eq!(shots.len(), 1, "{seen:?}");
    assert!((tripped_ns(&shots[0]) - 60 * MS).abs() < 208_333);
    assert!(said(&seen).is_empty(), "{:?}", said(&seen));
}

#[test]
fn a_crossing_without_a_step_is_no_start() {
    // The load grows by a sixtieth of itself every second cycle: at some time it is above the threshold, and nothing began there.
    let steps = (0..60).map(|step| Fault {
        from: 5_000 + 192 * step,
        until: 5_000 + 192 * (step + 1),
        times: 1.0 + step as f64 / 60.0,
        turned_deg: 0.0,
    });
    let injector = Injector {
        noise: 6_000,
        samples: 4_800 * 4,
        faults: steps.collect(),
        ..Injector::default()
    };
    let quiet = publisher(common::RELAY, &[], injector.taken_ns(injector.samples));
    let seen = observed(&config("above:600A"), &[&injector.frames(), &quiet]);
    let shots = shots(&seen);
    assert!(!shots.is_empty(), "{seen:?}");
    assert!(matches!(shots[0].act, Act::NotCounted(_)), "{:?}", shots[0]);
}
