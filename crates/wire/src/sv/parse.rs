//! The rules for an SV frame, each checked once.
//!
//! Almost every ASDU of a frame differs from the first one only in its counters and samples. So the first ASDU is
//! parsed and its [`Layout`] kept; each further one is compared with it outside smpCnt, smpSynch and seqData, and
//! parsed only when it differs. Equal octets have an equal structure, so the shortcut accepts nothing that the parser
//! would refuse.

use super::{MAX_ASDUS, MAX_NAME, MEMBER_UNIT, tag};
use crate::ber::{Element, Reader, Tag};
use crate::bytes::same;
use crate::frame_error::{Field, FrameError, Rule};
use crate::header::{Header, OCTETS};

/// Position of a field, counted from the ASDU's own tag. Offset 0 means that the field is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: u16,
    pub(super) len: u16,
}

/// Positions of the fields of one ASDU, counted from its own tag; 0 if a field is absent. Length is a 16-bit field, so
/// every offset fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Octets of the ASDU, tag and length included.
    pub(super) size: u16,
    pub(super) sv_id: Span,
    pub(super) dat_set: Span,
    pub(super) smp_cnt: u16,
    pub(super) conf_rev: u16,
    pub(super) refr_tm: u16,
    pub(super) smp_synch: u16,
    pub(super) smp_rate: u16,
    pub(super) seq_data: Span,
    pub(super) smp_mod: u16,
    pub(super) gm_identity: u16,
    /// Number of unknown context tags after seqData.
    pub(super) unknown: u16,
}

/// seqASDU and the elements before it. Offsets count from APPID.
#[derive(Debug, Clone, Copy)]
pub(super) struct Envelope {
    pub(super) no_asdu: u32,
    pub(super) no_asdu_at: usize,
    pub(super) seq: Element,
    /// End of savPdu.
    sav_pdu_end: usize,
}

/// The layout of a whole frame. Offsets count from APPID.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) seq_start: u16,
    pub(super) seq_end: u16,
    pub(super) asdus: u8,
    /// Every ASDU has the layout of the first one, and each follows the one before without a gap.
    pub(super) uniform: bool,
    pub(super) unknown: u16,
    pub(super) first: Layout,
}

/// Checks everything after the header. `pdu` is the frame from APPID to the end of Length.
#[inline]
pub(super) fn frame(pdu: &[u8], header: &Header, base: usize) -> Result<Shape, FrameError> {
    let outer = Reader::new(pdu, OCTETS, base);
    let envelope = envelope(outer)?;
    let mut reader = outer.within(&envelope.seq);
    let said = envelope.no_asdu;
    if reader.is_empty() {
        return Err(envelope.count_error(&outer, 0));
    }
    let mut shape = Shape {
        seq_start: envelope.seq.content as u16,
        seq_end: envelope.seq.end as u16,
        asdus: 1,
        uniform: true,
        unknown: 0,
        first: Layout::default(),
    };
    asdu(&mut reader, &mut shape.first)?;
    shape.unknown = shape.first.unknown;
    while !reader.is_empty() {
        if u32::from(shape.asdus) == said {
            return Err(envelope.count_error(&outer, said + 1));
        }
        shape.asdus += 1;
        if let Some(end) = repeats(&reader, usize::from(shape.seq_start), &shape.first) {
            reader.skip_to(end);
            shape.unknown = shape.unknown.saturating_add(shape.first.unknown);
        } else {
            let mut layout = Layout::default();
            asdu(&mut reader, &mut layout)?;
            shape.uniform = false;
            shape.unknown = shape.unknown.saturating_add(layout.unknown);
        }
    }
    if u32::from(shape.asdus) != said {
        return Err(envelope.count_error(&outer, u32::from(shape.asdus)));
    }
    envelope.nothing_behind(outer, header)?;
    Ok(shape)
}

/// Returns the end of the next ASDU if it equals the first one outside smpCnt, smpSynch and seqData.
#[inline]
fn repeats(reader: &Reader<'_>, first_at: usize, first: &Layout) -> Option<usize> {
    let size = usize::from(first.size);
    let end = reader.position() + size;
    let this = reader.bytes().get(reader.position()..end)?;
    let model = reader.bytes().get(first_at..first_at + size)?;
    let equal = |from: usize, to: usize| {
        this.get(from..to)
            .zip(model.get(from..to))
            .is_some_and(|(a, b)| same(a, b))
    };
    let smp_cnt = usize::from(first.smp_cnt);
    let smp_synch = usize::from(first.smp_synch);
    let seq_data = usize::from(first.seq_data.at);
    let behind = seq_data + usize::from(first.seq_data.len);
    let middle = if smp_synch == 0 {
        equal(smp_cnt + 2, seq_data)
    } else {
        equal(smp_cnt + 2, smp_synch) && equal(smp_synch + 1, seq_data)
    };
    let equal = middle && equal(0, smp_cnt) && (behind == size || equal(behind, size));
    equal.then_some(end)
}

/// Reads savPdu, noASDU, security and seqASDU. The reader must be positioned after the header.
#[inline]
pub(super) fn envelope(mut outer: Reader<'_>) -> Result<Envelope, FrameError> {
    let sav_pdu = outer.expect(tag::SAV_PDU, Field::SavPdu)?;
    let mut inner = outer.within(&sav_pdu);
    let no_asdu_at = inner.position();
    let no_asdu = no_asdu(&mut inner)?;
    if inner.next_is(tag::SECURITY) {
        inner.element()?;
    }
    let seq = inner.expect(tag::SEQ_ASDU, Field::SeqAsdu)?;
    Ok(Envelope {
        no_asdu,
        no_asdu_at,
        seq,
        sav_pdu_end: sav_pdu.end,
    })
}

impl Envelope {
    #[cold]
    pub(super) fn count_error(&self, outer: &Reader<'_>, present: u32) -> FrameError {
        outer.error(
            self.no_asdu_at,
            Rule::AsduCount {
                said: self.no_asdu,
                present,
            },
        )
    }

    /// Checks that nothing follows seqASDU in savPdu, and nothing but an IEC 62351-6 extension follows savPdu within
    /// Length.
    #[inline]
    pub(super) fn nothing_behind(&self, mut outer: Reader<'_>, header: &Header) -> Result<(), FrameError> {
        if self.seq.end != self.sav_pdu_end {
            outer.skip_to(self.seq.end);
            let found = outer.element()?.tag;
            return Err(outer.error(
                self.seq.end,
                Rule::Unexpected {
                    within: Field::SavPdu,
                    found,
                },
            ));
        }
        outer.skip_to(self.sav_pdu_end);
        header.octets_after_apdu(&outer).map_or(Ok(()), Err)
    }
}

#[inline]
fn no_asdu(reader: &mut Reader<'_>) -> Result<u32, FrameError> {
    let (at, said) = match reader.fixed(tag::NO_ASDU, 1) {
        Some(content) => (content - 2, u32::from(reader.bytes()[content])),
        None => any_no_asdu(reader)?,
    };
    match said {
        1..=16 => Ok(said),
        0 => Err(reader.error(at, Rule::NoAsduZero)),
        said => Err(reader.error(at, Rule::TooManyAsdus { said })),
    }
}

const _: () = assert!(MAX_ASDUS == 16);

#[cold]
fn any_no_asdu(reader: &mut Reader<'_>) -> Result<(usize, u32), FrameError> {
    let element = reader.expect(tag::NO_ASDU, Field::NoAsdu)?;
    let octets = reader.content(&element);
    if octets.is_empty() || octets.len() > 4 {
        return Err(reader.size_error(&element, Field::NoAsdu, "1 to 4"));
    }
    Ok((
        element.start,
        octets.iter().fold(0, |number, &octet| number << 8 | u32::from(octet)),
    ))
}

/// Reads one ASDU. On an error, `layout` holds the fields before it.
#[inline]
pub(super) fn asdu(outer: &mut Reader<'_>, layout: &mut Layout) -> Result<(), FrameError> {
    let element = outer.expect(tag::ASDU, Field::Asdu)?;
    layout.size = (element.end - element.start) as u16;
    let mut fields = Fields {
        reader: outer.within(&element),
        start: element.start,
    };

    layout.sv_id = fields.name(tag::SV_ID, Field::SvId)?;
    if fields.reader.next_is(tag::DAT_SET) {
        layout.dat_set = fields.name(tag::DAT_SET, Field::DatSet)?;
    }
    layout.smp_cnt = fields.sized(tag::SMP_CNT, 2, Field::SmpCnt)?;
    layout.conf_rev = fields.sized(tag::CONF_REV, 4, Field::ConfRev)?;
    if fields.reader.next_is(tag::REFR_TM) {
        layout.refr_tm = fields.sized(tag::REFR_TM, 8, Field::RefrTm)?;
    }
    if fields.reader.next_is(tag::SMP_SYNCH) {
        layout.smp_synch = fields.sized(tag::SMP_SYNCH, 1, Field::SmpSynch)?;
    }
    if fields.reader.next_is(tag::SMP_RATE) {
        layout.smp_rate = fields.sized(tag::SMP_RATE, 2, Field::SmpRate)?;
    }
    layout.seq_data = fields.seq_data()?;
    if fields.reader.is_empty() {
        Ok(())
    } else {
        fields.behind_seq_data(layout)
    }
}

/// The fields of one ASDU, read in order.
struct Fields<'a> {
    reader: Reader<'a>,
    /// Where the ASDU's own tag is.
    start: usize,
}

impl Fields<'_> {
    /// A field of constant size.
    #[inline]
    fn sized(&mut self, tag: Tag, octets: u8, field: Field) -> Result<u16, FrameError> {
        match self.reader.fixed(tag, octets) {
            Some(content) => Ok((content - self.start) as u16),
            None => self.any_sized(tag, octets, field),
        }
    }

    /// Reads a field of constant size whose length may not be minimal; reports the error otherwise.
    #[cold]
    fn any_sized(&mut self, tag: Tag, octets: u8, field: Field) -> Result<u16, FrameError> {
        let element = self.reader.expect(tag, field)?;
        if element.len() == usize::from(octets) {
            return Ok((element.content - self.start) as u16);
        }
        let wanted = match octets {
            1 => "1",
            2 => "2",
            4 => "4",
            _ => "8",
        };
        Err(self.reader.size_error(&element, field, wanted))
    }

    #[inline]
    fn name(&mut self, tag: Tag, field: Field) -> Result<Span, FrameError> {
        let element = self.reader.expect(tag, field)?;
        if (1..=MAX_NAME).contains(&element.len()) {
            Ok(self.span(&element))
        } else {
            Err(self.reader.size_error(&element, field, "1 to 129"))
        }
    }

    #[inline]
    fn seq_data(&mut self) -> Result<Span, FrameError> {
        let element = self.reader.expect(tag::SEQ_DATA, Field::SeqData)?;
        if element.is_empty() || !element.len().is_multiple_of(MEMBER_UNIT) {
            let wanted = "4 or a multiple of 4: whole INT32 and quality words";
            return Err(self.reader.size_error(&element, Field::SeqData, wanted));
        }
        Ok(self.span(&element))
    }

    #[inline]
    fn span(&self, element: &Element) -> Span {
        Span {
            at: (element.content - self.start) as u16,
            len: element.len() as u16,
        }
    }

    /// Reads smpMod, gmIdentity, and extensions of later editions.
    fn behind_seq_data(&mut self, layout: &mut Layout) -> Result<(), FrameError> {
        if self.reader.next_is(tag::SMP_MOD) {
            layout.smp_mod = self.sized(tag::SMP_MOD, 2, Field::SmpMod)?;
        }
        if self.reader.next_is(tag::GM_IDENTITY) {
            layout.gm_identity = self.sized(tag::GM_IDENTITY, 8, Field::GmIdentity)?;
        }
        while let Some(next) = self.reader.next_element()? {
            let known = (tag::SV_ID.0..=tag::GM_IDENTITY.0).contains(&next.tag.0);
            if known || !next.tag.is_context() {
                let rule = Rule::Unexpected {
                    within: Field::Asdu,
                    found: next.tag,
                };
                return Err(self.reader.error(next.start, rule));
            }
            layout.unknown = layout.unknown.saturating_add(1);
        }
        Ok(())
    }
}
