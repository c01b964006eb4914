//! The checked view of an SV frame.

use super::MEMBER;
use super::parse::{self, Layout, Shape};
use crate::ber::Reader;
use crate::bytes::{array, be16, be32, slice};
use crate::ether::{self, EthernetView};
use crate::frame_error::FrameError;
use crate::header::Header;
use crate::quality::SvQuality;
use crate::time::UtcTime;

/// An SV frame that satisfies every rule.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    ethernet: EthernetView<'a>,
    header: Header,
    pdu: &'a [u8],
    shape: Shape,
}

impl<'a> Frame<'a> {
    /// Checks the frame.
    ///
    /// # Errors
    /// The first rule that is broken. The whole frame is refused, even when only one of its ASDUs is wrong.
    #[inline]
    pub fn parse(ethernet: &EthernetView<'a>) -> Result<Self, FrameError> {
        let header = Header::read(ethernet, ether::SV)?;
        let pdu = header.pdu(ethernet)?;
        let shape = parse::frame(pdu, &header, ethernet.payload_offset())?;
        Ok(Self {
            ethernet: *ethernet,
            header,
            pdu,
            shape,
        })
    }

    /// The Ethernet header.
    pub fn ethernet(&self) -> &EthernetView<'a> {
        &self.ethernet
    }

    /// APPID, Length, Reserved1, Reserved2.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Application identifier. Its range is not checked here.
    pub fn appid(&self) -> u16 {
        self.header.appid
    }

    /// True when the frame comes from a test set.
    pub fn simulate(&self) -> bool {
        self.header.simulate()
    }

    /// ASDUs in the frame, 1..=16; equals noASDU.
    pub fn asdu_count(&self) -> usize {
        usize::from(self.shape.asdus)
    }

    /// Fields of later editions that were skipped, over all ASDUs.
    pub fn unknown_fields(&self) -> u16 {
        self.shape.unknown
    }

    /// The ASDUs in the order of the frame, the oldest sample first.
    #[inline]
    pub fn asdus(&self) -> Asdus<'a> {
        Asdus {
            pdu: self.pdu,
            shape: self.shape,
            next: self.shape.seq_start,
            left: self.shape.asdus,
        }
    }

    /// Offsets in the frame of the two octets of each ASDU's smpCnt.
    pub fn smp_cnt_offsets(&self) -> impl Iterator<Item = usize> {
        let payload_at = self.ethernet.payload_offset();
        self.asdus()
            .map(move |asdu| payload_at + asdu.start + usize::from(asdu.layout.smp_cnt))
    }

    /// The octets from the start of the frame to the last one that Length covers.
    pub(super) fn used(&self) -> &'a [u8] {
        slice(
            self.ethernet.frame(),
            0,
            self.ethernet.payload_offset() + self.pdu.len(),
        )
    }
}

/// Iterator over the ASDUs of a frame.
#[derive(Debug, Clone)]
pub struct Asdus<'a> {
    pdu: &'a [u8],
    shape: Shape,
    next: u16,
    left: u8,
}

impl<'a> Iterator for Asdus<'a> {
    type Item = Asdu<'a>;

    #[inline]
    fn next(&mut self) -> Option<Asdu<'a>> {
        self.left = self.left.checked_sub(1)?;
        let start = usize::from(self.next);
        let layout = if self.shape.uniform {
            self.shape.first
        } else {
            // The frame was already checked: this reads the same octets again and cannot fail.
            let mut layout = Layout::default();
            let seq = self.pdu.get(..usize::from(self.shape.seq_end))?;
            parse::asdu(&mut Reader::new(seq, start, 0), &mut layout).ok()?;
            layout
        };
        self.next = self.next.wrapping_add(layout.size);
        Some(Asdu {
            octets: slice(self.pdu, start, usize::from(layout.size)),
            start,
            layout,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for Asdus<'_> {}

/// One ASDU: one sample of every channel.
#[derive(Debug, Clone, Copy)]
pub struct Asdu<'a> {
    /// The whole ASDU, starting at its own tag.
    pub(super) octets: &'a [u8],
    /// Offset of the ASDU, counted from APPID.
    pub(super) start: usize,
    pub(super) layout: Layout,
}

impl<'a> Asdu<'a> {
    /// Name of the stream: 1 to 129 octets, which should be visible ASCII.
    #[inline]
    pub fn sv_id(&self) -> &'a [u8] {
        slice(
            self.octets,
            usize::from(self.layout.sv_id.at),
            usize::from(self.layout.sv_id.len),
        )
    }

    /// Dataset reference.
    #[inline]
    pub fn dat_set(&self) -> Option<&'a [u8]> {
        let span = self.layout.dat_set;
        (span.at != 0).then(|| slice(self.octets, usize::from(span.at), usize::from(span.len)))
    }

    /// Sample counter; 0 is the sample at the top of the second. It may exceed the sample rate, which is not known
    /// here.
    #[inline]
    pub fn smp_cnt(&self) -> u16 {
        be16(self.octets, usize::from(self.layout.smp_cnt))
    }

    /// Configuration revision.
    #[inline]
    pub fn conf_rev(&self) -> u32 {
        be32(self.octets, usize::from(self.layout.conf_rev))
    }

    /// Refresh time.
    #[inline]
    pub fn refr_tm(&self) -> Option<UtcTime> {
        self.present(self.layout.refr_tm)
            .map(|at| UtcTime::from_bytes(array(self.octets, at)))
    }

    /// Synchronisation: 0 none, 1 local, 2 global, 5..=254 a named local clock. `None` if the publisher left it out:
    /// treat this as 0 and count it.
    #[inline]
    pub fn smp_synch(&self) -> Option<u8> {
        self.present(self.layout.smp_synch)
            .and_then(|at| self.octets.get(at).copied())
    }

    /// Sample rate, in the unit of [`Self::smp_mod`].
    #[inline]
    pub fn smp_rate(&self) -> Option<u16> {
        self.present(self.layout.smp_rate).map(|at| be16(self.octets, at))
    }

    /// The dataset members back to back: never empty, a multiple of 4 octets.
    #[inline]
    pub fn seq_data(&self) -> &'a [u8] {
        slice(
            self.octets,
            usize::from(self.layout.seq_data.at),
            usize::from(self.layout.seq_data.len),
        )
    }

    /// Unit of the sample rate: 0 samples per nominal period, 1 samples per second, 2 seconds per sample.
    #[inline]
    pub fn smp_mod(&self) -> Option<u16> {
        self.present(self.layout.smp_mod).map(|at| be16(self.octets, at))
    }

    /// EUI-64 of the PTP grandmaster.
    #[inline]
    pub fn gm_identity(&self) -> Option<[u8; 8]> {
        self.present(self.layout.gm_identity).map(|at| array(self.octets, at))
    }

    /// Fields of later editions that were skipped.
    pub fn unknown_fields(&self) -> u16 {
        self.layout.unknown
    }

    /// seqData as INT32 and quality; `None` unless it is a multiple of 8 octets.
    #[inline]
    pub fn members(&self) -> Option<Members<'a>> {
        Members::new(self.seq_data())
    }

    #[inline]
    fn present(&self, at: u16) -> Option<usize> {
        (at != 0).then_some(usize::from(at))
    }
}

/// seqData read as INT32 values with quality. In 9-2LE and IEC 61869-9: primary currents in mA, primary voltages in 10
/// mV.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a> {
    octets: &'a [[u8; MEMBER]],
}

impl<'a> Members<'a> {
    /// `None` unless `seq_data` is a multiple of 8 octets.
    #[inline]
    pub fn new(seq_data: &'a [u8]) -> Option<Self> {
        match seq_data.as_chunks() {
            (octets, []) => Some(Self { octets }),
            _ => None,
        }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// The member at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<(i32, SvQuality)> {
        self.octets.get(index).map(split)
    }

    /// All members in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i32, SvQuality)> + Clone + use<'a> {
        self.octets.iter().map(split)
    }
}

#[inline]
fn split(&[a, b, c, d, e, f, g, h]: &[u8; MEMBER]) -> (i32, SvQuality) {
    (
        i32::from_be_bytes([a, b, c, d]),
        SvQuality(u32::from_be_bytes([e, f, g, h])),
    )
}
