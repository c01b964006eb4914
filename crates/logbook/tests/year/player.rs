//! A relay in service in simulated time, and the watch over it.

use capture::Reader;
use logbook::{Capture, Logbook, Now, Settings, Tell, Told, Watch, last_end_ns};
use observation::Rule;
use sentinel::{AlarmKind, Config, Frame, Sentinel, WatchedRelay};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wire::ether::Mac;
use wire::goose::{Member, Message, Value};
use wire::time::{TimeQuality, UtcTime};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const SECOND: i64 = 1_000 * MS;
pub(crate) const HOUR: i64 = 3_600 * SECOND;
pub(crate) const DAY: i64 = 24 * HOUR;
/// 2026-01-01 UTC.
pub(crate) const NEW_YEAR: i64 = 1_767_225_600 * SECOND;
/// Time from one message at rest to the next.
pub(crate) const BEAT: i64 = 60 * SECOND;
pub(crate) const RELAY: &str = "IED1LD0/LLN0$GO$gcbTrip";
pub(crate) const RING: usize = 1 << 20;
pub(crate) const CAPTURES: u64 = 1 << 20;
pub(crate) const RUNS: u64 = 8 << 20;

/// All that was told.
#[derive(Debug, Default, Clone)]
pub(crate) struct Heard {
    pub(crate) told: BTreeMap<AlarmKind, u64>,
    pub(crate) suppressed: BTreeMap<AlarmKind, u64>,
    pub(crate) texts: Vec<String>,
    pub(crate) not_kept: u64,
}

/// Listens to alarms, and looks at their frames the moment they are told.
pub(crate) struct Ear(pub Arc<Mutex<Heard>>);

impl Tell for Ear {
    fn tell(&mut self, told: &Told<'_>) {
        let mut heard = self.0.lock().expect("alone");
        let kind = told.alarm.kind;
        *heard.told.entry(kind).or_default() += 1;
        *heard.suppressed.entry(kind).or_default() += told.alarm.suppressed;
        if heard.texts.len() < 10_000 {
            heard.texts.push(told.line());
        }
        match told.capture {
            Capture::Written { path, .. } => holds(path, told),
            Capture::NotKept(_) => heard.not_kept += 1,
        }
    }
}

/// The frame of the problem is in the capture of a problem that has one.
fn holds(path: &Path, told: &Told<'_>) {
    let has_frame = matches!(told.alarm.kind, AlarmKind::Late | AlarmKind::Missing | AlarmKind::False);
    if !has_frame {
        return;
    }
    let mut reader = Reader::new(File::open(path).expect("a capture that is there")).expect("a capture");
    let mut is_there = false;
    while let Some(frame) = reader.next_frame().expect("whole frames") {
        is_there |= frame.time_ns == Some(told.wall_ns);
    }
    assert!(is_there, "{}: no frame of {}", path.display(), told.line());
}

/// The relay, the watch, and the clock of both.
pub(crate) struct Player {
    pub(crate) now_ns: i64,
    pub(crate) folder: PathBuf,
    pub(crate) heard: Arc<Mutex<Heard>>,
    pub(crate) watch: Watch,
    book: Option<Logbook>,
    st_num: u32,
    sq_num: u32,
    changed_ns: i64,
    bits: [bool; 2],
}

impl Player {
    pub(crate) fn begin(folder: &Path, now_ns: i64) -> Self {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (watch, book) = open(folder, &heard, now_ns);
        Self {
            now_ns,
            folder: folder.to_owned(),
            heard,
            watch,
            book: Some(book),
            st_num: 1,
            sq_num: 0,
            changed_ns: now_ns,
            bits: [false; 2],
        }
    }

    /// The watch is killed, and starts again at once.
    pub(crate) fn restart(&mut self) {
        drop(self.book.take());
        let (watch, book) = open(&self.folder, &self.heard, self.now_ns);
        (self.watch, self.book) = (watch, Some(book));
    }

    /// The watch ends in order.
    pub(crate) fn end(&mut self) {
        let book = self.book.take().expect("it runs");
        book.end(&self.watch, wall(self.now_ns)).expect("ended");
    }

    /// The relay sends a message; `trip` and `start` are its members.
    fn send(&mut self) {
        let message = Message {
            src: Mac([2, 0, 0, 0, 0, 1]),
            gocb_ref: RELAY.as_bytes().to_vec(),
            dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
            time_allowed_to_live: 130_000,
            t: UtcTime::from_ns(NEW_YEAR + self.changed_ns, TimeQuality(0)),
            st_num: self.st_num,
            sq_num: self.sq_num,
            all_data: self.bits.map(Value::Boolean).to_vec(),
            ..Message::default()
        };
        let octets = message.encode().expect("a message");
        self.watch.lock().expect("alone").take(&Frame {
            data: &octets,
            vlan: None,
            at_ns: self.now_ns,
            wall_ns: NEW_YEAR + self.now_ns,
        });
    }

    pub(crate) fn beat(&mut self) {
        self.sq_num += 1;
        self.send();
    }

    /// The members change.
    pub(crate) fn change(&mut self, bits: [bool; 2]) {
        (self.st_num, self.sq_num, self.changed_ns, self.bits) = (self.st_num + 1, 0, self.now_ns, bits);
        self.send();
    }

    /// The relay begins again, as after a new start.
    pub(crate) fn boot(&mut self) {
        (self.st_num, self.sq_num, self.changed_ns, self.bits) = (1, 0, self.now_ns, [false; 2]);
        self.send();
    }

    /// Time passes without a message; the watch looks and writes.
    pub(crate) fn pass(&mut self, ns: i64) {
        self.now_ns += ns;
        self.look(0);
    }

    /// The watch looks; it lost so many frames since it did last.
    pub(crate) fn look(&mut self, dropped: u64) {
        {
            let mut watch = self.watch.lock().expect("alone");
            watch.checked(self.now_ns, dropped);
            watch.look(self.now_ns);
            assert!(watch.frames().bytes() <= RING);
        }
        let book = self.book.as_mut().expect("it runs");
        book.turn(&self.watch, wall(self.now_ns));
    }

    /// The relay is at rest until this instant.
    pub(crate) fn rest_until(&mut self, until_ns: i64) {
        while self.now_ns + BEAT <= until_ns {
            self.pass(BEAT);
            self.beat();
        }
        self.pass((until_ns - self.now_ns).max(0));
    }

    /// A start, and a trip after this time; without one, the start ends.
    pub(crate) fn shot(&mut self, trip_ns: Option<i64>) {
        self.change([false, true]);
        if let Some(ns) = trip_ns {
            self.pass(ns);
            self.change([true, true]);
        }
        self.pass(300 * MS);
        self.change([false, false]);
        (0..15).for_each(|_| self.pass(100 * MS));
        self.beat();
    }

    /// A trip without a start.
    pub(crate) fn false_trip(&mut self) {
        self.change([true, false]);
        self.pass(300 * MS);
        self.change([false, false]);
        (0..15).for_each(|_| self.pass(100 * MS));
        self.beat();
    }
}

fn wall(now_ns: i64) -> Now {
    Now {
        at_ns: now_ns,
        wall_ns: NEW_YEAR + now_ns,
    }
}

pub(crate) fn config() -> Config {
    Config {
        relays: vec![WatchedRelay {
            name: "main".into(),
            observed: observation::Config {
                rule: Rule::Contact {
                    gocb_ref: RELAY.into(),
                    member: Member::numbered(1),
                },
                sv_id: String::new(),
                rate: None,
                frequency_hz: 50.0,
                gocb_ref: RELAY.into(),
                trip: Member::numbered(0),
                start: None,
                deadline_ns: 1_000_000_000,
            },
            within_ns: Some(30_000_000),
            must_trip: true,
        }],
        streams: Vec::new(),
        blocks: Vec::new(),
        never_ns: 120_000_000_000,
        ring_octets: RING,
        ring_ns: 600_000_000_000,
        alarms_an_hour: 6,
        wakeup_ns: None,
        wakeup_within_ns: None,
    }
}

fn open(folder: &Path, heard: &Arc<Mutex<Heard>>, now_ns: i64) -> (Watch, Logbook) {
    let gap = last_end_ns(folder).expect("a folder");
    let watch = Mutex::new(Sentinel::new(&config(), now_ns));
    let settings = Settings {
        name: "year".into(),
        folder: folder.to_owned(),
        interface: "eth1".into(),
        before_ns: 120_000_000_000,
        after_ns: 60_000_000_000,
        captures_octets: CAPTURES,
        runs_octets: RUNS,
        file_budget: 1 << 20,
        window_ns: 3_600_000_000_000,
        documents: Vec::new(),
        arguments: Vec::new(),
        tool_version: "0".into(),
        metrics: None,
    };
    let ear: Box<dyn Tell> = Box::new(Ear(Arc::clone(heard)));
    let book = Logbook::open(settings, &watch, vec![ear], gap, wall(now_ns)).expect("a logbook");
    (watch, book)
}
