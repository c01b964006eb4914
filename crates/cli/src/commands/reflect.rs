//! `triptime reflect`: measures the layer-2 round trip.

use crate::arguments::{PortArgs, RunArgs};
use crate::failure::Failure;
use crate::ready::{not_to_be_disturbed, ready};
use crate::run_file::Run;
use probes::Receive;
use probes::options::{mac, positive_duration};
use probes::reflect::{Dialect, ReflectConfig, ReflectOptions, Role, port_options, xdp_options};
use probes::{Need, Port, Probe, Rest, Stamps};
use session::RunSpec;
use session::preflight::Intent;
use sys::packet::PacketPort;
use sys::privilege::Capability;
use sys::thread::Policy;
use sys::xdp::{BusyPoll, XdpOptions, XdpPort, XdpRequest, XdpSender};
use wire::ether::Mac;

/// Way of receiving frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// `AF_PACKET` ring, polled without pause: the network path alone
    Packet,
    /// `AF_PACKET` ring, asleep until a frame comes: includes the wake-up of a real application
    Block,
    /// `AF_PACKET` ring, polled without pause, and frames sent by `AF_XDP`, past the queueing discipline
    PacketXdp,
    /// `AF_XDP`, polled without pause: past the kernel's stack, best if the driver has zero-copy
    Xdp,
}

/// Form of AF_XDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum XdpArg {
    /// The best that the driver has
    Auto,
    /// In the driver, without copying
    ZeroCopy,
    /// In the driver, frames copied
    Native,
    /// After the driver, frames copied
    Generic,
}

impl From<XdpArg> for XdpRequest {
    fn from(form: XdpArg) -> Self {
        match form {
            XdpArg::Auto => Self::Auto,
            XdpArg::ZeroCopy => Self::ZeroCopy,
            XdpArg::Native => Self::Native,
            XdpArg::Generic => Self::Generic,
        }
    }
}

/// Layer-2 round trip over the kernel's sockets: an initiator sends, a reflector at the other end returns at once; the other end can be l2reflect
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example, at both ends:  triptime reflect eth1 --cpu 2 --duration 60s --limits substation")]
pub(crate) struct ReflectArgs {
    #[command(flatten)]
    port: PortArgs,
    /// Frames and handshake, the same at both ends
    #[arg(long, value_enum, default_value = "triptime")]
    dialect: Dialect,
    /// Role of this end
    #[arg(long, value_enum, default_value = "auto")]
    role: Role,
    /// MAC address of the other end [default: found by broadcast]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    peer: Option<Mac>,
    /// How long to wait for the other end
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = positive_duration)]
    wait: u64,
    #[command(flatten)]
    options: ReflectOptions,
    /// How frames are received
    #[arg(long, value_enum, default_value = "packet")]
    engine: EngineArg,
    /// Time stamps that split each round trip into stages [default: software when paced, off back to back and with xdp]
    #[arg(long, value_enum)]
    stamps: Option<Stamps>,
    /// Form of AF_XDP
    #[arg(long, value_enum, default_value = "auto", value_name = "FORM")]
    xdp: XdpArg,
    /// With xdp: poll the driver from the measuring thread, so that it needs no interrupt
    #[arg(long)]
    busy_poll: bool,
    /// Never rest, even if the kernel will then throttle the thread
    #[arg(long)]
    no_rest: bool,
    /// Spin even on a CPU that carries other real-time threads, virtual CPUs or interrupt threads of a network interface in use: these wait
    /// during the run
    #[arg(long)]
    disturb: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl ReflectArgs {
    /// Needs of the engine: programs in the kernel that return or receive the frames. For other reasons of a refusal the kernel reports an
    /// error when the programs are loaded.
    fn needs(&self) -> &'static [Need] {
        match self.engine {
            EngineArg::Packet | EngineArg::Block => &[],
            EngineArg::Xdp | EngineArg::PacketXdp => &[Need::Wish(Capability::NetAdmin), Need::Wish(Capability::Bpf)],
        }
    }
}

impl ReflectArgs {
    /// Time between frames: the frames of l2reflect are not paced.
    fn interval(&self) -> Option<u64> {
        let of_dialect = (self.dialect == Dialect::L2reflect).then_some(0);
        self.options.interval.or(of_dialect)
    }

    /// True if the kernel's throttling will stop a spinning thread: no frame of l2reflect announces a rest.
    fn spins_without_rest(&self, config: &ReflectConfig) -> bool {
        let rests = !self.no_rest && self.dialect == Dialect::Triptime;
        !rests && config.receive == Receive::Spin && config.policy != Policy::Other
    }

    /// Default stamps. Stamps cost some tenths of a microsecond: negligible compared with the wake-up before a paced frame, but much of the
    /// back-to-back round trip on a fast path.
    fn stamps(&self) -> Stamps {
        if self.role == Role::Reflector {
            return Stamps::Off;
        }
        let is_fast = self.interval() == Some(0) || matches!(self.engine, EngineArg::Xdp | EngineArg::PacketXdp);
        let usual = if is_fast { Stamps::Off } else { Stamps::Software };
        self.stamps.unwrap_or(usual)
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: ReflectArgs) -> Result<u8, Failure> {
    let config = config(&args);
    ready(&config, args.needs(), Some(&args.port.interface), &args.run)?;
    if config.receive == Receive::Spin && config.policy != Policy::Other && !args.disturb {
        not_to_be_disturbed(&args.port.measured(), args.port.cpu.is_some())?;
    }
    let port = open(&args, &config)?;
    let spins_without_rest = args.spins_without_rest(&config);
    let spec = RunSpec {
        // A reflector has no late samples of its own, and must be ready before the first frame.
        flight_recorder: args.role != Role::Reflector && args.run.explains(),
        ..args
            .run
            .spec("reflect", args.port.measured(), args.port.duration)
            .on(&args.port.interface)
    };
    let mut run = Run::start(spec, args.run)?;
    let stop = run.session.stop.clone();
    let intent = Intent {
        spins_without_rest,
        ..args.port.intent()
    };
    let port = run.port(port, &args.port, &intent)?;
    let started = config.start(port, &mut run.session.recorder, &stop);
    let outcome = run.attend(started);
    run.finish(outcome)
}

/// Configuration from the arguments.
fn config(args: &ReflectArgs) -> ReflectConfig {
    let options = ReflectOptions {
        interval: args.interval(),
        ..args.options.clone()
    };
    ReflectConfig {
        dialect: args.dialect,
        peer: args.peer,
        patience_ns: args.wait,
        duration_ns: args.port.duration,
        stamps: args.stamps(),
        receive: match args.engine {
            EngineArg::Packet | EngineArg::PacketXdp | EngineArg::Xdp => Receive::Spin,
            EngineArg::Block => Receive::Block,
        },
        policy: args.port.policy,
        cpu: args.port.cpu,
        rest: if args.no_rest || args.dialect == Dialect::L2reflect {
            Rest::NONE
        } else {
            session::preflight::rest()
        },
        ..options.config(args.role)
    }
}

/// Polls as RTC-Testbench does; the budget is the kernel's default.
const BUSY_POLL: BusyPoll = BusyPoll {
    time_us: 20,
    budget: 64,
};

/// Opens the port of the requested engine.
fn open(args: &ReflectArgs, config: &ReflectConfig) -> Result<Port, Failure> {
    let interface = &args.port.interface;
    let asks_for_xdp = args.busy_poll || args.xdp != XdpArg::Auto;
    if asks_for_xdp && args.engine != EngineArg::Xdp {
        return Err(Failure::Usage(
            "--xdp and --busy-poll apply to receiving by AF_XDP: add --engine xdp".to_owned(),
        ));
    }
    Ok(match args.engine {
        EngineArg::Packet | EngineArg::Block => Port::open(interface, &port_options(config))?,
        EngineArg::PacketXdp => (
            PacketPort::open(interface, &port_options(config))?,
            sender(interface, config)?,
        )
            .into(),
        EngineArg::Xdp => {
            let options = XdpOptions {
                busy_poll: args.busy_poll.then_some(BUSY_POLL),
                ..xdp_options(config, args.xdp.into())
            };
            XdpPort::open(interface, &options)?.into()
        }
    })
}

/// Opens a sender past the queueing discipline, for use with any way of receiving.
fn sender(interface: &str, config: &ReflectConfig) -> Result<XdpSender, Failure> {
    let longest = xdp_options(config, XdpRequest::Auto).frame_bytes;
    Ok(XdpSender::open(interface, 0, longest, config.frames as usize)?)
}
