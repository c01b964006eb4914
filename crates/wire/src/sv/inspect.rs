//! Reads the part of a frame before its first violation. Made for people who look at captures, not for hot paths.

use super::parse::{self, Layout};
use super::{Asdu, MAX_ASDUS};
use crate::ber::Reader;
use crate::bytes::slice;
use crate::ether::{self, EthernetView};
use crate::frame_error::FrameError;
use crate::header::{Header, OCTETS};
use crate::time::UtcTime;

/// The readable parts of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Inspection<'a> {
    /// APPID to Reserved2, if the frame is long enough.
    pub header: Option<Header>,
    /// The noASDU field.
    pub no_asdu: Option<u32>,
    /// The first rule that is broken; `None` for a frame that [`super::Frame::parse`] accepts.
    pub error: Option<FrameError>,
    pdu: &'a [u8],
    /// Offset of each ASDU, counted from APPID, and its fields.
    layouts: [(usize, Layout); MAX_ASDUS],
    present: usize,
}

impl<'a> Inspection<'a> {
    /// The ASDUs that were read; the last one may be incomplete.
    pub fn asdus(&self) -> impl ExactSizeIterator<Item = PartialAsdu<'a>> {
        let pdu = self.pdu;
        self.layouts[..self.present].iter().map(move |&(start, layout)| {
            PartialAsdu(Asdu {
                octets: slice(pdu, start, usize::from(layout.size)),
                start,
                layout,
            })
        })
    }
}

/// An ASDU whose last fields may be missing.
#[derive(Debug, Clone, Copy)]
pub struct PartialAsdu<'a>(Asdu<'a>);

impl<'a> PartialAsdu<'a> {
    /// Name of the stream.
    pub fn sv_id(&self) -> Option<&'a [u8]> {
        (self.0.layout.sv_id.at != 0).then(|| self.0.sv_id())
    }

    /// Dataset reference.
    pub fn dat_set(&self) -> Option<&'a [u8]> {
        self.0.dat_set()
    }

    /// Sample counter.
    pub fn smp_cnt(&self) -> Option<u16> {
        (self.0.layout.smp_cnt != 0).then(|| self.0.smp_cnt())
    }

    /// Configuration revision.
    pub fn conf_rev(&self) -> Option<u32> {
        (self.0.layout.conf_rev != 0).then(|| self.0.conf_rev())
    }

    /// Refresh time.
    pub fn refr_tm(&self) -> Option<UtcTime> {
        self.0.refr_tm()
    }

    /// Synchronisation.
    pub fn smp_synch(&self) -> Option<u8> {
        self.0.smp_synch()
    }

    /// Sample rate.
    pub fn smp_rate(&self) -> Option<u16> {
        self.0.smp_rate()
    }

    /// Dataset members.
    pub fn seq_data(&self) -> Option<&'a [u8]> {
        (self.0.layout.seq_data.at != 0).then(|| self.0.seq_data())
    }

    /// Sample mode.
    pub fn smp_mod(&self) -> Option<u16> {
        self.0.smp_mod()
    }

    /// EUI-64 of the PTP grandmaster.
    pub fn gm_identity(&self) -> Option<[u8; 8]> {
        self.0.gm_identity()
    }

    /// Fields of later editions that were skipped.
    pub fn unknown_fields(&self) -> u16 {
        self.0.unknown_fields()
    }
}

impl<'a> From<Asdu<'a>> for PartialAsdu<'a> {
    fn from(asdu: Asdu<'a>) -> Self {
        Self(asdu)
    }
}

/// Reads as much of the frame as possible. If Length is wrong or the capture was cut, the error reports that, and the
/// fields that are present are still read.
pub fn inspect<'a>(ethernet: &EthernetView<'a>) -> Inspection<'a> {
    let mut found = Inspection {
        header: None,
        no_asdu: None,
        error: None,
        pdu: &[],
        layouts: [(0, Layout::default()); MAX_ASDUS],
        present: 0,
    };
    let result = Header::read(ethernet, ether::SV).and_then(|header| {
        found.header = Some(header);
        let base = ethernet.payload_offset();
        let reader = match header.pdu(ethernet) {
            Ok(pdu) => Reader::new(pdu, OCTETS, base),
            Err(error) => {
                found.error = Some(error);
                let payload = ethernet.payload();
                // Offsets in a layout have 16 bits, like the Length field.
                let cut = payload.get(..usize::from(u16::MAX)).unwrap_or(payload);
                Reader::of_cut_frame(cut, OCTETS, base)
            }
        };
        found.pdu = reader.bytes();
        fields(&mut found, reader, &header)
    });
    found.error = found.error.or(result.err());
    found
}

fn fields(found: &mut Inspection<'_>, outer: Reader<'_>, header: &Header) -> Result<(), FrameError> {
    let envelope = parse::envelope(outer)?;
    found.no_asdu = Some(envelope.no_asdu);
    let said = envelope.no_asdu as usize;
    let mut reader = outer.within(&envelope.seq);
    while !reader.is_empty() {
        if found.present == said {
            return Err(envelope.count_error(&outer, envelope.no_asdu + 1));
        }
        // noASDU was already checked not to exceed the size of the array.
        let (start, layout) = &mut found.layouts[found.present];
        found.present += 1;
        *start = reader.position();
        parse::asdu(&mut reader, layout)?;
    }
    if found.present != said {
        return Err(envelope.count_error(&outer, found.present as u32));
    }
    envelope.nothing_behind(outer, header)
}
