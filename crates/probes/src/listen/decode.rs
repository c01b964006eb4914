//! Finds for a frame the stream to which it belongs, and its number there.

use crate::framing::mark;
use model::{StreamId, StreamKind};
use std::io::Write;
use wire::avtp;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::sequence::Contents;
use wire::sv::{self, Fingerprints};
use wire::test_frame::{self, TestFrame, TestFrameKind};

/// The stream's name in `octets`: `test-02:00:00:00:00:01`, `avtp-0200000000010001`, `sv-MU01`; with its VLAN, and with a number
/// when `namesakes` streams have that name already. Returns its length. Allocates nothing.
pub(super) fn write_label(stream: &StreamId, namesakes: usize, octets: &mut [u8]) -> usize {
    let room = octets.len();
    let mut left = octets;
    // Names are far shorter than the room; what does not fit is cut.
    let _ = write_name(stream, &mut left).and_then(|()| match namesakes {
        0 => Ok(()),
        before => write!(left, "#{}", before + 1),
    });
    room - left.len()
}

fn write_name(stream: &StreamId, out: &mut impl Write) -> std::io::Result<()> {
    write!(out, "{}-", stream.kind.word())?;
    match (stream.kind, stream.source) {
        (StreamKind::TestFrames, Some(source)) => write!(out, "{source}")?,
        (StreamKind::Avtp, _) => stream.name().iter().try_for_each(|octet| write!(out, "{octet:02x}"))?,
        _ => out.write_all(stream.name())?,
    }
    match stream.vid {
        Some(vid) => write!(out, "-vlan{vid}"),
        None => Ok(()),
    }
}

/// True if the two streams would have the same name.
pub(super) fn are_namesakes(one: &StreamId, other: &StreamId) -> bool {
    let named_by = |stream: &StreamId| (stream.kind, stream.source, stream.vid);
    named_by(one) == named_by(other) && one.name() == other.name()
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
        /// Contents of its frames.
        contents: Contents,
    },
}

/// Mark of our talker on a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Of the warm-up: not counted, but the frames from number 0 on will be.
    Begin,
    /// One of the stream.
    None,
    /// Behind the stream: its sequence number is how many there were.
    End,
}

/// A frame of a stream.
pub(super) struct Decoded {
    pub(super) stream: StreamId,
    pub(super) number: Number,
    pub(super) source: Mac,
}

/// The stream of a frame, and its number there. `None`: no stream that is looked for. An error: a frame of one that breaks a rule.
pub(super) fn decode(data: &[u8], vlan: Option<VlanTag>, prints: &Fingerprints) -> Result<Option<Decoded>, Broken> {
    let Ok(ethernet) = EthernetView::with_tag(data, vlan) else {
        return Ok(None);
    };
    match ethernet.ether_type() {
        ether::SV => sampled_values(&ethernet, prints).map(Some),
        _ => Ok(other(&ethernet)),
    }
}

/// A frame that cannot be read: which stream it is of is not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken;

fn sampled_values(ethernet: &EthernetView<'_>, prints: &Fingerprints) -> Result<Decoded, Broken> {
    let frame = sv::Frame::parse(ethernet).map_err(|_| Broken)?;
    let first = frame.asdus().next().ok_or(Broken)?;
    // A listener counts frames: one of several streams has no number in any of them.
    if frame.asdus().any(|asdu| asdu.sv_id() != first.sv_id()) {
        return Err(Broken);
    }
    let stream = StreamId {
        destination: Some(ethernet.dst()),
        vid: ethernet.vlan().map(VlanTag::vid),
        appid: Some(frame.appid()),
        ..StreamId::named(StreamKind::SampledValues, first.sv_id())
    };
    Ok(Decoded {
        stream,
        number: own(first.seq_data()).unwrap_or_else(|| samples(&frame, &first, prints)),
        source: ethernet.src(),
    })
}

/// Test frames and AVTP.
fn other(ethernet: &EthernetView<'_>) -> Option<Decoded> {
    let vid = ethernet.vlan().map(VlanTag::vid);
    let (stream, number) = match ethernet.ether_type() {
        test_frame::ETHER_TYPE => {
            // Their source is all that tells the streams of our test frames apart.
            let stream = StreamId {
                source: Some(ethernet.src()),
                vid,
                ..StreamId::named(StreamKind::TestFrames, &[])
            };
            (stream, own(ethernet.payload())?)
        }
        avtp::ETHER_TYPE => {
            let frame = avtp::Frame::parse(ethernet).ok()?;
            let number = own(frame.data()).unwrap_or(Number::Counter {
                value: u32::from(frame.sequence_num()),
                modulus: 1 << 8,
                epoch: frame.restart(),
            });
            let stream = StreamId {
                destination: Some(ethernet.dst()),
                vid,
                ..StreamId::named(StreamKind::Avtp, &frame.stream_id().unwrap_or(0).to_be_bytes())
            };
            (stream, number)
        }
        _ => return None,
    };
    Some(Decoded {
        stream,
        number,
        source: ethernet.src(),
    })
}

/// The fields of our own talker, if these are.
fn own(octets: &[u8]) -> Option<Number> {
    let fields = TestFrame::read(octets)
        .ok()
        .filter(|fields| fields.kind == TestFrameKind::Stream)?;
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
fn samples(frame: &sv::Frame<'_>, first: &sv::Asdu<'_>, prints: &Fingerprints) -> Number {
    let asdus = u16::try_from(frame.asdu_count()).unwrap_or(1).max(1);
    let prints = frame
        .asdus()
        .map(|asdu| prints.of(asdu.seq_data(), asdu.smp_synch()).get());
    let joined = prints.fold(0, |joined: u32, print| joined.rotate_left(5) ^ print);
    Number::Samples {
        count: first.smp_cnt() / asdus,
        asdus,
        contents: Contents::new(joined).unwrap_or(Contents::MIN),
    }
}
