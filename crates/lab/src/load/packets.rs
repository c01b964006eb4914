//! Threads that send frames over a veth pair of their own: the kernel receives each in a network softirq on the same CPU.

use sys::link;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions, TxBatch};
use units::CpuList;

use super::LoadError;
use super::workers::{Turn, Workers, in_turn};

const NAME: &str = "packet load";

/// Frames handed to the kernel in one call.
const BATCH: usize = 32;

/// Shortest and longest frame, without frame check sequence.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 60..=1514;

/// IEEE 802 local experimental EtherType: nobody answers.
const ETHERTYPE: [u8; 2] = [0x88, 0xb5];

pub(super) fn start(frame_bytes: usize, threads: usize, cpus: &CpuList) -> Result<Workers, LoadError> {
    if threads == 0 {
        return Err(LoadError::Nothing {
            what: "the number of threads",
        });
    }
    if !FRAME_BYTES.contains(&frame_bytes) {
        return Err(LoadError::Nothing {
            what: "the frame size (60 to 1514 octets)",
        });
    }
    let mut workers = Workers::new(NAME);
    for cpu in in_turn(cpus).take(threads) {
        let network = Network::build().map_err(|source| LoadError::Cpu {
            load: NAME.to_owned(),
            source,
        })?;
        workers.spawn(cpu, move |turn| send(&network, frame_bytes, turn))?;
    }
    Ok(workers)
}

/// Two namespaces without a name, gone with this value.
struct Network {
    port: PacketPort,
    _near: NetNs,
    _far: NetNs,
}

impl Network {
    fn build() -> Result<Self, sys::SysError> {
        let (near, far) = (NetNs::create()?, NetNs::create()?);
        near.run(|| {
            link::add_veth("load0", "load1", &far)?;
            link::disable_ipv6("load0");
            link::set_up("load0")
        })??;
        far.run(|| {
            link::disable_ipv6("load1");
            link::set_up("load1")
        })??;
        let options = PortOptions {
            ring_frames: 0,
            ..PortOptions::default()
        };
        let port = near.run(|| PacketPort::open("load0", &options))??;
        Ok(Self {
            port,
            _near: near,
            _far: far,
        })
    }
}

fn send(network: &Network, frame_bytes: usize, turn: &Turn) -> Result<(), String> {
    let mut batch = TxBatch::new(BATCH, frame_bytes);
    for index in 0..BATCH {
        let frame = batch.frame_mut(index);
        frame[..6].fill(0xff);
        frame[6..12].copy_from_slice(&network.port.mac());
        frame[12..14].copy_from_slice(&ETHERTYPE);
        batch.set_len(index, frame_bytes);
    }
    batch.set_count(BATCH);
    while turn.goes_on() {
        match network.port.send_batch(&mut batch) {
            Ok(sent) => turn.did(sent as u64),
            Err(error) if error.is_transient() => std::thread::yield_now(),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}
