//! One stream.

use std::collections::HashMap;
use units::{Refusal, Refuse, refusal};
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::Profile;

/// A sampled-value stream to publish or to expect.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSpec {
    /// svID.
    pub sv_id: String,
    /// Destination.
    pub destination: Mac,
    /// APPID.
    pub appid: u16,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// confRev.
    pub conf_rev: u32,
    /// Samples a second.
    pub rate: u32,
    /// ASDUs in a frame.
    pub asdus: u8,
    /// Contents of an ASDU.
    pub content: Content,
    /// smpSynch to publish.
    pub smp_synch: u8,
    /// Simulation bit to publish.
    pub simulate: bool,
    /// Quality of every value to publish.
    pub quality: SvQuality,
    /// Degrees by which its waveform leads.
    pub phase_deg: f64,
    /// datSet to publish or to expect; `None` leaves it out of the frames, as 9-2LE requires, and received ones are not checked.
    pub dat_set: Option<String>,
    /// smpRate to publish or to expect; `None` leaves it out of the frames, as 9-2LE requires.
    pub smp_rate: Option<u16>,
    /// smpMod to publish; left out if it is the default, samples in a period.
    pub smp_mod: Option<u16>,
    /// Its origin, for a person: `bays.toml, line 3`.
    pub origin: String,
}

/// Contents of the seqData of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// INT32 values with quality: currents, then voltages.
    Channels {
        /// Currents.
        currents: u8,
        /// Voltages.
        voltages: u8,
    },
    /// Any other contents, which can be expected but not published.
    Other {
        /// Octets of seqData, if they are known.
        octets: Option<usize>,
        /// Reason why it cannot be published.
        why: String,
    },
}

impl Content {
    /// Octets of seqData, if they are known.
    pub fn octets(&self) -> Option<usize> {
        match self {
            Self::Channels { currents, voltages } => {
                Some((usize::from(*currents) + usize::from(*voltages)) * wire::sv::MEMBER)
            }
            Self::Other { octets, .. } => *octets,
        }
    }
}

impl StreamSpec {
    /// A stream with this name and the values that 9-2LE and IEC 61869-9 prefer: 4I4U, to the second address of the range for sampled values,
    /// untagged, APPID 0x4000, confRev 1, globally synchronised, of good quality.
    pub fn named(sv_id: &str) -> Self {
        let Profile { rate, asdus, .. } = Profile::F4800S2I4U4;
        Self {
            sv_id: sv_id.to_owned(),
            destination: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]),
            appid: 0x4000,
            vlan: None,
            conf_rev: 1,
            rate,
            asdus,
            content: Content::Channels {
                currents: 4,
                voltages: 4,
            },
            smp_synch: 2,
            simulate: false,
            quality: SvQuality::GOOD,
            phase_deg: 0.0,
            dat_set: None,
            smp_rate: None,
            smp_mod: None,
            origin: "command line".into(),
        }
    }

    /// Sets its rate, ASDUs and quantities by profile.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        Self {
            rate: profile.rate,
            asdus: profile.asdus,
            content: Content::Channels {
                currents: profile.currents,
                voltages: profile.voltages,
            },
            ..self
        }
    }

    /// Its profile, if it can be published.
    ///
    /// # Errors
    /// Reason why it cannot be published.
    pub fn profile(&self) -> Result<Profile, Refusal> {
        let refused =
            |refusal: Refusal| refusal!("{refusal} ({})", self.origin).of(format_args!("stream {}", self.sv_id));
        match &self.content {
            Content::Channels { currents, voltages } => Profile {
                rate: self.rate,
                asdus: self.asdus,
                currents: *currents,
                voltages: *voltages,
            }
            .check()
            .refused()
            .map_err(refused),
            Content::Other { why, .. } => Err(refused(refusal!("cannot be published: {why}"))),
        }
    }

    /// The stream as number `number` of a set: its svID gets a number of two or more digits from 01, and its destination increases.
    #[must_use]
    pub fn numbered(&self, number: u16) -> Self {
        Self {
            sv_id: format!("{}{:02}", self.sv_id, u32::from(number) + 1),
            destination: Self::counted_up(self.destination, number),
            ..self.clone()
        }
    }

    /// Frames a second.
    pub fn frames_per_second(&self) -> u64 {
        u64::from(self.rate) / u64::from(self.asdus.max(1))
    }

    /// The address of this stream plus `number`, in its last two octets.
    pub(crate) fn counted_up(first: Mac, number: u16) -> Mac {
        let mut octets = first.0;
        let last = u16::from_be_bytes([octets[4], octets[5]]).wrapping_add(number);
        octets[4..].copy_from_slice(&last.to_be_bytes());
        Mac(octets)
    }
}

/// Key by which a subscriber distinguishes streams: destination, VID, APPID, svID.
type Key = (Mac, Option<u16>, u16, String);

/// The streams of a set so far, to find two that a subscriber could not distinguish.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashMap<Key, String>);

impl Seen {
    /// Takes a further stream.
    ///
    /// # Errors
    /// There is already such a stream; the error names the origin of both.
    pub(crate) fn add(&mut self, stream: &StreamSpec) -> Result<(), Refusal> {
        let vid = stream.vlan.map(VlanTag::vid);
        let key = (stream.destination, vid, stream.appid, stream.sv_id.clone());
        if let Some(origin) = self.0.get(&key) {
            return Err(refusal!(
                "it is listed twice with the same svID, destination, VLAN and APPID: {origin} and {}",
                stream.origin
            )
            .of(format_args!("stream {}", stream.sv_id)));
        }
        self.0.insert(key, stream.origin.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::StreamSpec;
    use wire::ether::Mac;

    #[test]
    fn destinations_count_up() {
        let first = Mac([1, 0x0c, 0xcd, 4, 0, 0xff]);
        assert_eq!(StreamSpec::counted_up(first, 0), first);
        assert_eq!(StreamSpec::counted_up(first, 1), Mac([1, 0x0c, 0xcd, 4, 1, 0]));
    }
}
