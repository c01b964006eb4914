//! Layer-2 round trip: initiator's clock just before the send call -> matching sequence number received.
//!
//! The reflector swaps the MAC addresses and returns the frame at once, so this is an *immediate-reflect* round trip, the
//! quantity that DPDK's l2reflect reports, over the kernel's sockets instead of its drivers. It is not halved. Paced (one frame each
//! interval) or back to back; with the frames of l2reflect ([`Dialect`]), one frame goes back and forth and both ends measure.
//!
//! Hooks: AF_PACKET on one interface. Produces: `rtt/reflect` (initiator), `turnaround/reflect` (reflector).
//! Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod dialect;
mod election;
mod exchange;
mod forward;
mod initiator;
mod l2reflect;
mod link;
mod notice;
mod options;
mod reflector;
mod round_trips;
mod series;
mod stages;
mod strange;
mod tracker;

use crate::error::ProbeError;
use crate::frame::Frame;
use crate::hot::{Body, HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::Stamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::Receive;
use crate::rest::Rest;
pub use dialect::Dialect;
use model::kind;
use notice::Notice;
pub use options::ReflectOptions;
use run::{Recorder, Stop};
use sys::packet::PortOptions;
use sys::thread::Policy;
use sys::xdp::{MOST_FRAME_BYTES, XdpOptions, XdpRequest};
use wire::ether::{EthernetView, Mac, VlanTag};

/// Roles of the two ends of the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// The role that the far end does not have; if both ends are auto, the one with the larger MAC address sends
    // An elected reflector ends with the initiator.
    Auto,
    /// Sends, and measures
    Initiator,
    /// Returns every frame at once
    Reflector,
}

/// Settings of a round trip.
#[derive(Debug, Clone)]
pub struct ReflectConfig {
    /// Frames and handshake of both ends.
    pub dialect: Dialect,
    /// Role of this end.
    pub role: Role,
    /// Destination of the initiator. If none is given, broadcast until the first answer has shown the reflector's address.
    pub peer: Option<Mac>,
    /// Time between sends; 0 sends the next frame as soon as the answer is there.
    pub interval_ns: u64,
    /// Frames sent at each due instant; back to back, frames kept under way. 1 to [`MOST_FRAMES`].
    pub frames: u32,
    /// Length of the frames without FCS and VLAN tag, 60 to 9000.
    pub frame_bytes: usize,
    /// VLAN tag of the frames.
    pub vlan: Option<VlanTag>,
    /// Longest wait for the far end.
    pub patience_ns: u64,
    /// Duration of the measurement; `None` measures until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Round trip in ns above which an answer counts as late.
    pub late_after_ns: u64,
    /// Round trip in ns above which the measurement ends.
    pub break_above_ns: Option<u64>,
    /// Stamps to split round trips with; the port must have been opened for them.
    pub stamps: Stamps,
    /// Method of waiting for frames.
    pub receive: Receive,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Pauses that prevent the kernel from throttling a spinning real-time thread.
    pub rest: Rest,
    /// Samples above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// Second part of the name of the round-trip or turnaround series.
    pub label: String,
}

impl ReflectConfig {
    /// One frame of the shortest length each 250 us, spinning, until a stop is requested.
    pub fn new(role: Role) -> Self {
        Self {
            dialect: Dialect::Triptime,
            role,
            peer: None,
            interval_ns: 250_000,
            frames: 1,
            frame_bytes: SHORTEST_FRAME,
            vlan: None,
            patience_ns: 3_000_000_000,
            duration_ns: None,
            late_after_ns: 250_000,
            break_above_ns: None,
            stamps: Stamps::Off,
            receive: Receive::Spin,
            policy: Policy::Other,
            cpu: None,
            rest: Rest::NONE,
            threshold_ns: None,
            label: "reflect".into(),
        }
    }
}

/// Maximum number of frames under way, far below the number of remembered frames.
pub const MOST_FRAMES: u32 = 1_024;

/// Shortest and longest frames, without FCS.
pub use wire::test_frame::{MAX_OCTETS as LONGEST_FRAME, MIN_OCTETS as SHORTEST_FRAME};

/// Options of the packet socket of this probe. A reflector handles VLAN tags only if the configuration has one, since the check
/// costs each frame about 90 ns.
pub fn port_options(config: &ReflectConfig) -> PortOptions {
    let stamped = config.stamps != Stamps::Off;
    PortOptions {
        ethertypes: vec![wire::test_frame::ETHER_TYPE],
        ring_frames: ring_frames(config),
        frame_bytes: room(config),
        hardware_stamps: config.stamps == Stamps::Hardware,
        rx_stamps: stamped,
        tx_stamps: stamped,
        vlan_tags: config.vlan.is_some(),
        ..PortOptions::default()
    }
}

/// Options of the AF_XDP socket of this probe.
pub fn xdp_options(config: &ReflectConfig, form: XdpRequest) -> XdpOptions {
    XdpOptions {
        ethertypes: vec![wire::test_frame::ETHER_TYPE],
        ring_frames: ring_frames(config),
        frame_bytes: xdp_room(room(config), config.vlan.is_some()),
        mode: form,
        ..XdpOptions::default()
    }
}

/// Octets of the longest frame that is received: the far end of a game with the frames of l2reflect may wish longer ones.
fn room(config: &ReflectConfig) -> usize {
    let least = match config.dialect {
        Dialect::Triptime => wire::test_frame::BYE_OCTETS,
        Dialect::L2reflect => LONGEST_STANDARD_FRAME,
    };
    config.frame_bytes.max(least)
}

/// Longest frame without FCS that is no jumbo frame.
const LONGEST_STANDARD_FRAME: usize = 1_514;

/// Room for a frame and its tag. Frames of another VLAN are recognised by their tag, so there is room for a tag even without a
/// VLAN, unless that exceeds the limit of AF_XDP.
fn xdp_room(frame_bytes: usize, is_tagged: bool) -> usize {
    let tagged = frame_bytes + VLAN_TAG;
    if is_tagged {
        tagged
    } else {
        tagged.min(MOST_FRAME_BYTES.max(frame_bytes))
    }
}

/// Number of frames that may wait in the ring. With paced frames, those of a stall of [`STALL_NS`]. Back to back, no more frames
/// come than are under way, and a small ring stays in the caches.
fn ring_frames(config: &ReflectConfig) -> usize {
    let under_way = 2 * u64::from(config.frames);
    let in_a_stall = STALL_NS.checked_div(config.interval_ns).unwrap_or(0) * u64::from(config.frames);
    let frames = under_way.max(in_a_stall).clamp(LEAST_RING_FRAMES, MOST_RING_FRAMES);
    usize::try_from(frames).unwrap_or(usize::MAX)
}

/// Longest stall of a thread without loss in its ring.
const STALL_NS: u64 = 500_000_000;

/// Smallest and largest ring, in frames.
const LEAST_RING_FRAMES: u64 = 64;
const MOST_RING_FRAMES: u64 = 8 * MOST_FRAMES as u64;

/// Bytes of a VLAN tag, which AF_XDP leaves in the frame.
const VLAN_TAG: usize = 4;

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "reflect",
    words: "round trip",
    what: "A frame there and back: just before the send call -> the answer is received.",
    kinds: &[&kind::RTT, &kind::STAGE, &kind::TURNAROUND],
    page: "guide/reflect.md",
};

impl Probe for ReflectConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        let mut port = on.into();
        check(self, &port)?;
        let stamps = port.check_stamps(self.stamps);
        stamps.map_err(|why| ProbeError::Usage(format!("reflect: {why}")))?;
        port.follow_nic(recorder)?;
        let mut config = self.clone();
        let mut role = config.role;
        if config.dialect == Dialect::L2reflect {
            // Both ends send and measure.
            role = Role::Initiator;
        } else if role == Role::Auto {
            let Some((decided, peer)) = election::decide(&config, &mut port, stop)? else {
                return Err(ProbeError::NoTraffic(format!(
                    "reflect: ended before it found the other end on {}",
                    port.interface()
                )));
            };
            role = decided;
            config.peer = config.peer.or(Some(peer));
        }
        let config = &config;
        let describe = Box::new(series::Reflect::of(config, role, &port));
        let mut feed = recorder.feed(capacity(config, role), series::SLOTS, describe);
        feed.announce(0, &config.label);
        if role == Role::Initiator {
            for (slot, label) in series::stages(config.stamps) {
                feed.announce(*slot, label);
            }
        }
        feed.notice(0, Notice::Engine, sys::clock::monotonic(), 0, 0);
        let (config, stop) = (config.clone(), stop.clone());
        let (policy, cpu) = (config.policy, config.cpu);
        let (name, body): (&str, Body) = match role {
            Role::Initiator if config.dialect == Dialect::L2reflect => {
                let mut end = l2reflect::Player::new(config, port, stop);
                ("initiator", Box::new(move |start, feed| end.run(start, feed)))
            }
            Role::Initiator => {
                let mut end = initiator::Initiator::new(config, port, stop);
                ("initiator", Box::new(move |start, feed| end.run(start, feed)))
            }
            Role::Reflector | Role::Auto => {
                let mut end = reflector::Reflector::new(config, port, stop);
                ("reflector", Box::new(move |_, feed| end.run(feed)))
            }
        };
        let thread = HotThread {
            own_files: true,
            ..HotThread::new(name, policy, cpu, feed, body)
        };
        Running::start(vec![thread], || sys::clock::monotonic() + LEAD_NS)
    }
}

/// VLAN tag of a frame, from its data or from the kernel; a port opened without `vlan_tags` has only the first.
fn tag_of(frame: &Frame<'_>, ethernet: &EthernetView<'_>) -> Option<VlanTag> {
    let taken = frame.taken_tag();
    taken.map_or_else(
        || ethernet.vlan(),
        |tag| {
            Some(VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            })
        },
    )
}

/// True if a frame with this tag is in our VLAN. The priority may have changed on the way; identifier 0 means no VLAN.
fn is_of(ours: VlanTag, tag: Option<VlanTag>) -> bool {
    ours.vid() == tag.map_or(0, VlanTag::vid)
}

fn vlan_words(tag: Option<VlanTag>) -> String {
    match tag.map(VlanTag::vid) {
        None | Some(0) => "no VLAN".to_owned(),
        Some(vid) => format!("VLAN {vid}"),
    }
}

/// Error if the far end does not answer.
fn nobody_answers(interface: &str, patience_ns: u64) -> ProbeError {
    ProbeError::NoTraffic(format!(
        "reflect: nobody answered on {interface} within {}: start `triptime reflect IF` at the far end too, and check the \
         cable, the MAC address, and that --size and --vlan are the same at both ends",
        units::Ns(patience_ns)
    ))
}

/// Time from the moment the thread is ready to its first frame.
const LEAD_NS: i64 = 10_000_000;

fn check(config: &ReflectConfig, port: &Port) -> Result<(), ProbeError> {
    config.dialect.check(config)?;
    let frame = config.frame_bytes;
    if !(SHORTEST_FRAME..=LONGEST_FRAME).contains(&frame) {
        return Err(ProbeError::Usage(format!(
            "reflect: a frame of {frame} octets is not possible: use {SHORTEST_FRAME} to {LONGEST_FRAME}"
        )));
    }
    if !(1..=MOST_FRAMES).contains(&config.frames) {
        return Err(ProbeError::Usage(format!(
            "reflect: {} frames at once are not possible: use 1 to {MOST_FRAMES}",
            config.frames
        )));
    }
    let room = usize::try_from(port.mtu())
        .unwrap_or(usize::MAX)
        .saturating_add(wire::ether::HEADER);
    if frame > room {
        return Err(ProbeError::Usage(format!(
            "reflect: a frame of {frame} octets does not fit {}: its MTU of {} allows {room}",
            port.interface(),
            port.mtu()
        )));
    }
    Ok(())
}

/// Records a second when frames are sent back to back: a fast path answers in about a microsecond.
const FASTEST_BACK_TO_BACK_NS: u64 = 2_000;

/// Minimum number of records in a reflector's feed. Its pace is not known beforehand; back to back this is one second.
const LEAST_OF_A_REFLECTOR: usize = 1 << 18;

fn capacity(config: &ReflectConfig, role: Role) -> usize {
    let interval_ns = if config.interval_ns == 0 {
        FASTEST_BACK_TO_BACK_NS
    } else {
        config.interval_ns
    };
    let records = if config.stamps == Stamps::Off { 1 } else { 4 };
    let records = crate::hot::capacity(records * 1_000_000_000 / interval_ns * u64::from(config.frames));
    match role {
        Role::Reflector => records.max(LEAST_OF_A_REFLECTOR),
        Role::Initiator | Role::Auto => records,
    }
}

#[cfg(test)]
mod tests {
    use super::{ReflectConfig, Role, xdp_options};
    use sys::xdp::XdpRequest;
    use wire::ether::VlanTag;

    #[test]
    fn the_longest_frame_of_af_xdp_needs_no_room_for_a_tag_it_has_not() {
        let room = |frame_bytes, vlan| {
            let config = ReflectConfig {
                frame_bytes,
                vlan,
                ..ReflectConfig::new(Role::Initiator)
            };
            xdp_options(&config, XdpRequest::Auto).frame_bytes
        };
        let tag = Some(VlanTag::new(4, false, 100));
        assert_eq!((room(1_514, None), room(1_514, tag)), (1_518, 1_518));
        assert_eq!((room(3_840, None), room(3_836, tag)), (3_840, 3_840));
        // This length is refused when the socket is opened.
        assert_eq!((room(3_841, None), room(3_837, tag)), (3_841, 3_841));
    }
}
