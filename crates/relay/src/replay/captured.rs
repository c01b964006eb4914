//! Plays the sampled values of a capture, at the times of its frames.

use super::runner::Runner;
use super::{Records, Replayed, received};
use crate::config::{Config, Stream};
use crate::disturbance::Stamp;
use crate::engine::Engine;
use crate::error::ReplayError;
use crate::intake::{self, Taken};
use crate::pace::Pace;
use capture::Reader;
use std::collections::BTreeMap;
use units::Realtime;
use wire::ether::{self, EthernetView};
use wire::sv::Frame;

/// A step of the capture's clock from this length on, in ns, is no silence of the streams: no task runs in it.
const STEP_NS: i64 = 10_000_000_000;

/// Maximum number of other streams of the capture to name.
const MOST_OTHERS: usize = 32;

/// Plays the streams of a capture that the relay subscribes to: every frame at its time, and a task at each of its due instants.
///
/// # Errors
/// The capture cannot be read, or has none of the streams.
pub fn capture<'a>(config: &'a Config, reader: &mut Reader<'_>, records: Records<'a>) -> Result<Replayed, ReplayError> {
    let mut player = Player::new(config, records)?;
    while let Some(frame) = reader.next_frame()? {
        let at_ns = frame.time_ns.unwrap_or(player.now_ns);
        player.take(frame.data, at_ns);
    }
    player.end()
}

/// Counts of the frames of one stream.
#[derive(Debug, Clone, Copy, Default)]
struct Frames {
    taken: u64,
    other_members: u64,
    other_conf_rev: u64,
}

struct Player<'a> {
    config: &'a Config,
    runner: Runner<'a>,
    pace: Pace,
    /// Times of the frame before and of the next task, in ns of the capture's clock.
    now_ns: i64,
    task_ns: Option<i64>,
    frames: Vec<Frames>,
    others: BTreeMap<String, u64>,
    malformed: u64,
    steps: u64,
}

impl<'a> Player<'a> {
    fn new(config: &'a Config, records: Records<'a>) -> Result<Self, ReplayError> {
        let engine = Engine::new(config)?;
        Ok(Self {
            pace: Pace::new(engine.rate()),
            runner: Runner::new(config, engine, records),
            now_ns: 0,
            task_ns: None,
            frames: vec![Frames::default(); config.streams.len()],
            others: BTreeMap::new(),
            malformed: 0,
            steps: 0,
            config,
        })
    }

    fn take(&mut self, octets: &[u8], at_ns: i64) {
        let Ok(ethernet) = EthernetView::parse(octets) else {
            return;
        };
        if ethernet.ether_type() != ether::SV {
            return;
        }
        let Ok(frame) = Frame::parse(&ethernet) else {
            self.malformed += 1;
            return;
        };
        let Some(stream) = intake::stream_of(self.config, &frame) else {
            self.other(&frame);
            return;
        };
        self.go_on(at_ns);
        self.push(stream, &frame);
        if let Some(newest) = self.runner.engine.newest() {
            self.pace.came(newest, at_ns);
        }
    }

    /// Runs the tasks that are due before `at_ns`.
    fn go_on(&mut self, at_ns: i64) {
        let step = i64::try_from(self.config.task_ns).unwrap_or(i64::MAX);
        let mut task_ns = *self.task_ns.get_or_insert(at_ns.saturating_add(step));
        if at_ns.saturating_sub(self.now_ns) > STEP_NS && self.now_ns != 0 {
            self.steps += 1;
            task_ns = at_ns;
        }
        while task_ns <= at_ns {
            self.task(self.runner.engine.ready(self.pace.due(task_ns)));
            task_ns = task_ns.saturating_add(step);
        }
        self.task_ns = Some(task_ns);
        self.now_ns = at_ns;
    }

    fn task(&mut self, up_to: u64) {
        self.runner.align(up_to);
        let stamp = self.pace.newest().map(|(newest, came_ns)| Stamp {
            newest,
            came: Realtime::from_ns(came_ns),
            top: self.runner.engine.top(),
        });
        self.runner.decide(stamp);
    }

    fn push(&mut self, stream: usize, frame: &Frame<'_>) {
        let frames = &mut self.frames[stream];
        let engine = &mut self.runner.engine;
        let taken = intake::samples(self.config, stream, frame, |sample| {
            engine.push(stream, sample);
            frames.taken += 1;
        });
        frames.other_conf_rev += u64::from(taken == Taken::OtherConfRev(stream));
        frames.other_members += u64::from(taken == Taken::OtherMembers(stream));
    }

    fn other(&mut self, frame: &Frame<'_>) {
        let name = described(frame);
        if self.others.len() < MOST_OTHERS || self.others.contains_key(&name) {
            *self.others.entry(name).or_default() += 1;
        }
    }

    fn end(mut self) -> Result<Replayed, ReplayError> {
        let Some(newest) = self.runner.engine.newest() else {
            return Err(ReplayError::Nothing(self.nothing()));
        };
        self.task(newest + 1);
        self.runner.end(newest);
        let notes = self.notes();
        let inputs = self
            .config
            .streams
            .iter()
            .map(|stream| format!("{}: {}", stream.name, subscribed(stream)));
        Ok(Replayed {
            rate: self.runner.engine.rate(),
            samples: newest + 1,
            trigger_ns: None,
            inputs: inputs.collect(),
            notes,
            streams: received(self.config, &self.runner.engine),
            story: self.runner.story,
        })
    }

    fn nothing(&self) -> String {
        let wanted: Vec<String> = self.config.streams.iter().map(subscribed).collect();
        let refused: u64 = self
            .frames
            .iter()
            .map(|frames| frames.other_conf_rev + frames.other_members)
            .sum();
        let found: Vec<&str> = self.others.keys().map(String::as_str).collect();
        match (refused, found.as_slice()) {
            (1.., _) => format!("no sample could be used: {}", self.notes().join("; ")),
            (_, []) => "the capture has no sampled values".to_owned(),
            _ => format!(
                "the capture has none of the relay's streams ({}); it has {}: correct sv of the streams",
                wanted.join("; "),
                found.join("; ")
            ),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (stream, frames) in self.config.streams.iter().zip(&self.frames) {
            let members = stream.order.members();
            let conf_rev = stream.spec.conf_rev;
            for (count, what) in [
                (
                    frames.other_conf_rev,
                    format!("have another confRev than {conf_rev} and are not used"),
                ),
                (
                    frames.other_members,
                    format!("do not have {members} members and are not used"),
                ),
            ] {
                if count > 0 {
                    notes.push(format!("{}: {count} samples {what}", stream.name));
                }
            }
            if frames.taken == 0 {
                notes.push(format!("{}: the capture has no sample of it", stream.name));
            }
        }
        for (other, count) in &self.others {
            notes.push(format!("not for this relay: {other}, {count} frames"));
        }
        if self.malformed > 0 {
            notes.push(format!("{} frames of sampled values are malformed", self.malformed));
        }
        if self.steps > 0 {
            notes.push(format!("the capture's clock stepped {} times", self.steps));
        }
        notes
    }
}

fn subscribed(stream: &Stream) -> String {
    let spec = &stream.spec;
    format!(
        "svID {}, APPID {:#06x}, to {}",
        spec.sv_id, spec.appid, spec.destination
    )
}

fn described(frame: &Frame<'_>) -> String {
    let sv_id = frame
        .asdus()
        .next()
        .map(|asdu| String::from_utf8_lossy(asdu.sv_id()).into_owned());
    let (appid, dst) = (frame.appid(), frame.ethernet().dst());
    format!("svID {}, APPID {appid:#06x}, to {dst}", sv_id.unwrap_or_default())
}
