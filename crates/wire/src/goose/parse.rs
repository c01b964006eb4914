//! The rules for a GOOSE message, each checked once.

use super::{Entries, MAX_NAME, data, tag};
use crate::ber::{Element, Reader, Tag};
use crate::frame_error::{Field, FrameError, Rule};
use crate::header::Header;
use crate::time::UtcTime;

/// Fields read as numbers, whose sign bit may be set.
const NUMBERS: [Field; 5] = [
    Field::TimeAllowedToLive,
    Field::StNum,
    Field::SqNum,
    Field::ConfRev,
    Field::NumDatSetEntries,
];

/// The fields of the APDU that could be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    /// Control block reference.
    pub gocb_ref: Option<&'a [u8]>,
    /// timeAllowedtoLive, ms.
    pub time_allowed_to_live: Option<u32>,
    /// Dataset reference.
    pub dat_set: Option<&'a [u8]>,
    /// Identifier; if absent, gocbRef is used instead.
    pub go_id: Option<&'a [u8]>,
    /// Time of the last change of state.
    pub t: Option<UtcTime>,
    /// State number.
    pub st_num: Option<u32>,
    /// Sequence number within the state.
    pub sq_num: Option<u32>,
    /// Simulation flag (test in Edition 1); FALSE when absent.
    pub simulation: Option<bool>,
    /// Configuration revision.
    pub conf_rev: Option<u32>,
    /// Needs commissioning; FALSE when absent.
    pub nds_com: Option<bool>,
    /// Entries of the dataset.
    pub num_dat_set_entries: Option<u32>,
    /// The values.
    pub all_data: Option<Entries<'a>>,
    /// Number of unknown elements after allData.
    pub unknown: u16,
    negative: u8,
}

impl<'a> Fields<'a> {
    /// Number fields whose INTEGER has its sign bit set. Some publishers leave out the leading 00, so such a number is
    /// read as unsigned; callers should count these fields.
    pub fn negative_numbers(&self) -> impl Iterator<Item = Field> + use<> {
        let negative = self.negative;
        NUMBERS
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| negative >> bit & 1 == 1)
            .map(|(_, field)| field)
    }

    /// Reads the APDU. On an error, the fields before it are set.
    #[inline]
    pub(super) fn read(&mut self, outer: &mut Reader<'a>, header: &Header) -> Result<(), FrameError> {
        let pdu = outer.expect(tag::GOOSE_PDU, Field::GoosePdu)?;
        let mut reader = outer.within(&pdu);
        self.gocb_ref = Some(name(&mut reader, tag::GOCB_REF, Field::GocbRef)?);
        self.time_allowed_to_live =
            Some(self.number(&mut reader, tag::TIME_ALLOWED_TO_LIVE, Field::TimeAllowedToLive)?);
        self.dat_set = Some(name(&mut reader, tag::DAT_SET, Field::DatSet)?);
        if reader.next_is(tag::GO_ID) {
            self.go_id = Some(name(&mut reader, tag::GO_ID, Field::GoId)?);
        }
        self.t = Some(utc_time(&mut reader)?);
        self.st_num = Some(self.number(&mut reader, tag::ST_NUM, Field::StNum)?);
        self.sq_num = Some(self.number(&mut reader, tag::SQ_NUM, Field::SqNum)?);
        if reader.next_is(tag::SIMULATION) {
            self.simulation = Some(boolean(&mut reader, tag::SIMULATION, Field::Simulation)?);
        }
        self.conf_rev = Some(self.number(&mut reader, tag::CONF_REV, Field::ConfRev)?);
        if reader.next_is(tag::NDS_COM) {
            self.nds_com = Some(boolean(&mut reader, tag::NDS_COM, Field::NdsCom)?);
        }
        let count_at = reader.position();
        let said = self.number(&mut reader, tag::NUM_DAT_SET_ENTRIES, Field::NumDatSetEntries)?;
        self.num_dat_set_entries = Some(said);
        let all_data = reader.expect(tag::ALL_DATA, Field::AllData)?;
        self.all_data = Some(Entries::new(reader.within(&all_data)));
        let present = data::check(reader.within(&all_data), 0)?;
        if present != said {
            return Err(reader.error(count_at, Rule::EntryCount { said, present }));
        }
        self.behind_all_data(&mut reader)?;
        header.octets_after_apdu(outer).map_or(Ok(()), Err)
    }

    /// Reads the security element and extensions of later editions.
    fn behind_all_data(&mut self, reader: &mut Reader<'a>) -> Result<(), FrameError> {
        while let Some(next) = reader.next_element()? {
            let known = (0x80..=0x8a).contains(&next.tag.0) || next.tag == tag::ALL_DATA;
            if known || !next.tag.is_context() {
                return Err(reader.error(
                    next.start,
                    Rule::Unexpected {
                        within: Field::GoosePdu,
                        found: next.tag,
                    },
                ));
            }
            self.unknown = self.unknown.saturating_add(1);
        }
        Ok(())
    }

    #[inline]
    fn number(&mut self, reader: &mut Reader<'a>, tag: Tag, field: Field) -> Result<u32, FrameError> {
        let element = reader.expect(tag, field)?;
        let octets = reader.content(&element);
        match *octets {
            // The two forms that most publishers use: one octet, and the fixed length of five.
            [low @ 0..0x80] => Ok(u32::from(low)),
            [0, a, b, c, d] => Ok(u32::from_be_bytes([a, b, c, d])),
            _ => self.any_number(reader, &element, field),
        }
    }

    fn any_number(&mut self, reader: &Reader<'a>, element: &Element, field: Field) -> Result<u32, FrameError> {
        let octets = reader.content(element);
        if octets.is_empty() || octets.len() > 8 {
            return Err(reader.size_error(element, field, "1 to 8"));
        }
        if octets[0] & 0x80 != 0 {
            let bit = NUMBERS.iter().position(|&number| number == field).unwrap_or_default();
            self.negative |= 1 << bit;
        }
        u32::try_from(data::unsigned(octets)).map_err(|_| reader.error(element.start, Rule::TooLarge { field }))
    }
}

#[inline]
fn name<'a>(reader: &mut Reader<'a>, tag: Tag, field: Field) -> Result<&'a [u8], FrameError> {
    let element = reader.expect(tag, field)?;
    if element.len() > MAX_NAME {
        return Err(reader.size_error(&element, field, "at most 129"));
    }
    Ok(reader.content(&element))
}

#[inline]
fn boolean(reader: &mut Reader<'_>, tag: Tag, field: Field) -> Result<bool, FrameError> {
    let element = reader.expect(tag, field)?;
    match reader.content(&element) {
        [octet] => Ok(*octet != 0),
        _ => Err(reader.size_error(&element, field, "1")),
    }
}

#[inline]
fn utc_time(reader: &mut Reader<'_>) -> Result<UtcTime, FrameError> {
    let element = reader.expect(tag::T, Field::T)?;
    match reader.content(&element).try_into() {
        Ok(octets) => Ok(UtcTime::from_bytes(octets)),
        Err(_) => Err(reader.size_error(&element, Field::T, "8")),
    }
}
