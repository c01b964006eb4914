//! What tells one stream from another.

use wire::ether::{Mac, VlanTag};
use wire::sv::{Frame, MAX_NAME};

/// Destination, VLAN, APPID and svID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) destination: Mac,
    pub(super) vid: Option<u16>,
    pub(super) appid: u16,
    sv_id: [u8; MAX_NAME],
    /// Octets of it: names that differ by a trailing NUL are two.
    octets: u8,
}

impl Key {
    /// The stream of an ASDU that is called `sv_id`, in `frame`.
    pub(super) fn of(frame: &Frame<'_>, sv_id: &[u8]) -> Self {
        let ethernet = frame.ethernet();
        Self::new(ethernet.dst(), ethernet.vlan().map(VlanTag::vid), frame.appid(), sv_id)
    }

    pub(super) fn new(destination: Mac, vid: Option<u16>, appid: u16, name: &[u8]) -> Self {
        let mut sv_id = [0; MAX_NAME];
        let length = name.len().min(MAX_NAME);
        sv_id[..length].copy_from_slice(&name[..length]);
        Self {
            destination,
            vid,
            appid,
            sv_id,
            octets: u8::try_from(length).unwrap_or(u8::MAX),
        }
    }

    pub(super) fn is_same_but_vlan(&self, other: &Self) -> bool {
        Self { vid: None, ..*self } == Self { vid: None, ..*other }
    }

    /// Destination and APPID in one number.
    pub(super) fn packed(&self) -> u64 {
        let [a, b, c, d, e, f] = self.destination.0;
        let [high, low] = self.appid.to_be_bytes();
        u64::from_be_bytes([a, b, c, d, e, f, high, low])
    }

    /// The VLAN as a number: 0 without a tag, else one more than the VID.
    pub(super) fn vid_code(&self) -> u64 {
        self.vid.map_or(0, |vid| u64::from(vid) + 1)
    }

    pub(super) fn sv_id(&self) -> &[u8] {
        &self.sv_id[..usize::from(self.octets).min(MAX_NAME)]
    }
}
