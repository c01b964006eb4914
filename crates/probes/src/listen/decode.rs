//! Finds the stream that a frame belongs to, and its number within the stream.

use crate::framing::mark;
use model::{StreamId, StreamKind};
use std::io::Write;
use wire::avtp;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::sequence::Contents;
use wire::sv::{self, Fingerprints};
use wire::test_frame::{self, TestFrame, TestFrameKind};

/// Writes the name of a stream into `octets`: `test-02:00:00:00:00:01`, `avtp-0200000000010001`, `sv-MU01`, followed by its VLAN,
/// and by a number if `namesakes` other streams already have that name. Returns the length. Allocates nothing.
pub(super) fn write_label(stream: &StreamId, namesakes: usize, octets: &mut [u8]) -> usize {
    let room = octets.len();
    let mut left = octets;
    // Names are far shorter than the buffer; a longer one is cut.
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

/// Position of a frame in its stream, as the frame states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Fields that our talker puts into every frame.
    Own { session: u32, sequence: u64, mark: Mark },
    /// Counter of the protocol, which wraps at `modulus`.
    Counter {
        value: u32,
        modulus: u32,
        /// Bit that toggles when the talker's media clock was restarted.
        epoch: bool,
    },
    /// smpCnt of the first sample, in frames; it wraps each second.
    Samples {
        count: u16,
        /// Number of samples in the frame.
        asdus: u16,
        /// Contents of the frame's samples.
        contents: Contents,
    },
}

/// Mark that our talker sets on a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Warm-up frame: not counted. The frames from number 0 on are counted.
    Begin,
    /// Ordinary frame of the stream.
    None,
    /// End mark, sent after the last frame: its sequence number is the number of frames sent.
    End,
}

/// A frame of a stream.
pub(super) struct Decoded {
    pub(super) stream: StreamId,
    pub(super) number: Number,
    pub(super) source: Mac,
    /// Priority in its VLAN tag.
    pub(super) pcp: Option<u8>,
}

/// Decodes the stream of a frame and its number. `None` if the stream is of no wanted kind; an error if the frame breaks a rule
/// of its kind.
pub(super) fn decode(data: &[u8], vlan: Option<VlanTag>, prints: &Fingerprints) -> Result<Option<Decoded>, Broken> {
    let Ok(ethernet) = EthernetView::with_tag(data, vlan) else {
        return Ok(None);
    };
    match ethernet.ether_type() {
        ether::SV => sampled_values(&ethernet, prints).map(Some),
        _ => Ok(other(&ethernet)),
    }
}

/// A frame that cannot be read, so that its stream is not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken;

fn sampled_values(ethernet: &EthernetView<'_>, prints: &Fingerprints) -> Result<Decoded, Broken> {
    let frame = sv::Frame::parse(ethernet).map_err(|_| Broken)?;
    let first = frame.asdus().next().ok_or(Broken)?;
    // A listener counts frames. A frame with several streams has no frame number in any of them.
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
        pcp: ethernet.vlan().map(VlanTag::pcp),
    })
}

/// Decodes test frames and AVTP frames.
fn other(ethernet: &EthernetView<'_>) -> Option<Decoded> {
    let vid = ethernet.vlan().map(VlanTag::vid);
    let (stream, number) = match ethernet.ether_type() {
        test_frame::ETHER_TYPE => {
            // Streams of our test frames differ only in their source address.
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
        pcp: ethernet.vlan().map(VlanTag::pcp),
    })
}

/// Fields of our own talker; `None` if the frame is not from it.
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

/// Number of a frame, counted by the smpCnt of its first sample.
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
