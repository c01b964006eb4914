//! A relay, its contact and a stream, heard by a sentinel in simulated time.

use observation::Rule;
use sentinel::{AlarmKind, Config, Found, Frame, Sentinel, WatchedRelay, WatchedStream};
use wire::ether::Mac;
use wire::goose::{Member, Message, Value};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const RELAY: &str = "LD0/LLN0$GO$gcb";
pub(crate) const RATE: u32 = 1_000;

pub(crate) fn config(rule: Rule, must_trip: bool) -> Config {
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
pub(crate) fn goose(gocb_ref: &str, [st_num, sq_num]: [u32; 2], bit: bool, time_allowed_to_live: u32) -> Vec<u8> {
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
pub(crate) struct Bay {
    pub(crate) watch: Sentinel,
    pub(crate) now_ns: i64,
    pub(crate) sample: u32,
    pub(crate) source: u8,
    pub(crate) synch: u8,
    pub(crate) current: i32,
    pub(crate) state: [u32; 2],
    pub(crate) trip: bool,
    pub(crate) beat_ns: i64,
}

impl Bay {
    pub(crate) fn new(must_trip: bool) -> Self {
        let rule = "above:5000".parse().expect("a rule");
        let mut bay = Self::of(&config(rule, must_trip));
        bay.goose();
        bay.pass(1_500);
        bay
    }

    /// A relay whose trips belong to this rule, and nothing was heard yet.
    pub(crate) fn watching(rule: Rule) -> Self {
        Self::of(&config(rule, true))
    }

    pub(crate) fn of(config: &Config) -> Self {
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

    pub(crate) fn take(&mut self, octets: &[u8]) {
        self.watch.take(&Frame {
            data: octets,
            vlan: None,
            at_ns: self.now_ns,
            wall_ns: self.now_ns,
        });
    }

    pub(crate) fn goose(&mut self) {
        let octets = goose(RELAY, self.state, self.trip, 300);
        self.state[1] += 1;
        self.beat_ns = self.now_ns;
        self.take(&octets);
    }

    pub(crate) fn trip(&mut self, trip: bool) {
        self.trip = trip;
        self.state = [self.state[0] + 1, 0];
        self.goose();
    }

    pub(crate) fn sv(&mut self) {
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

    pub(crate) fn step(&mut self, is_heard: bool) {
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

    pub(crate) fn look(&mut self, dropped: u64) {
        self.watch.checked(self.now_ns, dropped);
        self.watch.look(self.now_ns);
    }

    pub(crate) fn pass(&mut self, ms: u32) {
        (0..ms).for_each(|_| self.step(true));
    }

    /// Samples do not come for so long.
    pub(crate) fn silent(&mut self, ms: u32) {
        (0..ms).for_each(|_| self.step(false));
    }

    /// A fault for 300 ms, and a trip after so many, if any.
    pub(crate) fn fault(&mut self, trip_after: Option<u32>) {
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

    pub(crate) fn told(&mut self) -> Vec<(AlarmKind, String, String)> {
        let mut told = Vec::new();
        while let Some(found) = self.watch.next_found() {
            if let Found::Alarm(alarm) = found {
                told.push((alarm.kind, alarm.subject, alarm.text));
            }
        }
        told
    }

    /// Events with these words: their spans and texts.
    pub(crate) fn events(&mut self, words: &str) -> Vec<([i64; 2], String)> {
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

    pub(crate) fn kinds(&mut self) -> Vec<(AlarmKind, String)> {
        self.told()
            .into_iter()
            .map(|(kind, subject, _)| (kind, subject))
            .collect()
    }
}

pub(crate) fn of_relay(kind: AlarmKind) -> (AlarmKind, String) {
    (kind, "main".to_owned())
}
