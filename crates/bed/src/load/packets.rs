//! Threads that send frames to themselves through a veth pair: network softirqs.

use std::time::Duration;

use sys::SysError;
use sys::link;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions, TxBatch};
use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_bytes, check_count, given, threads_text};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text};
use super::workers::{Turn, Workers, placed};

/// Threads that send Ethernet frames into one end of a veth pair and receive them at the other. The kernel receives them in the `NET_RX` softirq of
/// the sending CPU. The pairs are in a separate network namespace, which is removed with the load.
///
/// Needs `CAP_SYS_ADMIN`, `CAP_NET_ADMIN` and `CAP_NET_RAW`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketLoad {
    /// Bytes of a frame without FCS: 60 to 1514.
    pub bytes: usize,
    /// Number of threads with a veth pair each, distributed over the CPUs in turn; `None`: one per CPU.
    pub threads: Option<usize>,
}

/// Short frames, because the cost of a softirq depends on the number of frames, not of bytes.
const BYTES: usize = 64;
/// Shortest and longest Ethernet frame without FCS and VLAN tag (IEEE Std 802.3).
const LEAST_BYTES: u64 = 60;
const MOST_BYTES: usize = 1514;
/// Local experimental EtherType 1 (IEEE Std 802-2014, 9.2.4): no protocol of the kernel takes it.
const ETHERTYPE: u16 = 0x88b5;
/// Frames per system call: as many as a NIC's driver processes in one poll (`NAPI_POLL_WEIGHT`).
const BATCH: usize = 64;
/// Capacity of the receiving end in frames: several batches, for delayed softirqs.
const RING: usize = 512;
/// Number of checks if a new veth pair passes frames, and the pause between them.
const LOOKS: usize = 400;
const PAUSE: Duration = Duration::from_millis(5);

impl Default for PacketLoad {
    /// Frames of 64 bytes, one thread per CPU.
    fn default() -> Self {
        Self {
            bytes: BYTES,
            threads: None,
        }
    }
}

impl PacketLoad {
    pub(super) const NAME: &str = "packets";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        let bytes = settings.bytes("bytes")?;
        Ok(Self {
            bytes: bytes.map_or(BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            threads: settings.count("threads")?,
        })
    }
}

impl ThreadLoad for PacketLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        std::iter::once(("bytes", size_text(self.bytes as u64)))
            .chain(given("threads", self.threads))
            .collect()
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "threads", self.threads.unwrap_or(1))?;
        check_bytes(Self::NAME, "bytes", self.bytes as u64, LEAST_BYTES..=MOST_BYTES as u64)
    }

    fn describe(&self) -> String {
        let threads = threads_text(self.threads);
        format!("{threads}, frames of {} octets over a veth pair each", self.bytes)
    }

    fn unit(&self) -> &'static str {
        "frames"
    }

    fn extra_unit(&self) -> Option<&'static str> {
        Some("frames lost")
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let refused = |source: SysError| LoadError::Refused {
            load: format!("{} load", Self::NAME),
            source,
        };
        let namespace = NetNs::create().map_err(refused)?;
        let mut workers = Workers::new(Self::NAME);
        for (index, cpu) in placed(self.threads, cpus).enumerate() {
            let pair = namespace.run(|| Pair::make(index, &namespace, self.bytes));
            let mut pair = pair.and_then(|pair| pair).map_err(refused)?;
            workers.spawn(cpu, move |turn| pair.run(turn).map_err(units::Refusal::new))?;
        }
        // From now on the packet sockets keep the namespace; it is removed when the last of them closes.
        Ok(workers)
    }
}

/// A veth pair with a packet socket at each end.
struct Pair {
    sending: PacketPort,
    receiving: PacketPort,
    batch: TxBatch,
}

impl Pair {
    /// Makes pair number `index` in the calling thread's network namespace, which is `here`.
    fn make(index: usize, here: &NetNs, bytes: usize) -> Result<Self, SysError> {
        let (from, to) = (format!("tx{index}"), format!("rx{index}"));
        link::add_veth(&from, &to, here)?;
        link::set_up(&from)?;
        link::set_up(&to)?;
        wait_for_carrier(&from, &to)?;
        let sending = PacketPort::open(
            &from,
            &PortOptions {
                ring_frames: 0,
                ..PortOptions::default()
            },
        )?;
        let receiving = PacketPort::open(
            &to,
            &PortOptions {
                ethertypes: vec![ETHERTYPE],
                ring_frames: RING,
                frame_bytes: MOST_BYTES,
                ..PortOptions::default()
            },
        )?;
        let mut batch = TxBatch::new(BATCH, bytes);
        for index in 0..BATCH {
            let frame = batch.frame_mut(index);
            frame[..6].copy_from_slice(&receiving.mac());
            frame[6..12].copy_from_slice(&sending.mac());
            frame[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
        }
        Ok(Self {
            sending,
            receiving,
            batch,
        })
    }

    /// Repeatedly sends a batch and receives the arrived frames. Frames are counted on arrival.
    fn run(&mut self, turn: &Turn) -> Result<(), SysError> {
        while turn.goes_on() {
            match self.sending.send_batch(&mut self.batch) {
                Ok(_) => {}
                Err(error) if error.is_transient() => {}
                Err(error) => return Err(error),
            }
            let mut arrived = 0;
            while self.receiving.next().is_some() {
                arrived += 1;
            }
            turn.did(arrived);
        }
        turn.did_extra(self.receiving.statistics()?.dropped);
        Ok(())
    }
}

/// Waits for the carrier: a new pair passes frames a moment after both ends are up.
fn wait_for_carrier(from: &str, to: &str) -> Result<(), SysError> {
    for _ in 0..LOOKS {
        if link::find(from)?.carrier && link::find(to)?.carrier {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(SysError::Invalid {
        what: format!("the veth pair {from} and {to} passes no frames: it has no carrier"),
    })
}
