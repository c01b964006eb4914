//! Profiles by name: samples per second, ASDUs per frame, and quantities.

use std::fmt;
use std::str::FromStr;

/// Contents and rate of a stream, in the notation of IEC 61869-9: `F4800S2I4U4` is 4800 samples per second, 2 ASDUs in
/// a frame, 4 currents and 4 voltages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Samples per second.
    pub rate: u32,
    /// ASDUs in a frame.
    pub asdus: u8,
    /// Currents in an ASDU.
    pub currents: u8,
    /// Voltages in an ASDU.
    pub voltages: u8,
}

/// Why a text is not a profile, or a profile is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The text matches neither notation.
    #[error(
        "`{0}` is not a profile: write it as F4800S2I4U4 (samples a second, ASDUs in a frame, currents, voltages), or as 6I3U for 4800 samples a second, 2 in a frame"
    )]
    Notation(String),
    /// The rate does not fit in smpCnt, which has 16 bits.
    #[error("{0}: smpCnt counts at most 65536 samples a second, and at least 1 is needed")]
    Rate(Profile),
    /// More ASDUs than a frame may have here.
    #[error("{0}: a frame carries 1 to {max} ASDUs", max = super::MAX_ASDUS)]
    Asdus(Profile),
    /// A second does not consist of a whole number of frames.
    #[error(
        "{0}: a second has to be a whole number of frames: {rate} samples a second are not divisible by {asdus} ASDUs",
        rate = .0.rate,
        asdus = .0.asdus
    )]
    Uneven(Profile),
    /// More or fewer quantities than a stream may carry.
    #[error("{0}: a stream carries 1 to {max} quantities", max = Profile::MOST_CHANNELS)]
    Channels(Profile),
    /// The frame would be too long for Ethernet.
    #[error("{0}: its frames would not fit into Ethernet: use fewer ASDUs, or fewer quantities")]
    TooLong(Profile),
}

impl Profile {
    /// Maximum number of quantities in a stream (IEC 61869-9).
    pub const MOST_CHANNELS: u8 = 24;

    /// The preferred profile of IEC 61869-9 for protection, for any system frequency.
    pub const F4800S2I4U4: Self = Self::with_i4u4(4_800, 2);

    /// The dataset of 9-2LE, 4 currents and 4 voltages.
    pub const fn with_i4u4(rate: u32, asdus: u8) -> Self {
        Self {
            rate,
            asdus,
            currents: 4,
            voltages: 4,
        }
    }

    /// Number of quantities in an ASDU.
    pub const fn channels(self) -> u8 {
        self.currents.saturating_add(self.voltages)
    }

    /// Frames per second.
    pub fn frames_per_second(self) -> u32 {
        self.rate / u32::from(self.asdus.max(1))
    }

    /// Checks everything that does not depend on names and addresses.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(self) -> Result<Self, ProfileError> {
        if !(1..=65_536).contains(&self.rate) {
            return Err(ProfileError::Rate(self));
        }
        if !(1..=super::MAX_ASDUS).contains(&usize::from(self.asdus)) {
            return Err(ProfileError::Asdus(self));
        }
        if !self.rate.is_multiple_of(u32::from(self.asdus)) {
            return Err(ProfileError::Uneven(self));
        }
        let channels = u32::from(self.currents) + u32::from(self.voltages);
        if !(1..=u32::from(Self::MOST_CHANNELS)).contains(&channels) {
            return Err(ProfileError::Channels(self));
        }
        if self.least_apdu() > crate::header::MAX_APDU {
            return Err(ProfileError::TooLong(self));
        }
        Ok(self)
    }

    /// Octets of the APDU with an svID of one character and no optional field.
    fn least_apdu(self) -> usize {
        /// svID with one character, smpCnt, confRev, smpSynch, and the heads of seqData and of the ASDU in their short
        /// form.
        const FIELDS: usize = 3 + 4 + 6 + 3 + 2 + 2;
        usize::from(self.asdus) * (FIELDS + usize::from(self.channels()) * super::MEMBER)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{}S{}I{}U{}", self.rate, self.asdus, self.currents, self.voltages)
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let upper = text.trim().to_ascii_uppercase();
        letters_first(&upper)
            .or_else(|| numbers_first(&upper))
            .ok_or_else(|| ProfileError::Notation(text.to_owned()))?
            .check()
    }
}

/// Reads `F4800S2I4U4`; without quantities, those of 9-2LE are used.
fn letters_first(text: &str) -> Option<Profile> {
    let (rate, rest) = text.strip_prefix('F')?.split_once('S')?;
    let (asdus, quantities) = match rest.split_once('I') {
        Some((asdus, quantities)) => (asdus, quantities.split_once('U')?),
        None => (rest, ("4", "4")),
    };
    Some(Profile {
        rate: number(rate)?,
        asdus: number(asdus)?,
        currents: number(quantities.0)?,
        voltages: number(quantities.1)?,
    })
}

/// Reads `6I3U`: only the quantities, at the preferred rate.
fn numbers_first(text: &str) -> Option<Profile> {
    let (currents, voltages) = text.strip_suffix('U')?.split_once('I')?;
    Some(Profile {
        currents: number(currents)?,
        voltages: number(voltages)?,
        ..Profile::F4800S2I4U4
    })
}

/// Reads digits only: `parse` alone would also accept a sign.
fn number<N: FromStr>(digits: &str) -> Option<N> {
    let plain = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::{Profile, ProfileError};

    fn parsed(text: &str) -> Result<Profile, ProfileError> {
        text.parse()
    }

    #[test]
    fn the_profiles_in_use() {
        for (name, frames) in [
            ("F4000S1I4U4", 4_000),
            ("F4800S1I4U4", 4_800),
            ("F4800S2I4U4", 2_400),
            ("F5760S1I4U4", 5_760),
            ("F12800S8I4U4", 1_600),
            ("F14400S6I4U4", 2_400),
            ("F15360S8I4U4", 1_920),
            ("F4800S2I6U3", 2_400),
            ("F4800S1I24U0", 4_800),
        ] {
            let profile = parsed(name).expect(name);
            assert_eq!(profile.to_string(), name);
            assert_eq!(profile.frames_per_second(), frames, "{name}");
        }
        assert_eq!(
            parsed("6I3U").map(|profile| profile.to_string()),
            Ok("F4800S2I6U3".into())
        );
        assert_eq!(parsed("f4800s2"), Ok(Profile::F4800S2I4U4));
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, part) in [
            ("", "is not a profile"),
            ("F4800", "is not a profile"),
            ("F+4800S2I4U4", "is not a profile"),
            ("F4800S2I4U", "is not a profile"),
            ("F4800S2I4U4X", "is not a profile"),
            ("F4800S2I300U1", "is not a profile"),
            ("F0S1I4U4", "at least 1"),
            ("F96000S1I4U4", "65536"),
            ("F4800S0I4U4", "1 to 16 ASDUs"),
            ("F4800S7I4U4", "not divisible by 7"),
            ("F4800S2I0U0", "1 to 24 quantities"),
            ("F4800S2I200U200", "1 to 24 quantities"),
            ("F4800S8I20U4", "would not fit"),
        ] {
            let error = parsed(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_fit_is_that_of_the_encoder() {
        use crate::sv::{Message, OwnedAsdu};
        for asdus in 1..=8u8 {
            for channels in 1..=24u8 {
                let profile = Profile {
                    rate: 4_800 * 7,
                    asdus,
                    currents: channels,
                    voltages: 0,
                };
                let asdu = OwnedAsdu::new("M", 1, 2, &vec![(0, Default::default()); usize::from(channels)]);
                let message = Message {
                    dst: Default::default(),
                    src: Default::default(),
                    tags: Vec::new(),
                    appid: 0x4000,
                    simulate: false,
                    asdus: vec![asdu; usize::from(asdus)],
                };
                if message.encode().is_ok() {
                    assert_eq!(profile.check(), Ok(profile), "it can be encoded");
                }
            }
        }
    }
}
