//! The frame: encoded once, then changed in place.

use super::TalkConfig;
use crate::error::ProbeError;
use crate::framing::{Framing, per_second};
use crate::port::Port;
use units::Tai;
use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{self, Mac};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};
use wire::test_frame::{self, TestFrame, TestFrameKind};

/// Group address of our AVTP stream, of the range that MAAP hands out (IEEE 1722-2016, annex B).
pub const AVTP_DESTINATION: Mac = Mac([0x91, 0xe0, 0xf0, 0x00, 0xfe, 0x00]);

/// Group address of our SV stream: the first of the range IEC 61850-9-2 recommends.
pub const SV_DESTINATION: Mac = Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x00]);

/// Largest transit time of SR class A, which its presentation times allow for (IEEE 802.1BA).
const MAX_TRANSIT_NS: i64 = 2_000_000;

/// Number of members of the SV dataset, as in 9-2LE.
const MEMBERS: usize = 8;

enum Carrier {
    Test { frame: Vec<u8>, fields_at: usize },
    Avtp(AafTemplate),
    Sv { template: Template, rate: u64 },
}

/// Fields that change from frame to frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    /// Number of the frame's cycle.
    pub(super) cycle: u64,
    /// Number of frames sent before this one, without marked frames; in an end mark, the number of all frames.
    pub(super) sequence: u64,
    /// Marks of the frame.
    pub(super) flags: u16,
    /// Due instant of the frame.
    pub(super) due: Tai,
}

/// The next frame to send.
pub(super) struct Frame {
    carrier: Carrier,
    session: u32,
    /// Number of frames made so far, including marked ones; the AVTP counter follows it.
    patched: u8,
}

impl Frame {
    pub(super) fn new(config: &TalkConfig, port: &Port) -> Result<Self, ProbeError> {
        let carrier = carrier(config, Mac(port.mac()))?;
        let frame = Self {
            carrier,
            // The low bits of the clock differ from run to run, which is sufficient for a session number.
            session: sys::clock::monotonic().as_ns() as u32,
            patched: 0,
        };
        let tag = config.vlan.map_or(0, |_| ether::TAG);
        let (octets, room) = (frame.bytes().len(), port.mtu() as usize + ether::HEADER + tag);
        if octets > room {
            return Err(ProbeError::Usage(format!(
                "talk: a frame of {octets} octets does not fit {}: its MTU of {} allows {room}",
                port.interface(),
                port.mtu()
            )));
        }
        Ok(frame)
    }

    /// Prepares the next frame. Allocates nothing.
    pub(super) fn patch(&mut self, change: &Change) {
        let fields = TestFrame {
            kind: TestFrameKind::Stream,
            flags: change.flags,
            session: self.session,
            sequence: change.sequence,
            sent_ns: change.due.as_ns().cast_unsigned(),
        };
        let fields = fields.fields();
        let place = match &mut self.carrier {
            Carrier::Test { frame, fields_at } => frame.get_mut(*fields_at..),
            Carrier::Avtp(template) => {
                template.set_sequence_num(self.patched);
                template.set_timestamp_ns((change.due.as_ns() + MAX_TRANSIT_NS) as u32);
                Some(template.data_mut())
            }
            Carrier::Sv { template, rate } => {
                let smp_cnt = u16::try_from(change.cycle % *rate).unwrap_or(0);
                patch_sv(template, smp_cnt, &fields);
                None
            }
        };
        if let Some(place) = place.and_then(|data| data.get_mut(..fields.len())) {
            place.copy_from_slice(&fields);
        }
        self.patched = self.patched.wrapping_add(1);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.carrier {
            Carrier::Test { frame, .. } => frame,
            Carrier::Avtp(template) => template.bytes(),
            Carrier::Sv { template, .. } => template.bytes(),
        }
    }
}

fn patch_sv(template: &mut Template, smp_cnt: u16, fields: &[u8]) {
    if let Some(mut asdu) = template.asdu_mut(0) {
        asdu.set_smp_cnt(smp_cnt);
        if let Some(place) = asdu.seq_data_mut().get_mut(..fields.len()) {
            place.copy_from_slice(fields);
        }
    }
}

fn carrier(config: &TalkConfig, src: Mac) -> Result<Carrier, ProbeError> {
    let own = match config.framing {
        Framing::Test => Mac::BROADCAST,
        Framing::Avtp => AVTP_DESTINATION,
        Framing::Sv => SV_DESTINATION,
    };
    let dst = config.destination.unwrap_or(own);
    let tags: Vec<_> = config.vlan.into_iter().collect();
    match config.framing {
        Framing::Test => {
            let mut frame = Vec::new();
            ether::write_header(&mut frame, dst, src, &tags, test_frame::ETHER_TYPE);
            let (fields_at, tag) = (frame.len(), frame.len() - ether::HEADER);
            let longest = test_frame::MAX_OCTETS;
            if !(test_frame::MIN_OCTETS..=longest).contains(&config.frame_bytes) {
                let (given, shortest) = (config.frame_bytes, test_frame::MIN_OCTETS);
                return Err(ProbeError::Usage(format!(
                    "talk: a frame of {given} octets is not possible: use {shortest} to {longest}"
                )));
            }
            frame.resize(config.frame_bytes + tag, 0);
            Ok(Carrier::Test { frame, fields_at })
        }
        Framing::Avtp => {
            let stream = AafStream {
                dst,
                src,
                tags,
                unique_id: 1,
            };
            Ok(Carrier::Avtp(AafTemplate::new(&stream)))
        }
        Framing::Sv => {
            let asdu = OwnedAsdu::new("TALK01", 1, 0, &[(0, SvQuality::GOOD); MEMBERS]);
            let message = Message {
                dst,
                src,
                tags,
                appid: 0x4000,
                // The values are no real samples, and a relay must not use them.
                simulate: true,
                asdus: vec![asdu],
            };
            let template = Template::new(&message).map_err(|error| ProbeError::Usage(format!("talk: {error}")))?;
            let rate = per_second(config.period).ok_or_else(|| {
                ProbeError::Usage(format!(
                    "talk: sampled values every {} are not possible: smpCnt counts a whole number of frames in a \
                     second, at most 65536",
                    config.period
                ))
            })?;
            Ok(Carrier::Sv { template, rate })
        }
    }
}
