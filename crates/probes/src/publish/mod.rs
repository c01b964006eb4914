//! Publishes sampled-value streams as merging units do: on an absolute grid aligned to the second.
//!
//! smpCnt 0 is the sample at the top of the second of the wall clock. A frame is due at the instant of its last sample. All
//! streams with the same rate and number of ASDUs are due together, like those of synchronised merging units, and are sent by one
//! system call. If the thread overruns, the frames due meanwhile are `missed`: they are not sent later as a burst, so a
//! subscriber sees them as lost.
//!
//! Hooks: AF_PACKET on one interface, one sendmmsg per due instant. Produces: `publish/lateness`, a sample for each frame: from
//! its due instant to the return of the call that sent it together with all others due at that instant, so this is an upper
//! limit. Streams of several rates have a series for each rate. With stamps, `departure/publish` is added: from the due instant
//! to the driver's or the NIC's stamp of each frame. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod captured;
mod config;
mod goose;
mod group;
mod marks;
mod options;
mod recording;
mod sender;
mod series;
mod timetable;
mod waveform;

pub use captured::captured_streams;
pub use config::{PublishConfig, StreamConfig};
pub use goose::GooseConfig;
pub(crate) use group::{Batch, template};
pub use options::PublishOptions;
pub(crate) use series::Notice;
pub(crate) use timetable::{Pace, Timetable};
pub use waveform::Waveform;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::Stamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::redundant::attended;
use crate::second::next_second;
use group::{Group, paces};
use marks::Marks;
use model::kind;
use recording::OnTape;
use run::{Describe, Recorder, Stop};
use streamset::StreamSpec;
use sys::packet::PortOptions;
use units::Monotonic;
use wire::ether::Mac;
use wire::routed::Route;

/// Rates that smpCnt can count and that give a whole number of frames a second.
const HIGHEST_RATE: u32 = 15_360;

/// Maximum number of streams of one publisher; a sample of its lateness counts for that many frames.
const MOST_STREAMS: u16 = u16::MAX;

/// Longest SV frame in octets: Ethernet header, VLAN tag, header and APDU (iec61850-9-2), without FCS.
pub const LONGEST_FRAME: usize = 14 + 4 + 8 + 1_492;

/// Options of a port that only sends and does not load the receive path.
pub fn port_options() -> PortOptions {
    PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    }
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "publish",
    words: "publish",
    what: "Sampled values as a merging unit sends them: due instant -> the send call has returned.",
    kinds: &[&kind::PUBLISH, &kind::DEPARTURE],
    page: "guide/sampled-values.md",
};

impl Probe for PublishConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        start_all(Some((self, on.into())), None, recorder, stop)
    }
}

/// Starts publishing sampled values, GOOSE, or both, each with its own thread and port. Both start at the same second.
///
/// # Errors
/// Same as [`Probe::start`].
pub fn start_all(
    streams: Option<(&PublishConfig, Port)>,
    goose: Option<(&GooseConfig, Port)>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    let mut threads = Vec::new();
    let marks = streams
        .as_ref()
        .map(|(config, _)| (Marks::of(&config.streams), config.duration_ns));
    // Both ports are of one node.
    let node = streams
        .as_ref()
        .map(|(_, port)| port)
        .or(goose.as_ref().map(|(_, port)| port));
    let attendant = node.map(|port| port.attendant(true)).transpose()?.flatten();
    if let Some((config, port)) = streams {
        threads.push(thread(config, port, recorder, stop)?);
    }
    if let Some((config, port)) = goose {
        threads.push(goose::thread(config, port, recorder, stop)?);
    }
    let mut start = Monotonic::from_ns(0);
    let running = Running::start(threads, || {
        start = next_second();
        start
    })?;
    let announced = marks.and_then(|(marks, duration_ns)| marks.announce(start, duration_ns, recorder.events(), stop));
    attended(running.with(announced), attendant, recorder.events(), stop)
}

/// Names and settings of the lateness series, for a feed without other series.
pub(crate) fn lateness(config: &PublishConfig, port: &Port) -> Box<dyn Describe> {
    Box::new(series::Publish::of(config, port))
}

/// The thread that publishes sampled values, before its start.
fn thread(
    config: &PublishConfig,
    mut port: Port,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<HotThread, ProbeError> {
    check(config)?;
    port.check_stamps(config.stamps).map_err(ProbeError::Usage)?;
    port.follow_nic(recorder)?;
    let paces = paces(&config.streams);
    let source = Mac(port.mac());
    let mut groups = (series::LATENESS..)
        .zip(&paces)
        .map(|(slot, pace)| Group::new(*pace, slot, &config.streams, (source, port.wrapper())))
        .collect::<Result<Vec<_>, _>>()?;
    let describe = lateness(config, &port);
    let instants: u64 = paces.iter().map(|pace| pace.frames_per_second()).sum();
    let stamped = match config.stamps {
        Stamps::Off => 0,
        Stamps::Software | Stamps::Hardware => groups.iter().map(Group::frames_per_second).sum(),
    };
    let mut feed = recorder.feed(crate::hot::capacity(instants + stamped), 2 * paces.len(), describe);
    for group in &groups {
        let label = series::label(group.timetable.pace, paces.len());
        feed.announce(group.slot, &label);
        if config.stamps != Stamps::Off {
            let label = label.replacen("lateness", "publish", 1);
            feed.announce(series::departure(group.slot, paces.len()), &label);
        }
    }
    let group = port.wrapper().map(|wrapper| Route::mac(wrapper.route().group));
    let on_tape = || OnTape::of(&config.streams, source, group);
    let on_tape = config.record.then(on_tape).transpose()?;
    if on_tape.is_some() {
        feed.set_tape(recorder.tape(recording::TAPE_FRAMES, &recording::POINTS));
    }
    groups.iter_mut().for_each(|group| port.make_room(group.batch()));
    let mut sender = sender::Sender::new(config.clone(), (port, on_tape), groups, stop.clone());
    Ok(HotThread::new(
        "publish",
        config.policy,
        config.cpu,
        feed,
        Box::new(move |start, feed| sender.run(start, feed)),
    ))
}

fn check(config: &PublishConfig) -> Result<(), ProbeError> {
    let usage = |message: String| Err(ProbeError::Usage(message));
    if config.streams.is_empty() {
        return usage("publish: no stream: use --streams 1 or more".into());
    }
    if config.streams.len() > usize::from(MOST_STREAMS) {
        return usage(format!("publish: at most {MOST_STREAMS} streams"));
    }
    config
        .streams
        .iter()
        .try_for_each(|stream| check_stream(&stream.spec))?;
    let fastest = config
        .streams
        .iter()
        .map(|stream| stream.spec.frames_per_second())
        .max();
    if config.spin_ahead_ns >= 1_000_000_000 / fastest.unwrap_or(1) {
        return usage("publish: --spin-ahead must be shorter than the time between frames".into());
    }
    Ok(())
}

/// Refuses a stream whose samples smpCnt cannot count.
pub(crate) fn check_stream(stream: &StreamSpec) -> Result<(), ProbeError> {
    let StreamSpec { sv_id, rate, asdus, .. } = stream;
    let usage = |message: String| Err(ProbeError::Usage(message));
    if *rate == 0 || *rate > HIGHEST_RATE {
        return usage(format!(
            "publish: stream {sv_id}: {rate} samples a second are not possible: use 1 to {HIGHEST_RATE}"
        ));
    }
    if !(1..=8).contains(asdus) || !rate.is_multiple_of(u32::from(*asdus)) {
        return usage(format!(
            "publish: stream {sv_id}: {asdus} ASDUs in a frame are not possible: use 1 to 8, a divisor of the rate \
             {rate}"
        ));
    }
    Ok(())
}
