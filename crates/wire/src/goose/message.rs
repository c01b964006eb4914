//! The owned form of a GOOSE message, and its encoder.

use super::{Frame, MAX_NAME, Value, tag};
use crate::ber::{Tag, nested, unsigned_octets, write_element};
use crate::ether::{self, Mac, VlanTag, write_header};
use crate::frame_error::Field;
use crate::header::{EncodeError, Header, MAX_APDU};
use crate::time::UtcTime;

/// A whole GOOSE message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Destination, `01:0c:cd:01:00:00` to `01:0c:cd:01:01:ff`.
    pub dst: Mac,
    /// Source.
    pub src: Mac,
    /// VLAN tags, the outer one first; at most two.
    pub tags: Vec<VlanTag>,
    /// Application identifier.
    pub appid: u16,
    /// The simulate bit of Reserved1. May only be set together with `simulation`.
    pub simulate: bool,
    /// Control block reference, at most 129 octets.
    pub gocb_ref: Vec<u8>,
    /// timeAllowedtoLive, ms.
    pub time_allowed_to_live: u32,
    /// Dataset reference, at most 129 octets.
    pub dat_set: Vec<u8>,
    /// Identifier, at most 129 octets.
    pub go_id: Option<Vec<u8>>,
    /// Time of the last change of state.
    pub t: UtcTime,
    /// State number, 1 or more.
    pub st_num: u32,
    /// Sequence number within the state.
    pub sq_num: u32,
    /// Simulation flag (test in Edition 1).
    pub simulation: bool,
    /// Configuration revision.
    pub conf_rev: u32,
    /// Needs commissioning.
    pub nds_com: bool,
    /// The values; numDatSetEntries is their number.
    pub all_data: Vec<Value>,
}

impl Default for Message {
    /// The first message of a publisher without a name: state 1 with one boolean that is false, no VLAN, two seconds to live.
    fn default() -> Self {
        Self {
            dst: Mac([0x01, 0x0c, 0xcd, 0x01, 0x00, 0x01]),
            src: Mac([0; 6]),
            tags: Vec::new(),
            appid: 1,
            simulate: false,
            gocb_ref: Vec::new(),
            time_allowed_to_live: 2_000,
            dat_set: Vec::new(),
            go_id: None,
            t: UtcTime::default(),
            st_num: 1,
            sq_num: 1,
            simulation: false,
            conf_rev: 1,
            nds_com: false,
            all_data: vec![Value::Boolean(false)],
        }
    }
}

/// Number of octets that a number takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// As few as possible.
    Minimal,
    /// Five, the fixed-length encoding of IEC 61850-8-1 Ed. 2: constant for every value, so it can be patched.
    Fixed,
}

impl Message {
    /// The octets of the frame, with minimal lengths and numbers, and without padding and frame check sequence.
    ///
    /// # Errors
    /// A field outside its limits, or an APDU too long for an Ethernet frame.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        self.encode_with(Width::Minimal)
    }

    pub(super) fn encode_with(&self, width: Width) -> Result<Vec<u8>, EncodeError> {
        self.check()?;
        let mut apdu = Vec::new();
        nested(&mut apdu, tag::GOOSE_PDU, |pdu| self.write_fields(pdu, width));
        if apdu.len() > MAX_APDU {
            return Err(EncodeError::TooLong(apdu.len()));
        }
        let mut frame = Vec::with_capacity(apdu.len() + 30);
        write_header(&mut frame, self.dst, self.src, &self.tags, ether::GOOSE);
        let reserved1 = if self.simulate { Header::SIMULATE } else { 0 };
        Header::write(&mut frame, self.appid, reserved1, 0, &apdu);
        Ok(frame)
    }

    fn check(&self) -> Result<(), EncodeError> {
        if self.tags.len() > 2 {
            return Err(EncodeError::Tags(self.tags.len()));
        }
        if self.simulate && !self.simulation {
            return Err(EncodeError::SimulationMismatch);
        }
        let names = [
            (Field::GocbRef, Some(&self.gocb_ref)),
            (Field::DatSet, Some(&self.dat_set)),
            (Field::GoId, self.go_id.as_ref()),
        ];
        for (field, name) in names {
            if let Some(octets) = name.map(Vec::len).filter(|&len| len > MAX_NAME) {
                return Err(EncodeError::Text {
                    field,
                    octets,
                    wanted: "at most 129",
                });
            }
        }
        self.all_data.iter().try_for_each(|value| value.check(0))
    }

    fn write_fields(&self, pdu: &mut Vec<u8>, width: Width) {
        let boolean = |value: bool| [if value { 0xff } else { 0 }];
        write_element(pdu, tag::GOCB_REF, &self.gocb_ref);
        number(pdu, tag::TIME_ALLOWED_TO_LIVE, self.time_allowed_to_live, width);
        write_element(pdu, tag::DAT_SET, &self.dat_set);
        if let Some(go_id) = &self.go_id {
            write_element(pdu, tag::GO_ID, go_id);
        }
        write_element(pdu, tag::T, &self.t.to_bytes());
        number(pdu, tag::ST_NUM, self.st_num, width);
        number(pdu, tag::SQ_NUM, self.sq_num, width);
        write_element(pdu, tag::SIMULATION, &boolean(self.simulation));
        number(pdu, tag::CONF_REV, self.conf_rev, Width::Minimal);
        write_element(pdu, tag::NDS_COM, &boolean(self.nds_com));
        // More values than 32 bits can count do not fit in a frame; the size is checked after encoding.
        number(
            pdu,
            tag::NUM_DAT_SET_ENTRIES,
            self.all_data.len() as u32,
            Width::Minimal,
        );
        nested(pdu, tag::ALL_DATA, |out| {
            for value in &self.all_data {
                value.write(out, width);
            }
        });
    }
}

fn number(out: &mut Vec<u8>, tag: Tag, value: u32, width: Width) {
    nested(out, tag, |content| match width {
        Width::Minimal => content.extend(unsigned_octets(u64::from(value))),
        Width::Fixed => {
            content.push(0);
            content.extend_from_slice(&value.to_be_bytes());
        }
    });
}

impl From<&Frame<'_>> for Message {
    fn from(frame: &Frame<'_>) -> Self {
        let ethernet = frame.ethernet();
        Self {
            dst: ethernet.dst(),
            src: ethernet.src(),
            tags: ethernet.vlan().into_iter().chain(ethernet.inner_vlan()).collect(),
            appid: frame.header().appid,
            simulate: frame.simulate(),
            gocb_ref: frame.gocb_ref().to_vec(),
            time_allowed_to_live: frame.time_allowed_to_live(),
            dat_set: frame.dat_set().to_vec(),
            go_id: frame.go_id().map(<[u8]>::to_vec),
            t: frame.t(),
            st_num: frame.st_num(),
            sq_num: frame.sq_num(),
            simulation: frame.simulation(),
            conf_rev: frame.conf_rev(),
            nds_com: frame.nds_com(),
            all_data: frame.all_data().map(Value::from).collect(),
        }
    }
}
