//! Sampled values over a wire with faults.

use crate::common::{Recorded, Run, wait_until};
use crate::truth::{Log, Stream};
use crate::{assert_sound, can_run, injected, wait_until_empty};
use lab::bed::End;
use lab::fault::{Fault, FaultBed, Faults, LaneCounts, Rule, Way, Which};
use probes::publish::{self, PublishConfig};
use probes::reflect::Receive;
use probes::subscribe::{self, ClockRelation, SubscribeConfig};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::model::{Counters, EventKind};
use sys::thread::Policy;
use wire::ether::EthernetView;
use wire::sv::Frame;

const RATE: u32 = 4_000;
const SECOND: u64 = 1_000_000_000;

/// Where the savPdu tag of an untagged frame is: behind the header, APPID, length and two reserved fields.
const SAV_PDU_AT: usize = 22;

fn publisher() -> PublishConfig {
    PublishConfig {
        rate: RATE,
        duration_ns: Some(SECOND * 6 / 5),
        ..PublishConfig::default()
    }
}

/// A rule for sampled values, but the first ones of a stream: a fault there is one of no stream yet.
fn rule(which: Which, fault: Fault) -> Rule {
    rule_for(which, fault, |_| true)
}

/// The same, for samples that `wanted` holds for.
fn rule_for(which: Which, fault: Fault, wanted: impl Fn(u16) -> bool + Send + 'static) -> Rule {
    let under_way = AtomicBool::new(false);
    Rule::new(which, fault).of_type(wire::ether::SV).when(move |frame| {
        let Ok(ethernet) = EthernetView::parse(frame) else {
            return false;
        };
        let Ok(frame) = Frame::parse(&ethernet) else {
            return false;
        };
        let smp_cnt = frame.asdus().next().map_or(0, |asdu| asdu.smp_cnt());
        under_way.fetch_or(smp_cnt > 100, Ordering::Relaxed);
        under_way.load(Ordering::Relaxed) && wanted(smp_cnt)
    })
}

struct Outcome {
    recorded: Recorded,
    there: LaneCounts,
    log: Log,
}

impl Outcome {
    fn age(&self, sv_id: &str) -> Counters {
        self.recorded.counters(&format!("age/{sv_id}"))
    }

    fn events(&self) -> Vec<String> {
        let events = self.recorded.file.events().expect("events").into_iter();
        events
            .filter(|event| matches!(event.kind, EventKind::Stream | EventKind::Link | EventKind::SocketDrop))
            .map(|event| event.text)
            .collect()
    }
}

/// Publishes over a wire with these faults, as `work` says, and subscribes at the far end.
fn subscribe(rules: Vec<Rule>, seed: u64, work: impl FnOnce(&FaultBed)) -> Outcome {
    let log = Log::default();
    let faults: Vec<Fault> = rules.iter().map(Rule::fault).collect();
    let wire = Faults {
        to_device: rules,
        seed,
        observer: Some(log.observer()),
        ..Faults::default()
    };
    let bed = FaultBed::build(wire).expect("the bed is built");
    let config = SubscribeConfig {
        rate: Some(RATE),
        max_streams: 8,
        clock: ClockRelation::SameHost,
        receive: Receive::Block,
        duration_ns: None,
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    };
    let mut run = Run::start();
    let port = bed.port(End::Device, &subscribe::port_options()).expect("a port");
    let subscription = subscribe::start(&config, port, &mut run.recorder, &run.stop).expect("started");
    work(&bed);
    wait_until_empty(&bed, &faults);
    let mut accepted = 0;
    // All that comes is there when nothing more comes for a while.
    wait_until("the subscriber has them all", || {
        std::thread::sleep(Duration::from_millis(250));
        let before = std::mem::replace(&mut accepted, subscription.frames.load(Ordering::Relaxed));
        accepted == before
    });
    run.stop.request();
    subscription.running.join().expect("the subscriber ends well");
    let there = bed.wire().counts(Way::ToDevice);
    let injected = |fault| injected(&there, &faults, fault);
    assert_sound(&there, injected(Fault::Drop), injected(Fault::Duplicate));
    Outcome {
        recorded: run.finish(),
        there,
        log,
    }
}

fn publish(bed: &FaultBed, config: &PublishConfig) {
    let mut run = Run::start();
    let port = bed.port(End::TestSet, &publish::port_options()).expect("a port");
    let publisher = publish::start(config, port, &mut run.recorder, &run.stop).expect("started");
    publisher.join().expect("the publisher ends well");
    run.finish();
}

/// Every counter is what came out of the wire.
fn assert_counted(outcome: &Outcome, sv_id: &str) -> Stream {
    let truth = outcome.log.stream(sv_id, RATE);
    let age = outcome.age(sv_id);
    let expected = Counters {
        expected: truth.span,
        received: truth.received,
        lost: truth.span - truth.received,
        duplicate: truth.duplicate,
        reordered: truth.reordered,
        clipped: age.clipped,
        ..Counters::default()
    };
    assert_eq!(
        age,
        expected,
        "{sv_id}: {truth:?} {:?} {:#?}",
        outcome.there,
        outcome.events()
    );
    let (frames, malformed) = outcome.log.sv_frames();
    assert_eq!(outcome.recorded.counters("delivery/subscribe").received, frames);
    let said = outcome.events().into_iter().find(|text| text.contains("malformed"));
    let said = said.map_or(0, |text| {
        text.split(' ').next().expect("a number").parse().expect("a number")
    });
    assert_eq!(malformed, said);
    assert!(
        !outcome
            .events()
            .iter()
            .any(|text| text.contains("restarted") || text.contains("dropped")),
        "{:#?}",
        outcome.events()
    );
    truth
}

/// Samples that the publisher overran and never sent, between the first and the last.
fn never_sent(outcome: &Outcome, truth: &Stream, sv_id: &str) -> u64 {
    truth.span - outcome.log.published(sv_id, RATE)
}

#[test]
fn each_fault_alone_is_counted_as_what_it_is() {
    if !can_run("each_fault_alone_is_counted_as_what_it_is") {
        return;
    }
    let cases = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        // Three samples late on average, and a hundred: taken back from the lost, and not.
        Fault::Delay(Duration::from_micros(750)),
        Fault::Delay(Duration::from_millis(25)),
        Fault::Corrupt {
            offset: SAV_PDU_AT,
            bits: 1,
        },
        // EtherType: no sampled values any more.
        Fault::Corrupt { offset: 13, bits: 1 },
    ];
    for fault in cases {
        let outcome = subscribe(vec![rule(Which::Every(40), fault)], 1, |bed| publish(bed, &publisher()));
        // The last frame, if it was held back, never came out.
        let done = outcome.there.rules[0].injected - outcome.there.rules[0].held;
        assert!(done >= 40, "{:?}", outcome.there);
        let truth = assert_counted(&outcome, "MU01");
        let unsent = never_sent(&outcome, &truth, "MU01");
        let age = outcome.age("MU01");
        let (lost, duplicate) = (age.lost - unsent, age.duplicate);
        match fault {
            Fault::Drop | Fault::Corrupt { .. } => {
                assert_eq!((lost, duplicate, age.reordered), (done, 0, 0), "{fault:?}");
            }
            Fault::Duplicate => assert_eq!((lost, duplicate, age.reordered), (0, done, 0)),
            Fault::HoldBack(_) => {
                // Where the publisher left out samples, the two that change places are further apart.
                assert_eq!((lost, duplicate), (truth.too_late, 0));
                assert_eq!(age.reordered + truth.too_late, done);
            }
            Fault::Delay(_) => {
                assert_eq!((lost, duplicate), (truth.too_late, 0));
                assert_eq!(age.reordered + truth.too_late, outcome.there.rules[0].overtaken);
                let said = outcome.events().iter().any(|text| text.contains("counts late"));
                assert_eq!(said, truth.too_late > 0);
            }
        }
    }
}

#[test]
fn all_faults_together_in_two_streams() {
    if !can_run("all_faults_together_in_two_streams") {
        return;
    }
    let faults = [
        Fault::Drop,
        Fault::HoldBack(1),
        Fault::Delay(Duration::from_millis(1)),
        Fault::Delay(Duration::from_millis(40)),
        Fault::Corrupt {
            offset: SAV_PDU_AT,
            bits: 1,
        },
        Fault::Duplicate,
    ];
    for seed in 1..=3 {
        let rules: Vec<Rule> = faults.map(|fault| rule(Which::Chance(30_000), fault)).into();
        let two = PublishConfig {
            streams: 2,
            ..publisher()
        };
        let outcome = subscribe(rules, seed, |bed| publish(bed, &two));
        let counts: Vec<u64> = outcome.there.rules.iter().map(|rule| rule.injected).collect();
        assert!(counts.iter().all(|done| *done > 20), "{counts:?}");
        for sv_id in ["MU01", "MU02"] {
            assert_counted(&outcome, sv_id);
        }
    }
}

#[test]
fn frames_of_two_samples() {
    if !can_run("frames_of_two_samples") {
        return;
    }
    let faults = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        Fault::Delay(Duration::from_millis(30)),
    ];
    let rules: Vec<Rule> = faults.map(|fault| rule(Which::Chance(30_000), fault)).into();
    let two = PublishConfig {
        asdus: 2,
        ..publisher()
    };
    let outcome = subscribe(rules, 9, |bed| publish(bed, &two));
    assert_counted(&outcome, "MU01");
}

#[test]
fn faults_around_the_wrap_of_the_counter() {
    if !can_run("faults_around_the_wrap_of_the_counter") {
        return;
    }
    let around = [3_999, 0, 3_998, 1, 2];
    let around_the_wrap = |wanted, fault| rule_for(Which::Every(1), fault, move |smp_cnt| smp_cnt == wanted);
    let faults = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::Delay(Duration::from_micros(400)),
        Fault::Delay(Duration::from_millis(1)),
        Fault::Delay(Duration::from_millis(30)),
    ];
    let publisher = PublishConfig {
        duration_ns: Some(SECOND * 11 / 10),
        ..publisher()
    };
    // Each fault at each place around the wrap once.
    for turn in 0..faults.len() {
        let rules: Vec<Rule> = (0..faults.len())
            .map(|place| around_the_wrap(around[place], faults[(place + turn) % faults.len()]))
            .collect();
        let outcome = subscribe(rules, 1, |bed| publish(bed, &publisher));
        assert_counted(&outcome, "MU01");
        assert!(
            outcome.there.rules.iter().all(|rule| rule.injected <= 1),
            "{:?}",
            outcome.there
        );
    }
}

#[test]
fn an_end_that_goes_down_loses_what_was_sent_meanwhile_however_long() {
    if !can_run("an_end_that_goes_down_loses_what_was_sent_meanwhile_however_long") {
        return;
    }
    for down_ms in [200, 700, 1_000, 1_600] {
        let publisher = PublishConfig {
            duration_ns: Some(SECOND * 5 / 2),
            ..publisher()
        };
        let outcome = subscribe(Vec::new(), 1, |bed| {
            std::thread::scope(|scope| {
                let publishing = scope.spawn(|| publish(bed, &publisher));
                wait_until("frames", || bed.wire().counts(Way::ToDevice).left > 1_000);
                bed.set_link(End::Device, false).expect("down");
                std::thread::sleep(Duration::from_millis(down_ms));
                bed.set_link(End::Device, true).expect("up");
                publishing.join().expect("no panic");
            });
        });
        let (truth, age) = (outcome.log.stream("MU01", RATE), outcome.age("MU01"));
        assert_eq!(
            age.received + age.lost,
            truth.span,
            "down for {down_ms} ms: {age:?} {truth:?}"
        );
        // Just as an end goes down or comes up, frames may leave the wire that the socket does not get.
        assert!(
            (truth.received.saturating_sub(100)..=truth.received).contains(&age.received),
            "{age:?} {truth:?}"
        );
        assert!(age.lost >= u64::from(RATE) * down_ms * 9 / 10_000, "{age:?}");
        assert_eq!((age.duplicate, age.reordered), (0, 0));
        let events = outcome.events();
        for text in ["dut0 is down: nothing comes", "frames come again on dut0"] {
            assert!(events.iter().any(|event| event == text), "{events:?}");
        }
        assert!(
            events.iter().any(|event| event.starts_with("MU01: silent for ")),
            "{events:?}"
        );
        assert!(!events.iter().any(|event| event.contains("restarted")), "{events:?}");
    }
}

#[test]
fn a_publisher_that_is_restarted_owes_the_samples_of_the_time_between() {
    if !can_run("a_publisher_that_is_restarted_owes_the_samples_of_the_time_between") {
        return;
    }
    for pause_ms in [0, 600] {
        let short = PublishConfig {
            duration_ns: Some(SECOND * 3 / 10),
            ..publisher()
        };
        let outcome = subscribe(vec![rule(Which::Every(50), Fault::Drop)], 1, |bed| {
            publish(bed, &short);
            std::thread::sleep(Duration::from_millis(pause_ms));
            publish(bed, &short);
        });
        let truth = assert_counted(&outcome, "MU01");
        assert!(
            truth.span >= u64::from(RATE) && outcome.age("MU01").lost > u64::from(RATE) / 2,
            "{truth:?}"
        );
    }
}
