//! Marks in the header of a stream that must not go unseen, and the contents of a sample.

use super::Frame;
use crate::ether::Mac;
use crate::sequence::{Contents, Sequence, What};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Header fields of one stream, as they came last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Source address.
    pub source: Mac,
    /// Simulation bit.
    pub simulate: bool,
    /// confRev of the first ASDU.
    pub conf_rev: u32,
}

impl Marks {
    /// The marks of a frame.
    pub fn of(frame: &Frame<'_>) -> Self {
        Self {
            source: frame.ethernet().src(),
            simulate: frame.simulate(),
            conf_rev: frame.asdus().next().map_or(0, |asdu| asdu.conf_rev()),
        }
    }

    /// Takes those of the next frame; what changed is found in the stream's sequence.
    pub fn follow(&mut self, frame: &Frame<'_>, sequence: &mut Sequence) {
        let now = Self::of(frame);
        let before = std::mem::replace(self, now);
        if now.source != before.source {
            sequence.source_changed(before.source, now.source);
        }
        if now.simulate != before.simulate {
            sequence.find(What::Simulation, u64::from(before.simulate), u64::from(now.simulate));
        }
        if now.conf_rev != before.conf_rev {
            sequence.find(What::ConfRev, u64::from(before.conf_rev), u64::from(now.conf_rev));
        }
    }
}

/// Makes fingerprints of contents, with a key of its own: nobody who does not know it can make two contents alike.
#[derive(Debug, Clone, Default)]
pub struct Fingerprints(RandomState);

impl Fingerprints {
    /// With a new key.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fingerprint of a sample: of its seqData and its smpSynch.
    #[inline]
    pub fn of(&self, seq_data: &[u8], smp_synch: Option<u8>) -> Contents {
        let mut hasher = self.0.build_hasher();
        hasher.write(seq_data);
        hasher.write_u16(smp_synch.map_or(u16::MAX, u16::from));
        Contents::new(hasher.finish() as u32).unwrap_or(Contents::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprints;

    #[test]
    fn other_contents_have_another_fingerprint() {
        let prints = Fingerprints::new();
        let print = prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2));
        assert_eq!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 9], Some(2)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], Some(0)));
        assert_ne!(print, prints.of(&[1, 2, 3, 4, 5, 6, 7, 8], None));
    }
}
