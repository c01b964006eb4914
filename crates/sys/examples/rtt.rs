//! Round trips over a veth pair, back to back, with every engine there is: what each costs, side by side.
//!
//! ```sh
//! cargo run --release -p triptime-sys --example rtt -- [ROUNDS [TRIPS [FRAME_OCTETS]]]
//! ```
//!
//! Engines take turns, forwards and backwards; each figure of the table is the median of that engine's rounds. The initiator
//! runs on the last CPU this process may use, the reflector on the first, both with SCHED_FIFO. Trips come in bursts with a
//! rest in between, so that `kernel.sched_rt_runtime_us` does not stall the spinning threads.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::{Policy, RtThread, allowed_cpus};
use sys::xdp::{XdpOptions, XdpPort, XdpRequest, XdpSender};
use sys::{SysError, clock, link, memory};

const ETHERTYPE: u16 = 0x88b5;
const WARM_UP: usize = 200;
/// Spinning and resting: half the CPU, well below the 95 % the kernel allows real-time threads by default.
const BURST_NS: i64 = 50_000_000;
const REST_NS: i64 = 50_000_000;
/// A frame that takes longer is lost.
const GIVE_UP_NS: i64 = 100_000_000;
/// The reflector stops spinning when nothing came for so long.
const IDLE_NS: i64 = 1_000_000;
/// The clock is read once in so many empty looks.
const LOOKS_PER_CLOCK: u32 = 64;

#[derive(Clone, Copy, PartialEq)]
enum Engine {
    Packet,
    Lean,
    Mixed,
    TxStamps,
    Native,
    Generic,
    Block,
}

const ENGINES: [(Engine, &str); 7] = [
    (Engine::Packet, "packet ring, spinning"),
    (Engine::Lean, "the same without VLAN tags and stamps"),
    (Engine::Mixed, "the latter, sending by AF_XDP"),
    (Engine::TxStamps, "packet ring with transmit stamps"),
    (Engine::Native, "AF_XDP native"),
    (Engine::Generic, "AF_XDP generic"),
    (Engine::Block, "packet ring, blocking"),
];

/// One end, of either kind.
enum Port {
    Packet(PacketPort),
    Xdp(XdpPort),
    Mixed(PacketPort, XdpSender),
}

impl Port {
    fn open(engine: Engine, name: &str) -> Result<Self, SysError> {
        let xdp = |mode| XdpOptions {
            ethertypes: vec![ETHERTYPE],
            ring_frames: 256,
            mode,
            ..XdpOptions::default()
        };
        let lean = matches!(engine, Engine::Lean | Engine::Mixed);
        let packet = PortOptions {
            ethertypes: vec![ETHERTYPE],
            ring_frames: 256,
            rx_stamps: !lean,
            vlan_tags: !lean,
            tx_stamps: engine == Engine::TxStamps,
            ..PortOptions::default()
        };
        match engine {
            Engine::Native => XdpPort::open(name, &xdp(XdpRequest::Native)).map(Self::Xdp),
            Engine::Generic => XdpPort::open(name, &xdp(XdpRequest::Generic)).map(Self::Xdp),
            Engine::Mixed => Ok(Self::Mixed(
                PacketPort::open(name, &packet)?,
                XdpSender::open(name, 0, 1522, 64)?,
            )),
            _ => PacketPort::open(name, &packet).map(Self::Packet),
        }
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), SysError> {
        match self {
            Self::Packet(port) => port.send(frame),
            Self::Xdp(port) => port.send(frame),
            Self::Mixed(_, sender) => sender.send(frame),
        }
    }

    /// Copies the next frame, if there is one.
    fn take(&mut self, into: &mut [u8]) -> bool {
        let octets = into.len();
        match self {
            Self::Packet(port) | Self::Mixed(port, _) => {
                port.next().map(|frame| into.copy_from_slice(&frame.data()[..octets]))
            }
            Self::Xdp(port) => port.next().map(|frame| into.copy_from_slice(&frame.data()[..octets])),
        }
        .is_some()
    }

    fn wait(&self, timeout_ns: u64) -> Result<bool, SysError> {
        match self {
            Self::Packet(port) | Self::Mixed(port, _) => port.wait(timeout_ns),
            Self::Xdp(port) => port.wait(timeout_ns),
        }
    }

    /// Takes all that the kernel tells about sent frames; returns how many events, and how long that took.
    fn take_events(&self) -> Result<(i64, i64), SysError> {
        let begin = clock::monotonic();
        let mut events = 0;
        if let Self::Packet(port) = self {
            while port.next_tx_event()?.is_some() {
                events += 1;
            }
        }
        Ok((events, clock::monotonic() - begin))
    }
}

/// Of one round of one engine, in ns.
#[derive(Default)]
struct Round {
    least: i64,
    median: i64,
    p99: i64,
    p999: i64,
    lost: usize,
    /// To take one event from the error queue.
    event: Option<i64>,
}

fn main() {
    let number = |index: usize, default: usize| {
        std::env::args()
            .nth(index)
            .and_then(|word| word.parse().ok())
            .unwrap_or(default)
    };
    let (rounds, trips, octets) = (number(1, 4), number(2, 50_000), number(3, 60).max(60));
    if let Err(error) = measure(rounds, trips, octets) {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(3);
    }
}

fn measure(rounds: usize, trips: usize, octets: usize) -> Result<(), SysError> {
    memory::lock_all()?;
    let mut results: [Vec<Round>; ENGINES.len()] = Default::default();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..ENGINES.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let engine = ENGINES[index].0;
            let (near, far) = bed()?;
            let ports = (
                near.run(|| Port::open(engine, "a0"))??,
                far.run(|| Port::open(engine, "b0"))??,
            );
            // Each blocking trip takes ten times as long.
            let trips = if engine == Engine::Block { trips / 10 } else { trips };
            results[index].push(run(engine, ports, trips, octets)?);
        }
    }
    let _ = std::io::stdout().write_all(table(&results).as_bytes());
    Ok(())
}

/// A new pair for each run, so that none finds what another left behind.
fn bed() -> Result<(NetNs, NetNs), SysError> {
    let (near, far) = (NetNs::create()?, NetNs::create()?);
    near.run(|| link::add_veth("a0", "b0", &far).and_then(|()| link::set_up("a0")))??;
    far.run(|| link::set_up("b0"))??;
    while !near.run(|| link::find("a0"))??.carrier || !far.run(|| link::find("b0"))??.carrier {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok((near, far))
}

fn run(engine: Engine, ports: (Port, Port), trips: usize, octets: usize) -> Result<Round, SysError> {
    let (mut initiator, mut reflector) = ports;
    let cpus = allowed_cpus();
    let real_time = |cpu| {
        RtThread {
            policy: Policy::Fifo(10),
            cpu,
            stack_bytes: 64 << 10,
        }
        .enter()
    };
    let stop = AtomicBool::new(false);
    let mut round_trips = vec![0; trips + WARM_UP];
    std::thread::scope(|scope| {
        let far_end = scope.spawn(|| {
            real_time(cpus.first()).and_then(|()| reflect(&mut reflector, octets, engine == Engine::Block, &stop))
        });
        let near_end = scope.spawn(|| {
            let outcome = real_time(cpus.iter().last())
                .and_then(|()| initiate(&mut initiator, octets, engine == Engine::Block, &mut round_trips));
            stop.store(true, Ordering::Relaxed);
            outcome
        });
        let near_end = near_end.join().expect("no panic");
        far_end.join().expect("no panic").and(near_end)
    })
    .map(|event| summary(&mut round_trips[WARM_UP..], event))
}

/// Returns what it takes to take one transmit event, if there were any.
fn initiate(port: &mut Port, octets: usize, block: bool, round_trips: &mut [i64]) -> Result<Option<i64>, SysError> {
    let mut frame = vec![0; octets];
    let mut answer = frame.clone();
    frame[..6].fill(0xff);
    frame[6] = 2;
    frame[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
    let (mut events, mut taking_ns) = (0, 0);
    let mut rested = clock::monotonic();
    for round_trip in round_trips {
        let mut sent = clock::monotonic();
        if sent - rested > BURST_NS {
            sys::wait::sleep_until(sent + REST_NS);
            rested = clock::monotonic();
            sent = rested;
        }
        port.send(&frame)?;
        let mut looks = 0;
        while !port.take(&mut answer) {
            looks += 1;
            if looks % LOOKS_PER_CLOCK == 0 && clock::monotonic() - sent > GIVE_UP_NS {
                break;
            }
            if block {
                port.wait(1_000_000)?;
            }
        }
        *round_trip = clock::monotonic() - sent;
        let (count, ns) = port.take_events()?;
        (events, taking_ns) = (events + count, taking_ns + ns);
    }
    Ok((events > 0).then(|| taking_ns / events))
}

fn reflect(port: &mut Port, octets: usize, block: bool, stop: &AtomicBool) -> Result<(), SysError> {
    let mut answer = vec![0; octets];
    let (mut looks, mut last) = (0_u32, clock::monotonic());
    while !stop.load(Ordering::Relaxed) {
        if port.take(&mut answer) {
            port.send(&answer)?;
            port.take_events()?;
            (looks, last) = (0, clock::monotonic());
            continue;
        }
        looks += 1;
        if block || (looks % LOOKS_PER_CLOCK == 0 && clock::monotonic() - last > IDLE_NS) {
            port.wait(1_000_000)?;
            last = clock::monotonic();
        }
    }
    Ok(())
}

fn summary(round_trips: &mut [i64], event: Option<i64>) -> Round {
    round_trips.sort_unstable();
    let at = |part: f64| round_trips[((round_trips.len() - 1) as f64 * part) as usize];
    Round {
        least: at(0.0),
        median: at(0.5),
        p99: at(0.99),
        p999: at(0.999),
        lost: round_trips.iter().filter(|ns| **ns >= GIVE_UP_NS).count(),
        event,
    }
}

fn table(results: &[Vec<Round>]) -> String {
    let mut text = format!(
        "{:<40}{:>8}{:>8}{:>8}{:>8}{:>6}{:>12}\n",
        "engine (round trip, ns)", "min", "median", "p99", "p99.9", "lost", "per event"
    );
    for ((_, name), rounds) in ENGINES.iter().zip(results) {
        let middle = |of: fn(&Round) -> i64| {
            let mut values: Vec<i64> = rounds.iter().map(of).collect();
            values.sort_unstable();
            values[values.len() / 2]
        };
        let lost: usize = rounds.iter().map(|round| round.lost).sum();
        let event = if rounds.iter().any(|round| round.event.is_some()) {
            middle(|round| round.event.unwrap_or_default()).to_string()
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "{name:<40}{:>8}{:>8}{:>8}{:>8}{lost:>6}{event:>12}",
            middle(|round| round.least),
            middle(|round| round.median),
            middle(|round| round.p99),
            middle(|round| round.p999),
        );
    }
    text
}
