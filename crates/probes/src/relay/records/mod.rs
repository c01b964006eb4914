//! Disturbance records of a live relay: passed from its task, through a ring, to a thread that writes them.

mod folder;

pub use folder::{Folder, FolderError};

use super::RelayConfig;
use super::ring::touched;
use crate::error::ProbeError;
use crate::hot::Beside;
use crate::subscribe::ClockRelation;
use ::relay::Engine;
use ::relay::disturbance::{Keeper, Row, RowTap, Stamp};
use model::EventKind;
use rtrb::{Consumer, Producer};
use run::{Events, Stop};
use std::ops::Range;
use std::time::Duration;
use units::Realtime;

/// Interval at which the ring is emptied.
const LOOK: Duration = Duration::from_millis(10);

/// Time in ns for which the ring has room: the emptying thread may wait that long for a CPU.
const ROOM_NS: u64 = 1_000_000_000;

/// The task's end of the ring. Only its creation allocates memory.
pub(super) struct Tape {
    tap: RowTap,
    ring: Producer<Row>,
    newest: Option<(u64, Realtime)>,
}

/// Writer of the records, before its start.
pub(super) struct Writer {
    ring: Consumer<Row>,
    keeper: Keeper,
    folder: Folder,
    events: Events,
}

/// Makes both ends for a relay whose records go to `folder`.
pub(super) fn both_ends(config: &RelayConfig, folder: Folder, events: Events) -> (Tape, Writer) {
    let relay = &config.relay;
    let tap = RowTap::new(relay);
    let of_task = samples(relay.rate, relay.task_ns) + samples(relay.rate, relay.wait_ns) + 1;
    let tasks = usize::try_from(ROOM_NS / relay.task_ns.max(1)).unwrap_or(1) + 1;
    // After missed cycles, all their samples come at once.
    let room = tap.most(&(0..of_task)) * tasks + tap.most(&(0..Engine::KEPT));
    let blank = Row::Task {
        from: 0,
        to: 0,
        stamp: None,
    };
    let (producer, consumer) = touched(room, blank);
    let tape = Tape {
        tap,
        ring: producer,
        newest: None,
    };
    let uncertainty_ns = match config.clock {
        ClockRelation::Ptp { stated_ns, .. } => stated_ns,
        ClockRelation::Within { ns } => Some(ns),
        ClockRelation::SameHost | ClockRelation::Unknown => None,
    };
    let writer = Writer {
        ring: consumer,
        keeper: Keeper::new(relay, f64::from(relay.rate), uncertainty_ns),
        folder,
        events,
    };
    (tape, writer)
}

fn samples(rate: u32, ns: u64) -> u64 {
    (u64::from(rate) * ns).div_ceil(1_000_000_000)
}

impl Tape {
    /// Records that sample `newest` is the newest one since `at` (UTC).
    pub(super) fn came(&mut self, newest: u64, at: Realtime) {
        if self.newest.is_none_or(|(before, _)| newest > before) {
            self.newest = Some((newest, at));
        }
    }

    /// Passes on the values and decisions of a task for these samples. If the ring has no room, the whole task is left out; the
    /// record then counts its samples as not recorded.
    pub(super) fn tell(&mut self, engine: &Engine, numbers: Range<u64>) {
        if numbers.is_empty() {
            return;
        }
        let stamp = self.newest.map(|(newest, came)| Stamp {
            newest,
            came,
            top: engine.top(),
        });
        let rows = self.tap.samples(engine, numbers.clone());
        let rows = rows.chain(self.tap.decided(engine, numbers.clone(), stamp));
        if let Ok(room) = self.ring.write_chunk_uninit(self.tap.most(&numbers)) {
            room.fill_from_iter(rows);
        }
    }
}

impl Writer {
    /// Starts a separate thread that writes the records.
    pub(super) fn begin(mut self) -> Result<Beside, ProbeError> {
        let work = move |over: &Stop| {
            while !over.requested() {
                self.drain();
                std::thread::park_timeout(LOOK);
            }
            self.drain();
            if let Some(record) = self.keeper.finish() {
                self.events.write(EventKind::Relay, self.folder.write(&record));
            }
        };
        Beside::start("relay-records", work).map_err(|error| super::no_thread(&error))
    }

    fn drain(&mut self) {
        while let Ok(row) = self.ring.pop() {
            if let Some(record) = self.keeper.take(row) {
                self.events.write(EventKind::Relay, self.folder.write(&record));
            }
        }
    }
}
