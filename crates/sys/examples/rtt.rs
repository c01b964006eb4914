//! Round trip of two spinning packet ports over a veth pair, back to back: what the port itself costs.
//!
//! ```sh
//! cargo run --release -p triptime-sys --example rtt -- [ROUNDS [FRAME_OCTETS]]
//! ```
//!
//! The initiator runs on the last CPU this process may use, the reflector on the first, both with SCHED_FIFO. Rounds come in
//! bursts with a rest in between, so that `kernel.sched_rt_runtime_us` does not stall the spinning threads.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions, RingStatistics};
use sys::thread::{Policy, RtThread, allowed_cpus};
use sys::{SysError, clock, link, memory};

const WARM_UP: usize = 200;
/// Spinning and resting: half the CPU, well below the 95 % the kernel allows real-time threads by default.
const BURST_NS: i64 = 50_000_000;
const REST_NS: i64 = 50_000_000;
/// A frame that takes longer is lost.
const GIVE_UP_NS: i64 = 100_000_000;

fn main() {
    let number = |index: usize, default: usize| {
        std::env::args()
            .nth(index)
            .and_then(|word| word.parse().ok())
            .unwrap_or(default)
    };
    if let Err(error) = measure(number(1, 20_000), number(2, 60).max(60)) {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(3);
    }
}

fn measure(rounds: usize, octets: usize) -> Result<(), SysError> {
    let (near, far) = (NetNs::create()?, NetNs::create()?);
    near.run(|| link::add_veth("a0", "b0", &far).and_then(|()| link::set_up("a0")))??;
    far.run(|| link::set_up("b0"))??;
    while !near.run(|| link::find("a0"))??.carrier || !far.run(|| link::find("b0"))??.carrier {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let options = PortOptions {
        ethertypes: vec![0x88b5],
        ring_frames: 256,
        ..PortOptions::default()
    };
    let mut initiator = near.run(|| PacketPort::open("a0", &options))??;
    let mut reflector = far.run(|| PacketPort::open("b0", &options))??;
    memory::lock_all()?;
    let cpus = allowed_cpus();
    let real_time = |cpu| {
        RtThread {
            policy: Policy::Fifo(10),
            cpu,
            stack_bytes: 64 << 10,
        }
        .enter()
    };
    let (stop, mut round_trips) = (AtomicBool::new(false), vec![0; rounds + WARM_UP]);
    std::thread::scope(|scope| {
        let far_end = scope.spawn(|| real_time(cpus.first()).and_then(|()| reflect(&mut reflector, octets, &stop)));
        let near_end = scope.spawn(|| {
            let outcome =
                real_time(cpus.iter().last()).and_then(|()| initiate(&mut initiator, octets, &mut round_trips));
            stop.store(true, Ordering::Relaxed);
            outcome
        });
        let ended = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        ended(near_end).and(ended(far_end))
    })?;
    report(&mut round_trips[WARM_UP..], initiator.statistics()?);
    Ok(())
}

fn initiate(port: &mut PacketPort, octets: usize, round_trips: &mut [i64]) -> Result<(), SysError> {
    let mut frame = vec![0; octets];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&port.mac());
    frame[12..14].copy_from_slice(&0x88b5_u16.to_be_bytes());
    let mut rested = clock::monotonic();
    for round_trip in round_trips {
        let mut sent = clock::monotonic();
        if sent - rested > BURST_NS {
            sys::wait::sleep_until(sent + REST_NS);
            rested = clock::monotonic();
            sent = rested;
        }
        port.send(&frame)?;
        while port.next().is_none() && clock::monotonic() - sent < GIVE_UP_NS {}
        *round_trip = clock::monotonic() - sent;
    }
    Ok(())
}

fn reflect(port: &mut PacketPort, octets: usize, stop: &AtomicBool) -> Result<(), SysError> {
    let mut answer = vec![0; octets];
    while !stop.load(Ordering::Relaxed) {
        if !port.wait(1_000_000)? {
            continue;
        }
        let mut last = clock::monotonic();
        while clock::monotonic() - last < 1_000_000 {
            let Some(frame) = port.next() else { continue };
            answer.copy_from_slice(frame.data());
            drop(frame);
            port.send(&answer)?;
            last = clock::monotonic();
        }
    }
    Ok(())
}

fn report(round_trips: &mut [i64], ring: RingStatistics) {
    round_trips.sort_unstable();
    let at = |part: f64| round_trips[((round_trips.len() - 1) as f64 * part) as usize];
    let line = format!(
        "{} round trips: min {} median {} p99 {} p99.9 {} max {} ns; {} frames dropped, {} lost\n",
        round_trips.len(),
        at(0.0),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
        ring.dropped,
        round_trips.iter().filter(|ns| **ns >= GIVE_UP_NS).count()
    );
    let _ = std::io::stdout().write_all(line.as_bytes());
}
