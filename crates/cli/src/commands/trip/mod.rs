//! `triptime trip`: a test set for relays.

mod observe;
mod ping_pong;
mod shots;
mod watch;

use crate::arguments::{PortArgs, RunArgs};
use crate::failure::Failure;
use crate::lans::{HEADING as LAN_HEADING, LanArgs};
use crate::routed::{KeyArgs, RoutedArgs};
use probes::observe::ObserveOptions;
use probes::options::positive_duration;
use probes::ping_pong::PingPongOptions;
use probes::trip::TripOptions;
use probes::watch::RelayBlock;
use probes::{LanFault, Receive, ReceiveStamps};

/// Options of faults and streams of our own, and of the other measures: while another injector is observed nothing is sent.
const NOT_OBSERVED: [&str; 26] = [
    "lan_fault",
    "redundancy",
    "routed",
    "key",
    "scenario",
    "type_test",
    "shots",
    "settle",
    "seed",
    "phase_members",
    "function_members",
    "breaker",
    "controls",
    "security",
    "peer",
    "streams",
    "profile",
    "appid",
    "dst",
    "vlan",
    "conf_rev",
    "smp_synch",
    "spin_ahead",
    "goose_cpu",
    "ping_pong",
    "watch",
];

/// Tests a relay: publishes sampled values with faults, listens to its GOOSE, and times each trip: first faulted sample due -> trip
/// GOOSE back here. Failures to trip and false trips are counted, and negative controls made; or times it while another injector tests it (--observe)
#[derive(Debug, Clone, clap::Args)]
#[command(
    mut_arg("observe", |observe| observe.conflicts_with_all(NOT_OBSERVED)),
    // Attacks are on frames of layer 2: their lengths, and their addresses.
    mut_arg("peer", |peer| peer.conflicts_with("routed")),
    after_help = "Examples:\n  triptime trip eth1 --scenario overcurrent --shots 1000 --cpu 2 --spin-ahead 60us\n  \
                  triptime trip eth1 --scenario overcurrent --scenario load --goose 'IED1LD0/LLN0$GO$gcbTrip' --breaker 40ms\n  \
                  triptime trip eth1 --scenario bay7.toml --trip-member 2 --start-member 0\n  \
                  triptime trip eth1 --lan-b eth2 --lan-fault cut-a --scenario overcurrent --shots 100 --goose 'IED1LD0/LLN0$GO$gcbTrip'\n  \
                  triptime trip eth1 --routed 239.192.0.1 --sign keys.toml --key keys.toml --goose 'IED1LD0/LLN0$GO$gcbTrip'\n  \
                  triptime trip eth1 --type-test zone1 --goose 'IED1LD0/LLN0$GO$gcbTrip' --html zone1.html\n  \
                  triptime trip eth1 --peer partner.toml --peer-role block --goose 'IED1LD0/LLN0$GO$gcbTrip' --shots 20\n  \
                  triptime trip eth1 --ping-pong --goose 'IED1LD0/LLN0$GO$gcbPong' --streams 8 --class p1-ed2\n  \
                  triptime trip eth1 --watch 'MAINLD0/LLN0$GO$gcbTrip,PILOTLD0/LLN0$GO$gcbTrip:2' --duration 90d\n  \
                  triptime trip eth1 --observe above:2000A --sv-id INJ01 --goose 'IED1LD0/LLN0$GO$gcbTrip' --within 30ms --duration 10m"
)]
pub(crate) struct TripArgs {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    options: TripOptions,
    #[command(flatten)]
    lans: LanArgs,
    #[command(flatten)]
    routed: RoutedArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Fault of the LANs from the first faulted sample to the end of each disturbance: cut-a or cut-b (nothing passes in this LAN),
    /// delay-a:DURATION or delay-b:DURATION (our frames come later in it), flap:DURATION (each LAN is cut in turn for this time)
    #[arg(long, value_name = "FAULT", requires = "lan_b", help_heading = LAN_HEADING)]
    lan_fault: Option<LanFault>,
    /// CPU of the thread that listens to GOOSE; in a ping-pong, of the one that sends the load [default: that of --cpu]
    #[arg(long, value_name = "CPU", help_heading = "GOOSE")]
    goose_cpu: Option<u32>,
    /// How to wait for GOOSE
    #[arg(long, value_enum, default_value = "block", help_heading = "GOOSE")]
    receive: Receive,
    /// No faults: send a GOOSE that changes, and time the answer of the device; --goose names its control block, and its member
    /// --trip-member repeats the change
    #[arg(
        long,
        requires = "goose",
        conflicts_with_all = ["lan_b", "routed", "key", "scenario", "shots", "settle", "start_member", "phase_members", "function_members", "breaker", "controls", "security", "peer", "spin_ahead"],
        help_heading = "Ping-pong"
    )]
    ping_pong: bool,
    #[command(flatten)]
    ping: PingPongOptions,
    /// Send nothing: pair the decisions of relays side by side, from these control blocks; the member is 0 unless given
    #[arg(
        long,
        value_name = "GOCBREF[:MEMBER],...",
        value_delimiter = ',',
        conflicts_with_all = ["TripOptions", "ping_pong", "lan_fault", "redundancy", "routed", "key"],
        help_heading = "Watch"
    )]
    watch: Vec<RelayBlock>,
    /// Maximum distance of two relays' decisions that form a pair; others count as taken by one relay alone
    #[arg(long, value_name = "DURATION", default_value = "500ms", requires = "watch", value_parser = positive_duration, help_heading = "Watch")]
    pair_within: u64,
    #[command(flatten)]
    observe: ObserveOptions,
    /// Source of the time stamps of observed frames: the kernel, when the driver passes a frame up, or the NIC
    #[arg(
        long,
        value_enum,
        default_value = "software",
        requires = "observe",
        help_heading = "Observe"
    )]
    stamps: ReceiveStamps,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: TripArgs) -> Result<u8, Failure> {
    match (args.ping_pong, args.watch.is_empty(), args.observe.observe.is_some()) {
        (true, ..) => ping_pong::run(args),
        (_, false, _) => watch::run(args),
        (.., true) => observe::run(args),
        _ => shots::run(args),
    }
}
