//! The checked view of a GOOSE message.

use super::{Data, Entries, Fields};
use crate::ber::Reader;
use crate::ether::{self, EthernetView, VlanTag};
use crate::frame_error::{Field, FrameError, Rule};
use crate::header::{Header, OCTETS, RESERVED1_AT};
use crate::time::UtcTime;

/// A GOOSE message that satisfies every rule.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    ethernet: EthernetView<'a>,
    header: Header,
    fields: Fields<'a>,
}

impl<'a> Frame<'a> {
    /// Reads a message from the octets of an Ethernet frame, whose outer tag may have been stripped; `None` if it is
    /// not GOOSE.
    pub fn within(octets: &'a [u8], tag: Option<VlanTag>) -> Option<Result<Self, FrameError>> {
        let ethernet = EthernetView::with_tag(octets, tag).ok()?;
        (ethernet.ether_type() == ether::GOOSE).then(|| Self::parse(&ethernet))
    }

    /// Checks the message.
    ///
    /// # Errors
    /// The first rule that is broken. Checked last: the simulate bit is set while simulation is FALSE.
    #[inline]
    pub fn parse(ethernet: &EthernetView<'a>) -> Result<Self, FrameError> {
        let header = Header::read(ethernet, ether::GOOSE)?;
        let pdu = header.pdu(ethernet)?;
        let base = ethernet.payload_offset();
        let mut fields = Fields::default();
        fields.read(&mut Reader::new(pdu, OCTETS, base), &header)?;
        check_simulation(&header, &fields, base)?;
        Ok(Self {
            ethernet: *ethernet,
            header,
            fields,
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

    /// The simulate bit of Reserved1. If it is clear and [`Self::simulation`] is true, the publisher is of Edition 1,
    /// or faulty: accept such a message only if the subscription states Edition 1.
    pub fn simulate(&self) -> bool {
        self.header.simulate()
    }

    /// Control block reference.
    pub fn gocb_ref(&self) -> &'a [u8] {
        self.fields.gocb_ref.unwrap_or_default()
    }

    /// timeAllowedtoLive, ms. 0 is not allowed, but the codec returns it.
    pub fn time_allowed_to_live(&self) -> u32 {
        self.fields.time_allowed_to_live.unwrap_or_default()
    }

    /// Dataset reference.
    pub fn dat_set(&self) -> &'a [u8] {
        self.fields.dat_set.unwrap_or_default()
    }

    /// Identifier; if absent, gocbRef is used instead.
    pub fn go_id(&self) -> Option<&'a [u8]> {
        self.fields.go_id
    }

    /// Time of the last change of state, not of transmission.
    pub fn t(&self) -> UtcTime {
        self.fields.t.unwrap_or_default()
    }

    /// State number. 0 is not allowed, but the codec returns it.
    pub fn st_num(&self) -> u32 {
        self.fields.st_num.unwrap_or_default()
    }

    /// Sequence number within the state.
    pub fn sq_num(&self) -> u32 {
        self.fields.sq_num.unwrap_or_default()
    }

    /// Simulation flag (test in Edition 1).
    pub fn simulation(&self) -> bool {
        self.fields.simulation.unwrap_or_default()
    }

    /// Configuration revision.
    pub fn conf_rev(&self) -> u32 {
        self.fields.conf_rev.unwrap_or_default()
    }

    /// Needs commissioning: the values must not be used.
    pub fn nds_com(&self) -> bool {
        self.fields.nds_com.unwrap_or_default()
    }

    /// Entries of the dataset; equals the entries of [`Self::all_data`].
    pub fn num_dat_set_entries(&self) -> u32 {
        self.fields.num_dat_set_entries.unwrap_or_default()
    }

    /// The values.
    pub fn all_data(&self) -> Entries<'a> {
        self.fields
            .all_data
            .unwrap_or_else(|| Entries::new(Reader::new(&[], 0, 0)))
    }

    /// True if a quality among the values, or in a structure of them, has the bit `test`: such values must only be used
    /// in tests.
    pub fn is_test(&self) -> bool {
        self.all_data().any(|value| match value {
            Data::Structure(mut parts) => parts.any(|part| has_test_bit(&part)),
            other => has_test_bit(&other),
        })
    }

    /// Elements of later editions that were skipped.
    pub fn unknown_fields(&self) -> u16 {
        self.fields.unknown
    }

    /// Number fields whose sign bit was set, which were read as unsigned.
    pub fn negative_numbers(&self) -> impl Iterator<Item = Field> + use<> {
        self.fields.negative_numbers()
    }
}

/// Bit `test` of a quality of 13 bits (IEC 61850-8-1, bit 11 from the first).
const TEST_OCTET: usize = 1;
const TEST_BIT: u8 = 0x80 >> 3;

fn has_test_bit(value: &Data<'_>) -> bool {
    match value {
        Data::BitString { unused: 3, bits } => bits.get(TEST_OCTET).is_some_and(|octet| octet & TEST_BIT != 0),
        _ => false,
    }
}

/// The readable parts of a message that may break a rule. Made for people who look at captures.
#[derive(Debug, Clone, Copy)]
pub struct Inspection<'a> {
    /// APPID to Reserved2, if the frame is long enough.
    pub header: Option<Header>,
    /// The fields before the violation.
    pub fields: Fields<'a>,
    /// The first rule that is broken; `None` for a message that [`Frame::parse`] accepts.
    pub error: Option<FrameError>,
}

/// Reads as much of the message as possible. If Length is wrong or the capture was cut, the error reports that, and the
/// fields that are present are still read.
pub fn inspect<'a>(ethernet: &EthernetView<'a>) -> Inspection<'a> {
    let mut found = Inspection {
        header: None,
        fields: Fields::default(),
        error: None,
    };
    let result = Header::read(ethernet, ether::GOOSE).and_then(|header| {
        found.header = Some(header);
        let base = ethernet.payload_offset();
        let mut reader = match header.pdu(ethernet) {
            Ok(pdu) => Reader::new(pdu, OCTETS, base),
            Err(error) => {
                found.error = Some(error);
                Reader::of_cut_frame(ethernet.payload(), OCTETS, base)
            }
        };
        found.fields.read(&mut reader, &header)?;
        check_simulation(&header, &found.fields, base)
    });
    found.error = found.error.or(result.err());
    found
}

fn check_simulation(header: &Header, fields: &Fields<'_>, base: usize) -> Result<(), FrameError> {
    if header.simulate() && fields.simulation != Some(true) {
        return Err(FrameError::at(base + RESERVED1_AT, Rule::SimulationMismatch));
    }
    Ok(())
}
