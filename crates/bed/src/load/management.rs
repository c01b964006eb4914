//! Engineering, time and MMS traffic over the management network of a bed: requests to a device, which its kernel answers.

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_bytes, check_range};
use super::settings::size_text;
use super::workers::{Turn, Workers, in_turn};
use crate::bed::StationWay;
use serde::Deserialize;
use std::path::Path;
use sys::SysError;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions, TxBatch};
use sys::wait::sleep_until;
use units::CpuList;
use wire::echo::{Echo, IPV4};

/// Shortest and longest Ethernet frame without FCS and VLAN tag (IEEE Std 802.3).
const LEAST_BYTES: u64 = 60;
const MOST_BYTES: usize = 1514;
/// Largest number of frames per second: a thread cannot send more one by one.
const MOST_RATE: u64 = 1_000_000;
/// Frames per system call: as many as a NIC's driver processes in one poll (`NAPI_POLL_WEIGHT`). After a longer delay a thread sends at most this
/// many overdue frames.
const BATCH: usize = 64;
/// Number of answers that can wait to be counted.
const RING: usize = 1024;
/// Identifier that distinguishes our answers from others.
const IDENTIFIER: u16 = 0x7454;
/// Time that the last answers may take: an emulated guest is slow.
const LAST_NS: i64 = 200_000_000;
/// Longest sleep of an idle sender, in ns; then it checks the stop flag.
const LONGEST_NS: i64 = 100_000_000;

/// Number of frames per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Rate {
    /// This many.
    Frames(u32),
    /// As many as a thread of ordinary priority can send: an overload.
    Most,
}

impl TryFrom<toml::Value> for Rate {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = value
            .as_integer()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (1..=MOST_RATE).contains(&u64::from(*number)));
        match (number, value.as_str()) {
            (Some(number), _) => Ok(Self::Frames(number)),
            (_, Some("max")) => Ok(Self::Most),
            _ => Err(format!(
                "{value} is not a rate: write frames a second, 1 to {MOST_RATE}, or \"max\""
            )),
        }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frames(number) => write!(f, "{number} frames/s"),
            Self::Most => f.write_str("as many frames as a thread sends"),
        }
    }
}

/// A thread that sends requests to one device, and counts the answers.
///
/// Needs `CAP_SYS_ADMIN` and `CAP_NET_RAW`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagementLoad {
    /// Frames per second.
    pub rate: Rate,
    /// Bytes of a frame without FCS: 60 to 1514. The answer has the same length.
    pub bytes: usize,
    /// The path to the device.
    pub way: StationWay,
}

impl ManagementLoad {
    pub(super) const NAME: &str = "management";

    /// Default size of a frame in bytes: the longest, as in a file transfer.
    pub const BYTES: usize = MOST_BYTES;

    /// Refuses impossible frame sizes.
    ///
    /// # Errors
    /// The allowed range in bytes.
    pub fn check_bytes(bytes: u64) -> Result<(), String> {
        check_bytes(Self::NAME, "bytes", bytes, LEAST_BYTES..=MOST_BYTES as u64).map_err(|error| error.rule)
    }
}

impl ThreadLoad for ManagementLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![("rate", self.rate.to_string()), ("bytes", size_text(self.bytes as u64))]
    }

    fn check(&self) -> Result<(), AmountError> {
        check_bytes(Self::NAME, "bytes", self.bytes as u64, LEAST_BYTES..=MOST_BYTES as u64)?;
        match self.rate {
            Rate::Most => Ok(()),
            Rate::Frames(rate) => check_range(Self::NAME, "rate", rate.into(), 1..=MOST_RATE, |rate| rate.to_string()),
        }
    }

    fn describe(&self) -> String {
        let Self { rate, bytes, way } = self;
        format!("{rate} of {bytes} octets to {}, answered by the kernel there", way.who)
    }

    fn unit(&self) -> &'static str {
        "answers"
    }

    fn extra_unit(&self) -> Option<&'static str> {
        Some("frames sent")
    }

    fn idle(&self) -> (&'static str, bool) {
        ("nothing came back over the management network", true)
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let refused = |source: SysError| LoadError::Refused {
            load: format!("{} load", Self::NAME),
            source,
        };
        let no_cpu = || LoadError::NoCpu {
            load: format!("{} load", Self::NAME),
        };
        let cpu = in_turn(cpus).next().ok_or_else(no_cpu)?;
        let mut sender = Sender::open(self).map_err(refused)?;
        let rate = self.rate;
        let mut workers = Workers::new(Self::NAME);
        workers.spawn(cpu, move |turn| {
            let done = match rate {
                Rate::Most => sender.as_fast_as_it_can(turn),
                Rate::Frames(rate) => sender.paced(rate.into(), turn),
            };
            done.and_then(|()| sender.take_the_last(turn))
                .map_err(units::Refusal::new)
        })?;
        Ok(workers)
    }
}

/// The station's end.
struct Sender {
    port: PacketPort,
    echo: Echo,
    batch: TxBatch,
    sent: u64,
    answers: u64,
}

impl Sender {
    fn open(load: &ManagementLoad) -> Result<Self, SysError> {
        let way = &load.way;
        let options = PortOptions {
            ethertypes: vec![IPV4],
            ring_frames: RING,
            frame_bytes: MOST_BYTES,
            rx_stamps: false,
            vlan_tags: false,
            ..PortOptions::default()
        };
        let namespace = NetNs::open(Path::new(&way.namespace))?;
        let port = namespace.run(|| PacketPort::open(&way.interface, &options))??;
        let echo = Echo {
            to_mac: way.to_mac,
            from_mac: port.mac(),
            to: way.to.octets(),
            from: way.from.octets(),
            identifier: IDENTIFIER,
        };
        let mut batch = TxBatch::new(BATCH, load.bytes);
        (0..BATCH).for_each(|index| echo.write(batch.frame_mut(index)));
        Ok(Self {
            port,
            echo,
            batch,
            sent: 0,
            answers: 0,
        })
    }

    fn as_fast_as_it_can(&mut self, turn: &Turn) -> Result<(), SysError> {
        while turn.goes_on() {
            self.send(BATCH, turn)?;
            self.count(turn);
        }
        Ok(())
    }

    /// Sends each frame at its due time, computed from its number, so that a late frame does not delay the following ones.
    fn paced(&mut self, rate: u64, turn: &Turn) -> Result<(), SysError> {
        let begin = sys::clock::monotonic();
        // Number of frames that were due so far, sent or skipped.
        let mut done = 0_u64;
        while turn.goes_on() {
            let elapsed_ns = u128::try_from(sys::clock::monotonic() - begin).unwrap_or(0);
            let due = u64::try_from(elapsed_ns * u128::from(rate) / 1_000_000_000).unwrap_or(u64::MAX);
            let overdue = usize::try_from(due.saturating_sub(done)).unwrap_or(usize::MAX);
            if overdue > 0 {
                self.send(overdue.min(BATCH), turn)?;
                done = due;
            }
            self.count(turn);
            let next_ns = u128::from(done + 1) * 1_000_000_000 / u128::from(rate);
            let next = begin + i64::try_from(next_ns).unwrap_or(i64::MAX);
            sleep_until(next.min(sys::clock::monotonic() + LONGEST_NS));
        }
        Ok(())
    }

    fn send(&mut self, frames: usize, turn: &Turn) -> Result<(), SysError> {
        self.batch.set_count(frames);
        match self.port.send_batch(&mut self.batch) {
            Ok(sent) => {
                self.sent += sent as u64;
                turn.did_extra(sent as u64);
                Ok(())
            }
            // The queue is full: the remaining frames are not sent.
            Err(error) if error.is_transient() => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn count(&mut self, turn: &Turn) {
        let mut answers = 0;
        while let Some(frame) = self.port.next() {
            answers += u64::from(self.echo.is_answered_by(frame.data()));
        }
        self.answers += answers;
        turn.did(answers);
    }

    /// Receives the last answers after the stop request.
    fn take_the_last(&mut self, turn: &Turn) -> Result<(), SysError> {
        let until = sys::clock::monotonic() + LAST_NS;
        loop {
            self.count(turn);
            let left_ns = until - sys::clock::monotonic();
            if self.answers >= self.sent || left_ns <= 0 {
                return Ok(());
            }
            self.port.wait(left_ns.unsigned_abs())?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ManagementLoad, Rate};

    #[test]
    fn a_rate_is_a_number_of_frames_or_the_most() {
        let of = |text: &str| {
            let table: toml::Table = toml::from_str(&format!("rate = {text}")).expect("TOML");
            Rate::try_from(table["rate"].clone())
        };
        assert_eq!((of("500"), of("\"max\"")), (Ok(Rate::Frames(500)), Ok(Rate::Most)));
        for wrong in ["0", "-1", "2000000", "\"some\"", "1.5"] {
            let refused = of(wrong).expect_err(wrong);
            assert!(refused.contains(wrong) && refused.contains("\"max\""), "{refused}");
        }
        assert!(
            ManagementLoad::check_bytes(59)
                .expect_err("short")
                .contains("60 to 1514")
        );
        assert_eq!(ManagementLoad::check_bytes(1514), Ok(()));
    }
}
