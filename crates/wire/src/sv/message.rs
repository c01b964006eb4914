//! The owned form of an SV frame, and its encoder.

use super::{Asdu, Frame, MAX_ASDUS, MAX_NAME, MEMBER_UNIT, tag};
use crate::ber::{nested, unsigned_octets, write_element};
use crate::ether::{self, Mac, VlanTag, write_header};
use crate::frame_error::Field;
use crate::header::{EncodeError, Header, MAX_APDU};
use crate::quality::SvQuality;
use crate::time::UtcTime;

/// A whole SV frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Destination, `01:0c:cd:04:00:00` to `01:0c:cd:04:01:ff`.
    pub dst: Mac,
    /// Source.
    pub src: Mac,
    /// VLAN tags, the outer one first; at most two.
    pub tags: Vec<VlanTag>,
    /// Application identifier.
    pub appid: u16,
    /// The simulate bit of Reserved1.
    pub simulate: bool,
    /// The ASDUs, 1 to 16.
    pub asdus: Vec<OwnedAsdu>,
}

/// One ASDU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnedAsdu {
    /// Name of the stream, 1 to 129 octets of visible ASCII.
    pub sv_id: Vec<u8>,
    /// Dataset reference, 1 to 129 octets.
    pub dat_set: Option<Vec<u8>>,
    /// Sample counter.
    pub smp_cnt: u16,
    /// Configuration revision.
    pub conf_rev: u32,
    /// Refresh time.
    pub refr_tm: Option<UtcTime>,
    /// Synchronisation; the standard requires it, `None` leaves it out.
    pub smp_synch: Option<u8>,
    /// Sample rate.
    pub smp_rate: Option<u16>,
    /// Dataset members back to back.
    pub seq_data: Vec<u8>,
    /// Unit of the sample rate.
    pub smp_mod: Option<u16>,
    /// EUI-64 of the PTP grandmaster.
    pub gm_identity: Option<[u8; 8]>,
}

impl OwnedAsdu {
    /// An ASDU as 9-2LE and IEC 61869-9 publish it: svID, smpCnt, confRev, smpSynch and INT32 values with quality.
    pub fn new(sv_id: &str, conf_rev: u32, smp_synch: u8, members: &[(i32, SvQuality)]) -> Self {
        let octets = |&(value, quality): &(i32, SvQuality)| [value.to_be_bytes(), quality.0.to_be_bytes()].concat();
        Self {
            sv_id: sv_id.as_bytes().to_vec(),
            conf_rev,
            smp_synch: Some(smp_synch),
            seq_data: members.iter().flat_map(octets).collect(),
            ..Self::default()
        }
    }

    fn check(&self) -> Result<(), EncodeError> {
        for (field, name) in [(Field::SvId, Some(&self.sv_id)), (Field::DatSet, self.dat_set.as_ref())] {
            if let Some(octets) = name.map(Vec::len).filter(|len| !(1..=MAX_NAME).contains(len)) {
                return Err(EncodeError::Text {
                    field,
                    octets,
                    wanted: "1 to 129",
                });
            }
        }
        if self.seq_data.is_empty() || !self.seq_data.len().is_multiple_of(MEMBER_UNIT) {
            return Err(EncodeError::SeqData(self.seq_data.len()));
        }
        Ok(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut element = |tag, content: Option<&[u8]>| {
            if let Some(content) = content {
                write_element(out, tag, content);
            }
        };
        element(tag::SV_ID, Some(&self.sv_id));
        element(tag::DAT_SET, self.dat_set.as_deref());
        element(tag::SMP_CNT, Some(&self.smp_cnt.to_be_bytes()));
        element(tag::CONF_REV, Some(&self.conf_rev.to_be_bytes()));
        element(
            tag::REFR_TM,
            self.refr_tm.map(UtcTime::to_bytes).as_ref().map(<[u8; 8]>::as_slice),
        );
        element(
            tag::SMP_SYNCH,
            self.smp_synch.map(|synch| [synch]).as_ref().map(<[u8; 1]>::as_slice),
        );
        element(
            tag::SMP_RATE,
            self.smp_rate.map(u16::to_be_bytes).as_ref().map(<[u8; 2]>::as_slice),
        );
        element(tag::SEQ_DATA, Some(&self.seq_data));
        element(
            tag::SMP_MOD,
            self.smp_mod.map(u16::to_be_bytes).as_ref().map(<[u8; 2]>::as_slice),
        );
        element(tag::GM_IDENTITY, self.gm_identity.as_ref().map(<[u8; 8]>::as_slice));
    }
}

impl From<Asdu<'_>> for OwnedAsdu {
    fn from(asdu: Asdu<'_>) -> Self {
        Self {
            sv_id: asdu.sv_id().to_vec(),
            dat_set: asdu.dat_set().map(<[u8]>::to_vec),
            smp_cnt: asdu.smp_cnt(),
            conf_rev: asdu.conf_rev(),
            refr_tm: asdu.refr_tm(),
            smp_synch: asdu.smp_synch(),
            smp_rate: asdu.smp_rate(),
            seq_data: asdu.seq_data().to_vec(),
            smp_mod: asdu.smp_mod(),
            gm_identity: asdu.gm_identity(),
        }
    }
}

impl Message {
    /// The octets of the frame, with minimal lengths and without padding and frame check sequence.
    ///
    /// # Errors
    /// A field outside its limits, or an APDU too long for an Ethernet frame.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        if self.tags.len() > 2 {
            return Err(EncodeError::Tags(self.tags.len()));
        }
        if !(1..=MAX_ASDUS).contains(&self.asdus.len()) {
            return Err(EncodeError::Asdus(self.asdus.len()));
        }
        self.asdus.iter().try_for_each(OwnedAsdu::check)?;
        let mut apdu = Vec::new();
        nested(&mut apdu, tag::SAV_PDU, |pdu| {
            let count: Vec<u8> = unsigned_octets(self.asdus.len() as u64).collect();
            write_element(pdu, tag::NO_ASDU, &count);
            nested(pdu, tag::SEQ_ASDU, |seq| {
                for asdu in &self.asdus {
                    nested(seq, tag::ASDU, |out| asdu.write(out));
                }
            });
        });
        if apdu.len() > MAX_APDU {
            return Err(EncodeError::TooLong(apdu.len()));
        }
        let mut frame = Vec::with_capacity(apdu.len() + 30);
        write_header(&mut frame, self.dst, self.src, &self.tags, ether::SV);
        let reserved1 = if self.simulate { Header::SIMULATE } else { 0 };
        Header::write(&mut frame, self.appid, reserved1, 0, &apdu);
        Ok(frame)
    }
}

impl From<&Frame<'_>> for Message {
    fn from(frame: &Frame<'_>) -> Self {
        let ethernet = frame.ethernet();
        Self {
            dst: ethernet.dst(),
            src: ethernet.src(),
            tags: ethernet.vlan().into_iter().chain(ethernet.inner_vlan()).collect(),
            appid: frame.appid(),
            simulate: frame.simulate(),
            asdus: frame.asdus().map(OwnedAsdu::from).collect(),
        }
    }
}
