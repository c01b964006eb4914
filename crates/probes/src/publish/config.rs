//! What is to be published.

use super::waveform::Waveform;
use std::sync::Arc;
use sys::thread::Policy;
use wire::ether::{Mac, VlanTag};

/// One stream, as its merging unit publishes it.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// svID, 1 to 129 octets of visible ASCII.
    pub sv_id: String,
    /// Dataset reference; left out of the frames when there is none, as 9-2LE wants.
    pub dat_set: Option<String>,
    /// Destination.
    pub destination: Mac,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// APPID.
    pub appid: u16,
    /// confRev.
    pub conf_rev: u32,
    /// smpSynch.
    pub smp_synch: u8,
    /// Simulation bit.
    pub simulate: bool,
    /// Samples a second.
    pub rate: u32,
    /// ASDUs in a frame, 1 to 8, a divisor of the rate.
    pub asdus: u8,
    /// smpRate in the frames; left out where there is none, as 9-2LE wants.
    pub smp_rate: Option<u16>,
    /// smpMod in the frames.
    pub smp_mod: Option<u16>,
    /// What it measures, made for this rate.
    pub waveform: Arc<Waveform>,
    /// Samples by which its waveform runs ahead.
    pub ahead: u32,
}

impl StreamConfig {
    /// Frames a second.
    pub fn frames_per_second(&self) -> u64 {
        u64::from(self.rate) / u64::from(self.asdus.max(1))
    }

    /// The stream as number `number` of a set: its svID gets a number of two or more digits from 01, and its destination and
    /// the name of its data count up.
    #[must_use]
    pub fn numbered(&self, number: u16) -> Self {
        Self {
            sv_id: format!("{}{:02}", self.sv_id, u32::from(number) + 1),
            destination: counted_up(self.destination, number),
            ..self.clone()
        }
    }
}

impl Default for StreamConfig {
    /// A 9-2LE stream of 4800 samples a second without a number: svID `MU`.
    fn default() -> Self {
        Self {
            sv_id: "MU".into(),
            dat_set: None,
            destination: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]),
            vlan: None,
            appid: 0x4000,
            conf_rev: 1,
            smp_synch: 2,
            simulate: false,
            rate: 4_800,
            asdus: 1,
            smp_rate: None,
            smp_mod: None,
            waveform: Arc::new(Waveform::new(4_800)),
            ahead: 0,
        }
    }
}

/// Which streams are to be published, and how.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// The streams. Those of one rate and number of ASDUs are due together.
    pub streams: Vec<StreamConfig>,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// How long to publish; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

impl Default for PublishConfig {
    /// One 9-2LE stream of 4800 samples a second, `MU01`, at normal priority, until told to stop.
    fn default() -> Self {
        Self {
            streams: vec![StreamConfig::default().numbered(0)],
            spin_ahead_ns: 0,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            threshold_ns: None,
        }
    }
}

/// The first stream's address plus `number`, in the last two octets.
fn counted_up(first: Mac, number: u16) -> Mac {
    let mut octets = first.0;
    let last = u16::from_be_bytes([octets[4], octets[5]]).wrapping_add(number);
    octets[4..].copy_from_slice(&last.to_be_bytes());
    Mac(octets)
}

#[cfg(test)]
mod tests {
    use super::counted_up;
    use wire::ether::Mac;

    #[test]
    fn destinations_count_up() {
        let first = Mac([1, 0x0c, 0xcd, 4, 0, 0xff]);
        assert_eq!(counted_up(first, 0), first);
        assert_eq!(counted_up(first, 1), Mac([1, 0x0c, 0xcd, 4, 1, 0]));
    }
}
