//! From a frame to the stream it belongs to and its number there.

use crate::talk::{Framing, mark};
use std::io::Write;
use wire::avtp;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::sv;
use wire::test_frame::{self, Kind, TestFrame};

/// Octets of a stream's name that are kept: an svID in practice, and every other name.
pub(super) const NAME_OCTETS: usize = 40;

/// What tells one stream from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    framing: Framing,
    source: Mac,
    vid: Option<u16>,
    /// stream_id of AVTP, APPID of SV.
    id: u64,
    /// svID, else zeros.
    name: [u8; NAME_OCTETS],
}

impl Key {
    /// The stream's name in `octets`: `test-02:00:00:00:00:01`, `avtp-0200000000010001`, `sv-MU01`; with its VLAN, and with a
    /// number when `namesakes` streams have that name already. Returns its length. Allocates nothing.
    pub(super) fn write_label(&self, namesakes: usize, octets: &mut [u8]) -> usize {
        let room = octets.len();
        let mut left = octets;
        // Names are far shorter than the room; what does not fit is cut.
        let _ = self.write_name(&mut left).and_then(|()| match namesakes {
            0 => Ok(()),
            before => write!(left, "#{}", before + 1),
        });
        room - left.len()
    }

    fn write_name(&self, out: &mut impl Write) -> std::io::Result<()> {
        match self.framing {
            Framing::Test => write!(out, "test-{}", self.source)?,
            Framing::Avtp => write!(out, "avtp-{:016x}", self.id)?,
            Framing::Sv => {
                out.write_all(b"sv-")?;
                out.write_all(self.name())?;
            }
        }
        match self.vid {
            Some(vid) => write!(out, "-vlan{vid}"),
            None => Ok(()),
        }
    }

    /// Whether the two streams would have the same name.
    pub(super) fn is_namesake(&self, other: &Self) -> bool {
        let same = match self.framing {
            Framing::Test => self.source == other.source,
            Framing::Avtp => self.id == other.id,
            Framing::Sv => self.name == other.name,
        };
        same && (self.framing, self.vid) == (other.framing, other.vid)
    }

    fn name(&self) -> &[u8] {
        let length = self.name.iter().position(|octet| *octet == 0).unwrap_or(NAME_OCTETS);
        &self.name[..length]
    }
}

/// How a frame says which of its stream it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// By the fields that our talker puts into every frame.
    Own { session: u32, sequence: u64, mark: Mark },
    /// By the protocol's own counter, which wraps at `modulus`.
    Counter {
        value: u32,
        modulus: u32,
        /// Bit that changes when the talker's media clock began anew.
        epoch: bool,
    },
    /// By the smpCnt of its first sample, in frames: it wraps each second.
    Samples {
        count: u16,
        /// Samples in the frame.
        asdus: u16,
    },
}

/// What our talker says of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Of the warm-up: not counted, but the frames from number 0 on will be.
    Begin,
    /// One of the stream.
    None,
    /// Behind the stream: its sequence number is how many there were.
    End,
}

/// The stream of a frame, and its number there. `None`: no stream that is looked for.
pub(super) fn decode(data: &[u8], vlan: Option<VlanTag>) -> Option<(Key, Number)> {
    let ethernet = EthernetView::with_tag(data, vlan).ok()?;
    let mut key = Key {
        framing: Framing::Test,
        source: ethernet.src(),
        vid: ethernet.vlan().map(VlanTag::vid),
        id: 0,
        name: [0; NAME_OCTETS],
    };
    let number = match ethernet.ether_type() {
        test_frame::ETHER_TYPE => own(ethernet.payload())?,
        avtp::ETHER_TYPE => {
            let frame = avtp::Frame::parse(&ethernet).ok()?;
            (key.framing, key.id) = (Framing::Avtp, frame.stream_id().unwrap_or(0));
            own(frame.data()).unwrap_or(Number::Counter {
                value: u32::from(frame.sequence_num()),
                modulus: 1 << 8,
                epoch: frame.restart(),
            })
        }
        ether::SV => {
            let frame = sv::Frame::parse(&ethernet).ok()?;
            let first = frame.asdus().next()?;
            (key.framing, key.id) = (Framing::Sv, u64::from(frame.appid()));
            let kept = first.sv_id().len().min(NAME_OCTETS);
            key.name[..kept].copy_from_slice(&first.sv_id()[..kept]);
            own(first.seq_data()).unwrap_or_else(|| samples(&first, frame.asdu_count()))
        }
        _ => return None,
    };
    Some((key, number))
}

/// The fields of our own talker, if these are.
fn own(octets: &[u8]) -> Option<Number> {
    let fields = TestFrame::read(octets)
        .ok()
        .filter(|fields| fields.kind == Kind::Stream)?;
    let mark = match fields.flags {
        mark::BEGIN => Mark::Begin,
        mark::END => Mark::End,
        _ => Mark::None,
    };
    Some(Number::Own {
        session: fields.session,
        sequence: fields.sequence,
        mark,
    })
}

/// Frames counted by the smpCnt of their first sample.
fn samples(first: &sv::Asdu<'_>, asdus: usize) -> Number {
    let asdus = u16::try_from(asdus).unwrap_or(1).max(1);
    Number::Samples {
        count: first.smp_cnt() / asdus,
        asdus,
    }
}
