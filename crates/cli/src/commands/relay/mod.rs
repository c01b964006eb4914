//! `triptime relay CONFIG`: a virtual protection relay, on an interface or through a recorded fault.

mod json;
mod live;
mod replay;
mod text;
mod type_test;

use crate::arguments::{CaptureArgs, RunArgs};
use crate::failure::Failure;
use crate::lans::LanArgs;
use crate::routed::{KeyArgs, RoutedArgs};
use crate::time_sync::{TimeSyncArgs, relation};
use ::relay::Config;
use ::relay::config::Cpus;
use ::relay::replay::Channels;
use probes::options::{duration, positive_duration};
use probes::relay::{Folder, find};
use probes::subscribe::ClockRelation;
use std::path::{Path, PathBuf};
use sys::thread::Policy;

/// Runs a virtual protection relay: sampled values in, protection functions, GOOSE out, every cycle timed; or plays a recorded fault
/// through it
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  triptime relay bays8 eth1 --cpu 3 --clock ptp
  triptime relay feeder.toml eth1 --cpu 3 --clock ptp --duration 1h
  triptime relay feeder.toml eth1 --cpu receive=1,functions=2,output=3 --clock ptp
  triptime relay feeder.toml eth1 --cpu 3 --clock ptp --records /var/lib/feeder1
  triptime relay feeder.toml eth1 --cpu 3 --routed 239.192.0.1 --sign keys.toml --key keys.toml
  triptime relay feeder.toml --replay fault.cfg
  triptime relay feeder.toml --replay fault.cff --channels Ia=IA_GC1,Ib=IB_GC1,Ic=IC_GC1 --json
  triptime relay bay.toml --replay bay.pcapng
  triptime relay line.toml --type-test zone1")]
pub(crate) struct RelayArgs {
    /// The relay: one inside triptime (bays1 to bays999: as many streams, from MU01 on), or a TOML file (docs/formats/relay-file.md)
    config: String,
    /// Interface for its streams and its GOOSE
    interface: Option<String>,
    /// Folder for a COMTRADE record of each trip ([record] of the relay's file sets their length) [default: no records]
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    #[command(flatten)]
    lans: LanArgs,
    #[command(flatten)]
    routed: RoutedArgs,
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    time: TimeSyncArgs,
    #[command(flatten)]
    capture: CaptureArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Options of a relay on an interface.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "On an interface")]
struct LiveArgs {
    /// How long the relay runs [default: until interrupted]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration, conflicts_with = "replay")]
    duration: Option<u64>,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY [default: fifo, with the priority of the relay's file]
    #[arg(long, short)]
    policy: Option<Policy>,
    /// CPU to run on, in one thread; or one for each task, in three: receive=1,functions=2,output=3 [default: as the relay's file says]
    #[arg(long, short = 'a', value_name = "CPU|TASK=CPU,...")]
    cpu: Option<Cpus>,
    /// How long before a cycle is due its thread stops sleeping and spins
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = duration)]
    spin_ahead: u64,
    /// Number of this relay among several of one kind on the network: from 2 on, the number is appended to the names of its GOOSE control
    /// blocks, which two relays cannot share (gcbTrip_2)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=999))]
    number: u32,
    /// Relation of the publishers' clock to this machine's: none, same-host, ptp, or ptp:UNCERTAINTY. Without a relation there are no
    /// one-way figures
    #[arg(long, value_name = "RELATION", default_value = "none", value_parser = relation)]
    clock: ClockRelation,
}

/// Options of a relay that processes a file.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Through a recorded fault")]
struct ReplayArgs {
    /// Record or capture to play: a COMTRADE record (.cff, or .cfg with its .dat), or a capture of sampled values (pcap, pcapng, gzip)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["interface", "lan_b", "routed", "key", "junit", "limits"])]
    replay: Option<PathBuf>,
    /// Play a type test instead, one inside triptime or a TOML file, in simulated time: shows what the functions do, without a network
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["interface", "lan_b", "routed", "key", "replay", "junit", "limits"])]
    type_test: Option<String>,
    /// Channels of the record by name or number, such as Ia=IA_GC1,Ib=6,Un=none; a leading - inverts the sign, and 6:A names the unit; if the relay has several
    /// streams, the stream and a colon come first (bay2:Ia=9,Ib=10,Ic=11), once for each [default: the first stream, by phase and unit]
    #[arg(long, value_name = "[STREAM:]MEMBER=CHANNEL,...", value_parser = replay::channels, requires = "replay")]
    channels: Vec<Channels>,
    /// Use the record's values unchanged, without converting secondary to primary values
    #[arg(long, requires = "replay")]
    as_recorded: bool,
}

/// Folder for records of this relay.
fn open(path: &Path, relay: &Config) -> Result<Folder, Failure> {
    Folder::open(path, relay).map_err(|error| Failure::Usage(format!("--records: {error}")))
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: RelayArgs) -> Result<u8, Failure> {
    let found = find(&args.config)?;
    if let Some(test) = &args.replay.type_test {
        return type_test::run(&found.config, test, args.run.face.json);
    }
    match (&args.replay.replay, args.interface.clone()) {
        (None, Some(interface)) => live::run(found, &interface, args),
        (Some(file), _) => {
            let records = args
                .records
                .as_deref()
                .map(|path| open(path, &found.config))
                .transpose()?;
            replay::run(&found.config, file, &args.replay, records, args.run.face.json)
        }
        (None, None) => Err(Failure::Usage(
            "relay: name an interface, a file with --replay, or a test with --type-test".into(),
        )),
    }
}
