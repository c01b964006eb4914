//! The thread that sends the load of a case while the pings are sent.

use super::PingPongConfig;
use super::case::Case;
use crate::error::ProbeError;
use crate::port::Port;
use crate::publish::{Batch, Pace, StreamConfig, Timetable};
use crate::second::next_second;
use model::Counter;
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::wait::{Wait, sleep_until};
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::{Message, Template};

/// Slot of the only series: the lateness of the load.
pub(super) const LATENESS: u16 = 0;

/// Number of control blocks of the GOOSE load.
const BLOCKS: u8 = 16;

/// First APPID of the GOOSE load.
const FIRST_APPID: u16 = 0x3f10;

/// Longest sleep of the thread before it checks for another case.
const LOOK_NS: i64 = 10_000_000;

/// Largest lateness in ns at which frames are still sent, one after the other, as a network may deliver them, so that the load is
/// complete. If a frame is later, the frames due meanwhile are left out.
const LATEST_NS: i64 = 10_000_000;

/// State that the two threads share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Number of the running load, from 1; 0 for none.
    pub(super) on: AtomicU64,
    /// Number of frames that were due.
    pub(super) due: AtomicU64,
    /// Number of frames that were sent.
    pub(super) sent: AtomicU64,
    /// Stop request for both threads.
    pub(super) ended: Stop,
}

/// Frames of a load.
enum Frames {
    Goose {
        templates: Vec<Template>,
        next: usize,
        sq_num: u32,
    },
    Sv(Box<Batch>),
}

struct LoadBeside {
    case: Case,
    timetable: Timetable,
    frames: Frames,
}

/// State of the thread.
pub(super) struct Beside {
    port: Port,
    loads: Vec<LoadBeside>,
    shared: Arc<Shared>,
}

impl Beside {
    /// Makes the loads of these cases; `None` if none of them has one.
    pub(super) fn new(config: &PingPongConfig, port: Port, shared: Arc<Shared>) -> Result<Option<Self>, ProbeError> {
        let source = Mac(port.mac());
        let mut loads = Vec::new();
        for case in &config.cases {
            let (pace, frames) = match case {
                Case::None | Case::Subscribed => continue,
                Case::Goose => (
                    Pace {
                        rate: config.goose_rate,
                        asdus: 1,
                    },
                    goose(source)?,
                ),
                Case::Sv => sv(&config.streams, source)?,
            };
            loads.push(LoadBeside {
                case: *case,
                timetable: Timetable::new(pace),
                frames,
            });
        }
        Ok((!loads.is_empty()).then_some(Self { port, loads, shared }))
    }

    /// Value of [`Shared::on`] for a case.
    pub(super) fn number(config: &PingPongConfig, case: Case) -> u64 {
        let with_load = |case: &&Case| matches!(case, Case::Goose | Case::Sv);
        let found = config.cases.iter().filter(with_load).position(|one| *one == case);
        found.map_or(0, |place| place as u64 + 1)
    }

    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let ended = self.send_loads(feed);
        self.shared.ended.request();
        ended
    }

    fn send_loads(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let mut on = 0;
        while !self.shared.ended.requested() {
            let wanted = self.shared.on.load(Ordering::Acquire);
            let place = usize::try_from(wanted).unwrap_or(0);
            let Some(load) = place.checked_sub(1).and_then(|place| self.loads.get_mut(place)) else {
                on = 0;
                sleep_until(sys::clock::monotonic() + LOOK_NS);
                continue;
            };
            if wanted != on {
                on = wanted;
                load.timetable.begin(next_second(), None);
            }
            let Some(due) = load.timetable.due() else { break };
            let now = sys::clock::monotonic();
            if due - now > LOOK_NS {
                sleep_until(now + LOOK_NS);
            } else if Wait::default().until(due) >= due {
                load.send(due, &mut self.port, &self.shared, feed)?;
            }
        }
        Ok(())
    }
}

impl LoadBeside {
    fn send(&mut self, due: Monotonic, port: &mut Port, shared: &Shared, feed: &mut Feed) -> Result<(), ProbeError> {
        let (frames, refused) = self.frames.send(&self.timetable, port)?;
        let sent = sys::clock::monotonic();
        let went = frames - u16::try_from(refused).unwrap_or(frames);
        feed.samples(LATENESS, sent, sent - due, self.timetable.frame, went);
        feed.count(LATENESS, Counter::Lost, sent, refused);
        let is_late = (sent - due) as f64 > self.timetable.pace.interval_ns();
        let missed = self.timetable.go_on(sent, sent - due > LATEST_NS);
        feed.count(LATENESS, Counter::Late, sent, u64::from(is_late) * u64::from(went));
        feed.count(LATENESS, Counter::Missed, sent, missed);
        shared
            .due
            .fetch_add(u64::from(frames) * (1 + missed), Ordering::Relaxed);
        shared.sent.fetch_add(u64::from(went), Ordering::Relaxed);
        Ok(())
    }
}

impl Frames {
    /// Sends the frames that are due at one instant; returns their number, and how many the kernel refused.
    fn send(&mut self, timetable: &Timetable, port: &mut Port) -> Result<(u16, u64), ProbeError> {
        match self {
            Self::Goose {
                templates,
                next,
                sq_num,
            } => {
                let template = &mut templates[*next];
                template.set_sq_num(*sq_num);
                *next = (*next + 1) % usize::from(BLOCKS);
                if *next == 0 {
                    *sq_num = sq_num.checked_add(1).unwrap_or(1);
                }
                Ok((1, port.publish(template.bytes())?))
            }
            Self::Sv(batch) => {
                batch.fill(timetable.pace, timetable.first_sample());
                Ok((batch.streams(), port.publish_all(batch.frames())?))
            }
        }
    }
}

impl std::fmt::Debug for LoadBeside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Load").field("case", &self.case).finish_non_exhaustive()
    }
}

/// Messages of other control blocks, each in a state that does not change.
fn goose(source: Mac) -> Result<Frames, ProbeError> {
    let template = |number: u8| {
        let message = Message {
            dst: Mac([0x01, 0x0c, 0xcd, 0x01, 0x01, 0x80 + number]),
            src: source,
            appid: FIRST_APPID + u16::from(number),
            gocb_ref: format!("TRIPTIMELD0/LLN0$GO$gcbLoad{number}").into_bytes(),
            dat_set: b"TRIPTIMELD0/LLN0$dsLoad".to_vec(),
            ..Message::default()
        };
        Template::new(&message).map_err(|error| ProbeError::Usage(format!("trip: GOOSE load: {error}")))
    };
    Ok(Frames::Goose {
        templates: (0..BLOCKS).map(template).collect::<Result<_, _>>()?,
        next: 0,
        sq_num: 1,
    })
}

fn sv(streams: &[StreamConfig], source: Mac) -> Result<(Pace, Frames), ProbeError> {
    let Some(first) = streams.first() else {
        return Err(ProbeError::Usage(
            "trip: the case sv needs at least one stream: --streams".into(),
        ));
    };
    let pace = Pace {
        rate: first.spec.rate,
        asdus: first.spec.asdus,
    };
    Ok((pace, Frames::Sv(Box::new(Batch::new(streams, source, None)?))))
}
