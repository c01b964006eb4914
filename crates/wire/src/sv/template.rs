//! Publishing: a frame is encoded once, and then only its counters and samples are patched.

use super::parse::{Layout, Span};
use super::{Frame, MEMBER, Message};
use crate::ether::EthernetView;
use crate::header::{EncodeError, Header, RESERVED1_AT};
use crate::quality::SvQuality;

/// An encoded frame and the positions of its changing fields. Patching allocates nothing and keeps the length.
#[derive(Debug, Clone)]
pub struct Template {
    frame: Vec<u8>,
    payload_at: usize,
    /// Offset of each ASDU, counted from APPID, and its fields.
    asdus: Vec<(usize, Layout)>,
}

impl Template {
    /// Encodes the message.
    ///
    /// # Errors
    /// The message cannot be encoded.
    pub fn new(message: &Message) -> Result<Self, EncodeError> {
        let frame = message.encode()?;
        // The encoder satisfies every rule, so both steps succeed; a test checks this.
        let view = EthernetView::parse(&frame).and_then(|ethernet| Frame::parse(&ethernet));
        let (payload_at, asdus) = view.map_or((0, Vec::new()), |view| {
            (
                view.ethernet().payload_offset(),
                view.asdus().map(|asdu| (asdu.start, asdu.layout)).collect(),
            )
        });
        Ok(Self {
            frame,
            payload_at,
            asdus,
        })
    }

    /// The frame with its current contents, ready to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.frame
    }

    /// Number of ASDUs.
    pub fn asdu_count(&self) -> usize {
        self.asdus.len()
    }

    /// Sets or clears the simulate bit.
    pub fn set_simulate(&mut self, simulate: bool) {
        if let Some(octet) = self.frame.get_mut(self.payload_at + RESERVED1_AT) {
            let bit = Header::SIMULATE.to_be_bytes()[0];
            *octet = if simulate { *octet | bit } else { *octet & !bit };
        }
    }

    /// The ASDU at `index`, to patch. `None` beyond the last.
    #[inline]
    pub fn asdu_mut(&mut self, index: usize) -> Option<AsduMut<'_>> {
        let (start, layout) = self.asdus.get(index)?;
        let octets = self.frame.get_mut(self.payload_at + start..)?;
        Some(AsduMut { octets, layout })
    }

    /// The ASDU at `index` of `copy`, which began as a copy of [`Template::bytes`]. `None` beyond the last.
    #[inline]
    pub fn asdu_of<'a>(&'a self, copy: &'a mut [u8], index: usize) -> Option<AsduMut<'a>> {
        let (start, layout) = self.asdus.get(index)?;
        let octets = copy.get_mut(self.payload_at + start..)?;
        Some(AsduMut { octets, layout })
    }
}

/// The changing fields of one ASDU in a template.
#[derive(Debug)]
pub struct AsduMut<'a> {
    octets: &'a mut [u8],
    layout: &'a Layout,
}

impl AsduMut<'_> {
    /// Sets the sample counter.
    #[inline]
    pub fn set_smp_cnt(&mut self, smp_cnt: u16) {
        self.put(self.layout.smp_cnt, smp_cnt.to_be_bytes());
    }

    /// Sets the synchronisation; does nothing if the ASDU was encoded without it.
    #[inline]
    pub fn set_smp_synch(&mut self, smp_synch: u8) {
        self.put(self.layout.smp_synch, [smp_synch]);
    }

    /// The dataset members, to write in place.
    #[inline]
    pub fn seq_data_mut(&mut self) -> &mut [u8] {
        let Span { at, len } = self.layout.seq_data;
        self.octets
            .get_mut(usize::from(at)..usize::from(at) + usize::from(len))
            .unwrap_or_default()
    }

    /// Sets member `index` to an INT32 value with its quality. Returns false if there is no such member.
    #[inline]
    pub fn set_member(&mut self, index: usize, value: i32, quality: SvQuality) -> bool {
        let (members, _) = self.seq_data_mut().as_chunks_mut::<MEMBER>();
        let Some(member) = members.get_mut(index) else {
            return false;
        };
        let (high, low) = member.split_at_mut(MEMBER / 2);
        high.copy_from_slice(&value.to_be_bytes());
        low.copy_from_slice(&quality.0.to_be_bytes());
        true
    }

    #[inline]
    fn put<const N: usize>(&mut self, at: u16, octets: [u8; N]) {
        let at = usize::from(at);
        if let Some(place) = self.octets.get_mut(at..at + N).filter(|_| at != 0) {
            place.copy_from_slice(&octets);
        }
    }
}
