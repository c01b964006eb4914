//! The judgement of relays and streams: what is told, and what is not known.

use model::{Counter, EventKind};
use observation::Rule;
use sentinel::{AlarmKind, Config, Found, Frame, Sentinel, WatchedRelay, WatchedStream};
use wire::ether::Mac;
use wire::goose::{Member, Message, Value};

const MS: i64 = 1_000_000;
const RELAY: &str = "LD0/LLN0$GO$gcb";
const RATE: u32 = 1_000;

fn config(rule: Rule, must_trip: bool) -> Config {
    Config {
        relays: vec![WatchedRelay {
            name: "main".into(),
            observed: observation::Config {
                rule,
                sv_id: "MU01".into(),
                rate: Some(RATE),
                frequency_hz: 50.0,
                gocb_ref: RELAY.into(),
                trip: Member::numbered(0),
                start: None,
                deadline_ns: 500_000_000,
            },
            within_ns: Some(30_000_000),
            must_trip,
        }],
        streams: vec![WatchedStream {
            sv_id: "MU01".into(),
            rate: Some(RATE),
            conf_rev: Some(1),
            within_ns: None,
        }],
        blocks: Vec::new(),
        never_ns: 5_000_000_000,
        ring_octets: 1 << 20,
        ring_ns: 5_000_000_000,
        alarms_an_hour: 100,
        wakeup_ns: None,
        wakeup_within_ns: None,
    }
}

/// A message of a control block, with one member; it lives for so many ms.
fn goose(gocb_ref: &str, [st_num, sq_num]: [u32; 2], bit: bool, time_allowed_to_live: u32) -> Vec<u8> {
    let message = Message {
        src: Mac([2, 0, 0, 0, 0, 9]),
        gocb_ref: gocb_ref.as_bytes().to_vec(),
        dat_set: b"d".to_vec(),
        time_allowed_to_live,
        st_num,
        sq_num,
        all_data: vec![Value::Boolean(bit)],
        ..Message::default()
    };
    message.encode().expect("a message")
}

/// A merging unit and a relay, and the watch over both.
struct Bay {
    watch: Sentinel,
    now_ns: i64,
    sample: u32,
    source: u8,
    synch: u8,
    current: i32,
    state: [u32; 2],
    trip: bool,
    beat_ns: i64,
}

impl Bay {
    fn new(must_trip: bool) -> Self {
        let rule = "above:5000".parse().expect("a rule");
        let mut bay = Self::of(&config(rule, must_trip));
        bay.goose();
        bay.pass(1_500);
        bay
    }

    /// A relay whose trips belong to this rule, and nothing was heard yet.
    fn watching(rule: Rule) -> Self {
        Self::of(&config(rule, true))
    }

    fn of(config: &Config) -> Self {
        Self {
            watch: Sentinel::new(config, 0),
            now_ns: 0,
            sample: 0,
            source: 1,
            synch: 2,
            current: 1_000,
            state: [1, 0],
            trip: false,
            beat_ns: 0,
        }
    }

    fn take(&mut self, octets: &[u8]) {
        self.watch.take(&Frame {
            data: octets,
            vlan: None,
            at_ns: self.now_ns,
            wall_ns: self.now_ns,
        });
    }

    fn goose(&mut self) {
        let octets = goose(RELAY, self.state, self.trip, 300);
        self.state[1] += 1;
        self.beat_ns = self.now_ns;
        self.take(&octets);
    }

    fn trip(&mut self, trip: bool) {
        self.trip = trip;
        self.state = [self.state[0] + 1, 0];
        self.goose();
    }

    fn sv(&mut self) {
        let angle = f64::from(self.sample) * std::f64::consts::TAU * 50.0 / f64::from(RATE);
        let value = (f64::from(self.current) * angle.sin()) as i32;
        let mut seq_data = Vec::new();
        for member in 0..8 {
            seq_data.extend_from_slice(&(if member < 3 { value } else { 0 }).to_be_bytes());
            seq_data.extend_from_slice(&[0; 4]);
        }
        let message = wire::sv::Message {
            dst: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]),
            src: Mac([2, 0, 0, 0, 0, self.source]),
            tags: Vec::new(),
            appid: 0x4000,
            simulate: false,
            asdus: vec![wire::sv::OwnedAsdu {
                sv_id: b"MU01".to_vec(),
                smp_cnt: (self.sample % RATE) as u16,
                conf_rev: 1,
                smp_synch: Some(self.synch),
                seq_data,
                ..wire::sv::OwnedAsdu::default()
            }],
        };
        let octets = message.encode().expect("a frame");
        self.take(&octets);
    }

    fn step(&mut self, is_heard: bool) {
        self.now_ns += MS;
        self.sample += 1;
        if is_heard {
            self.sv();
        }
        if self.now_ns - self.beat_ns >= 100 * MS {
            self.goose();
        }
        if self.now_ns % (20 * MS) == 0 {
            self.look(0);
        }
    }

    fn look(&mut self, dropped: u64) {
        self.watch.checked(self.now_ns, dropped);
        self.watch.look(self.now_ns);
    }

    fn pass(&mut self, ms: u32) {
        (0..ms).for_each(|_| self.step(true));
    }

    /// Samples do not come for so long.
    fn silent(&mut self, ms: u32) {
        (0..ms).for_each(|_| self.step(false));
    }

    /// A fault for 300 ms, and a trip after so many, if any.
    fn fault(&mut self, trip_after: Option<u32>) {
        self.current = 20_000;
        let first = trip_after.unwrap_or(300);
        self.pass(first);
        if trip_after.is_some() {
            self.trip(true);
            self.pass(300 - first);
        }
        self.current = 1_000;
        self.pass(200);
        if trip_after.is_some() {
            self.trip(false);
        }
        self.pass(800);
    }

    fn told(&mut self) -> Vec<(AlarmKind, String, String)> {
        let mut told = Vec::new();
        while let Some(found) = self.watch.next_found() {
            if let Found::Alarm(alarm) = found {
                told.push((alarm.kind, alarm.subject, alarm.text));
            }
        }
        told
    }

    /// Events with these words: their spans and texts.
    fn events(&mut self, words: &str) -> Vec<([i64; 2], String)> {
        let mut events = Vec::new();
        while let Some(found) = self.watch.next_found() {
            if let Found::Event {
                at_ns,
                since_ns: Some(since_ns),
                text,
                ..
            } = found
                && text.contains(words)
            {
                events.push(([since_ns, at_ns], text));
            }
        }
        events
    }

    fn kinds(&mut self) -> Vec<(AlarmKind, String)> {
        self.told()
            .into_iter()
            .map(|(kind, subject, _)| (kind, subject))
            .collect()
    }
}

fn of_relay(kind: AlarmKind) -> (AlarmKind, String) {
    (kind, "main".to_owned())
}

/// An unknown shot or a gap is an event between samples: it puts a limit in doubt only if a window covers its time.
#[test]
fn windows_cover_the_time_without_a_sample() {
    let mut bay = Bay::new(true);
    let trips = |bay: &mut Bay, now_ns: i64, is_last: bool| {
        let (windows, _) = bay.watch.close_windows(0, now_ns, is_last);
        let found = windows.into_iter().find(|window| window.series.0 == 0);
        found.map(|window| (window.start_ns, window.end_ns, window.counters.received))
    };
    bay.fault(Some(20));
    let begin = bay.now_ns;
    let first = trips(&mut bay, begin, false).expect("a trip");
    assert_eq!((first.0, first.2), (0, 1));
    let idle = bay.now_ns + 1_000 * MS;
    assert_eq!(trips(&mut bay, idle, false), None);
    bay.fault(Some(20));
    let now = bay.now_ns;
    let second = trips(&mut bay, now, false).expect("a trip");
    assert_eq!((second.0, second.2), (first.1, 1));
    assert_eq!(
        trips(&mut bay, now + 1_000 * MS, true).map(|one| (one.0, one.2)),
        Some((second.1, 0))
    );
}

#[test]
fn a_trip_in_time_is_no_alarm_a_late_one_and_a_missing_one_are() {
    let mut bay = Bay::new(true);
    bay.fault(Some(20));
    assert_eq!(bay.told(), Vec::new());
    bay.fault(Some(60));
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Late)]);
    bay.fault(None);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Missing)]);
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let trips = windows.iter().find(|window| window.series.0 == 0).expect("trips");
    assert_eq!((trips.counters.received, trips.counters.lost), (2, 1));
    assert!(
        (59 * MS..62 * MS).contains(&trips.max_ns.expect("a trip")),
        "{:?}",
        trips.max_ns
    );
    let (_, time) = bay.watch.watched().next().expect("a relay");
    assert!(
        time.unwatched_ns < 200_000_000 && time.watched_ns > 5_000_000_000,
        "{time:?}"
    );
}

#[test]
fn a_start_without_a_trip_is_no_alarm_where_none_is_needed() {
    let mut bay = Bay::new(false);
    bay.fault(None);
    assert_eq!(bay.told(), Vec::new());
}

#[test]
fn a_trip_without_a_fault_is_false_only_if_all_was_heard() {
    let mut bay = Bay::new(true);
    bay.trip(true);
    bay.pass(300);
    bay.trip(false);
    bay.pass(1_500);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::False)]);
    // The same after samples that never came: a fault may have been in them.
    bay.silent(50);
    bay.pass(20);
    bay.trip(true);
    bay.pass(300);
    bay.trip(false);
    bay.pass(1_500);
    let told = bay.kinds();
    assert!(
        told.contains(&of_relay(AlarmKind::Unknown)) && told.contains(&(AlarmKind::Lost, "MU01".into())),
        "{told:?}"
    );
    assert!(!told.contains(&of_relay(AlarmKind::False)), "{told:?}");
}

#[test]
fn a_trip_whose_contact_is_dead_is_unknown() {
    let rule = Rule::Contact {
        gocb_ref: "LD0/LLN0$GO$contact".into(),
        member: Member::numbered(0),
    };
    for contact_ms in [0, 3_000] {
        let mut bay = Bay::watching(rule.clone());
        for ms in 0..6_000 {
            if ms < contact_ms && ms % 100 == 0 {
                let octets = goose("LD0/LLN0$GO$contact", [1, ms / 100], false, 300);
                bay.take(&octets);
            }
            bay.step(false);
        }
        bay.told();
        bay.trip(true);
        bay.silent(1_000);
        assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)], "{contact_ms}");
    }
}

#[test]
fn frames_that_the_watch_lost_make_a_failure_unknown() {
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(300);
    bay.look(3);
    bay.current = 1_000;
    bay.pass(1_000);
    let told = bay.kinds();
    assert_eq!(
        told,
        [(AlarmKind::Own, "watch".to_owned()), of_relay(AlarmKind::Unknown)]
    );
}

#[test]
fn the_watch_blames_nobody_for_frames_that_it_lost_itself() {
    let rule = "above:5000".parse().expect("a rule");
    let mut config = config(rule, true);
    config.streams[0].within_ns = Some(5_000_000);
    let mut bay = Bay::of(&config);
    bay.goose();
    bay.pass(1_500);
    let (lost, late) = (
        (AlarmKind::Lost, RELAY.to_owned()),
        (AlarmKind::Late, "MU01".to_owned()),
    );
    for dropped in [3, 0] {
        bay.silent(50);
        bay.step(true);
        bay.state = [bay.state[0] + 2, 0];
        bay.goose();
        // Only now it is known whether the watch lost them.
        bay.look(dropped);
        bay.pass(1_000);
        let told = bay.kinds();
        assert_eq!(
            told.contains(&(AlarmKind::Own, "watch".to_owned())),
            dropped > 0,
            "{told:?}"
        );
        assert_eq!(told.contains(&lost), dropped == 0, "{told:?}");
        assert_eq!(told.contains(&late), dropped == 0, "{told:?}");
    }
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let all = |counter| windows.iter().map(|window| window.counters.get(counter)).sum::<u64>();
    assert_eq!(all(Counter::Late), 1, "{windows:?}");
}

#[test]
fn a_trip_around_a_sleep_of_the_machine_is_unknown() {
    let mut bay = Bay::new(true);
    bay.watch
        .jumped([bay.now_ns - 50 * MS, bay.now_ns], "the wall clock jumped");
    bay.trip(true);
    bay.pass(300);
    assert_eq!(
        bay.kinds(),
        [(AlarmKind::Own, "watch".to_owned()), of_relay(AlarmKind::Unknown)]
    );
}

#[test]
fn the_end_of_the_wake_ups_is_told_and_leaves_a_doubt() {
    let rule = "above:5000".parse().expect("a rule");
    let mut config = config(rule, true);
    config.wakeup_ns = Some(10_000_000);
    let mut watch = Sentinel::new(&config, 0);
    watch.woken_no_more(5);
    let wakeup = watch.series().position(|spec| spec.name == "wakeup/spare");
    let Some(Found::Event { series, kind, .. }) = watch.next_found() else {
        panic!("an event")
    };
    assert!(wakeup.is_some() && series == wakeup && kind == EventKind::Incomplete);
    let Some(Found::Alarm(alarm)) = watch.next_found() else {
        panic!("an alarm")
    };
    assert_eq!(alarm.kind, AlarmKind::Own);
}

#[test]
fn a_dead_relay_is_silent_and_its_missing_trip_unknown() {
    let mut bay = Bay::new(true);
    bay.beat_ns = i64::MAX / 2;
    bay.pass(1_000);
    assert_eq!(bay.kinds(), [(AlarmKind::Silent, RELAY.to_owned())]);
    bay.current = 20_000;
    bay.pass(300);
    bay.current = 1_000;
    bay.pass(1_000);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)]);
    let (_, time) = bay.watch.watched().next().expect("a relay");
    assert!(time.unwatched_ns > 1_500_000_000, "{time:?}");
}

#[test]
fn a_message_that_allows_a_year_of_silence_is_silent_after_a_day() {
    let rule = Rule::Contact {
        gocb_ref: RELAY.into(),
        member: Member::numbered(0),
    };
    let mut bay = Bay::watching(rule);
    bay.take(&goose(RELAY, [1, 0], false, u32::MAX));
    let mut hours = 0;
    while !bay.kinds().contains(&(AlarmKind::Silent, RELAY.to_owned())) {
        hours += 1;
        assert!(hours < 30);
        bay.now_ns += 3_600_000 * MS;
        bay.look(0);
    }
    assert_eq!(hours, 25);
}

#[test]
fn silence_is_told_once_and_another_source_takes_its_place() {
    let mut bay = Bay::new(true);
    bay.silent(1_500);
    assert_eq!(bay.kinds(), [(AlarmKind::Silent, "MU01".to_owned())]);
    bay.source = 7;
    bay.pass(500);
    let told = bay.told();
    assert!(
        told.iter()
            .any(|(kind, _, text)| *kind == AlarmKind::Changed && text.contains("another one since now")),
        "{told:?}"
    );
    // The relay is watched again with the new source.
    bay.pass(2_000);
    bay.told();
    bay.fault(Some(60));
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Late)]);
}

#[test]
fn two_sources_at_once_are_told_and_the_first_one_stays() {
    let mut bay = Bay::new(true);
    bay.source = 7;
    bay.sv();
    bay.source = 1;
    bay.pass(100);
    let told = bay.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].0 == AlarmKind::Changed && told[0].2.contains("two senders"),
        "{told:?}"
    );
    bay.fault(Some(20));
    assert_eq!(bay.told(), Vec::new());
}

#[test]
fn what_never_comes_is_told_after_its_time() {
    let rule = "above:5000".parse().expect("a rule");
    let mut watch = Sentinel::new(&config(rule, true), 0);
    let mut told = Vec::new();
    for second in 1..8 {
        watch.checked(second * 1_000 * MS, 0);
        watch.look(second * 1_000 * MS);
        while let Some(found) = watch.next_found() {
            if let Found::Alarm(alarm) = found {
                told.push((second, alarm.kind, alarm.subject));
            }
        }
    }
    let silent = |subject: &str| (6, AlarmKind::Silent, subject.to_owned());
    assert_eq!(told, [silent("MU01"), silent(RELAY)]);
    let (_, time) = watch.watched().next().expect("a relay");
    assert_eq!((time.watched_ns, time.unwatched_ns), (0, 6_000_000_000));
}

#[test]
fn a_publisher_that_alternates_fills_no_run_file_and_its_doubt_stays() {
    let mut bay = Bay::new(true);
    let begun_ns = bay.now_ns;
    for number in 0..2_000 {
        bay.synch = if number % 2 == 0 { 1 } else { 2 };
        bay.pass(1);
    }
    let told = bay.events("smpSynch from");
    assert_eq!(told.len(), 60, "{told:?}");
    bay.watch.settle(bay.now_ns);
    let told = bay.events("smpSynch from");
    let [(span, text)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*span, [begun_ns + 61 * MS, bay.now_ns]);
    assert!(text.contains("1939 like it before were counted only"), "{text}");
}

#[test]
fn a_shot_under_way_at_the_end_is_unknown_and_all_else_ends_in_silence() {
    let mut bay = Bay::new(true);
    bay.watch.end();
    assert_eq!(bay.told(), Vec::new());
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(100);
    bay.watch.end();
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)]);
    // A trip that is in time stands, though the fault goes on.
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(20);
    bay.trip(true);
    bay.pass(100);
    bay.watch.end();
    assert_eq!(bay.told(), Vec::new());
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let trips = windows.iter().find(|window| window.series.0 == 0).expect("trips");
    assert_eq!(trips.counters.received, 1);
}
