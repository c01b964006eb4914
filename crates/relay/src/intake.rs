//! Extracts samples from frames.

use crate::config::{Config, Stream};
use crate::engine::Sample;
use wire::ether::{EthernetView, VlanTag};
use wire::sv::{FastPath, Frame, Members};

/// Result for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Its samples were passed on; the frame belongs to the stream with this number.
    Of(usize),
    /// The frame belongs to no stream of the relay.
    Other,
    /// Its number of members differs from that of the stream with this number.
    OtherMembers(usize),
    /// Its confRev differs from that of the stream with this number.
    OtherConfRev(usize),
    /// The frame breaks a rule of IEC 61850-9-2.
    Malformed,
}

/// Recognises the frames of the relay's streams. The next frame of a stream is recognised without parsing.
#[derive(Debug)]
pub struct Intake {
    paths: Box<[Path]>,
    /// Index of the stream to try first for the next frame: publishers send their streams in the same order each time.
    likely: usize,
}

/// The last fully parsed frame of a stream.
#[derive(Debug, Clone, Default)]
struct Path {
    fast: FastPath,
    vlan: Option<VlanTag>,
    simulated: bool,
}

impl Intake {
    /// Starts without known frames.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            paths: vec![Path::default(); config.streams.len()].into_boxed_slice(),
            likely: 0,
        }
    }

    /// Passes on each sample of a frame, with the number of its stream; `vlan` is the tag that the kernel removed from the frame.
    ///
    /// Allocates memory when a stream comes for the first time, or when its frames become longer.
    pub fn take(
        &mut self,
        config: &Config,
        data: &[u8],
        vlan: Option<VlanTag>,
        mut each: impl FnMut(usize, &Sample),
    ) -> Taken {
        match self.fast(config, data, vlan, &mut each) {
            Some(stream) => Taken::Of(stream),
            None => self.full(config, data, vlan, &mut each),
        }
    }

    fn fast(
        &mut self,
        config: &Config,
        data: &[u8],
        vlan: Option<VlanTag>,
        each: &mut impl FnMut(usize, &Sample),
    ) -> Option<usize> {
        let count = self.paths.len();
        let order = (self.likely..count).chain(0..self.likely);
        for stream in order {
            let path = &self.paths[stream];
            let Some(asdus) = path.fast.accept(data).filter(|_| path.vlan == vlan) else {
                continue;
            };
            for asdu in asdus {
                let (values, quality) = config.streams[stream].order.sample(Members::new(asdu.seq_data)?)?;
                let sample = Sample {
                    smp_cnt: asdu.smp_cnt,
                    values,
                    quality,
                    smp_synch: asdu.smp_synch.unwrap_or(0),
                    simulated: path.simulated,
                    conflicting: false,
                };
                each(stream, &sample);
            }
            self.likely = (stream + 1) % count;
            return Some(stream);
        }
        None
    }

    fn full(
        &mut self,
        config: &Config,
        data: &[u8],
        vlan: Option<VlanTag>,
        each: &mut impl FnMut(usize, &Sample),
    ) -> Taken {
        let parsed = EthernetView::with_tag(data, vlan).and_then(|ethernet| Frame::parse(&ethernet));
        let Ok(frame) = parsed else {
            return Taken::Malformed;
        };
        let Some(stream) = stream_of(config, &frame) else {
            return Taken::Other;
        };
        let taken = samples(config, stream, &frame, |sample| each(stream, sample));
        if taken == Taken::Of(stream) && is_of_one(&frame) {
            let path = &mut self.paths[stream];
            path.fast.learn(&frame);
            path.vlan = vlan;
            path.simulated = frame.simulate();
        }
        taken
    }
}

/// Passes on each sample of this stream in a frame.
pub fn samples(config: &Config, stream: usize, frame: &Frame<'_>, mut each: impl FnMut(&Sample)) -> Taken {
    let subscribed = &config.streams[stream];
    let ours = frame
        .asdus()
        .filter(|asdu| asdu.sv_id() == subscribed.spec.sv_id.as_bytes());
    for asdu in ours {
        if asdu.conf_rev() != subscribed.spec.conf_rev {
            return Taken::OtherConfRev(stream);
        }
        let Some((values, quality)) = asdu.members().and_then(|members| subscribed.order.sample(members)) else {
            return Taken::OtherMembers(stream);
        };
        let sample = Sample {
            smp_cnt: asdu.smp_cnt(),
            values,
            quality,
            smp_synch: asdu.smp_synch().unwrap_or(0),
            simulated: frame.simulate(),
            conflicting: false,
        };
        each(&sample);
    }
    Taken::Of(stream)
}

/// The stream of a frame, by destination, APPID, svID, and by VLAN if the frame has a tag, since a capture may have lost its
/// tags.
#[must_use]
pub fn stream_of(config: &Config, frame: &Frame<'_>) -> Option<usize> {
    config.streams.iter().position(|stream| is_of(stream, frame))
}

fn is_of(stream: &Stream, frame: &Frame<'_>) -> bool {
    let spec = &stream.spec;
    let vlan = frame.ethernet().vlan().map(VlanTag::vid);
    let is_in_vlan = spec.vlan.is_none_or(|tag| vlan.is_none_or(|vid| vid == tag.vid()));
    let sv_id = frame.asdus().next().map(|asdu| asdu.sv_id());
    spec.destination == frame.ethernet().dst()
        && spec.appid == frame.appid()
        && is_in_vlan
        && sv_id == Some(spec.sv_id.as_bytes())
}

/// True if all ASDUs belong to one stream.
fn is_of_one(frame: &Frame<'_>) -> bool {
    let mut asdus = frame.asdus();
    let first = asdus.next().map(|asdu| asdu.sv_id());
    asdus.all(|asdu| Some(asdu.sv_id()) == first)
}
