//! The frames of a capture, in memory, ready to be sent again and again.

use crate::error::ProbeError;
use capture::{LinkType, Reader};
use std::collections::HashMap;
use std::path::Path;
use wire::ether::{EthernetView, Mac};
use wire::sequence::Sequence;
use wire::sv::Frame;

/// Largest capture that is taken into memory, in octets of its frames.
const MOST_OCTETS: usize = 1 << 30;

/// Rates that merging units have (IEC 61850-9-2LE, IEC 61869-9, and 96 samples a cycle at 60 Hz), for streams whose smpCnt does
/// not wrap in the capture.
const USUAL_RATES: [u32; 6] = [4_000, 4_800, 5_760, 12_800, 14_400, 15_360];

/// How far from a usual rate a stream may be, as a share.
const RATE_TOLERANCE: f64 = 0.02;

/// One frame of the capture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// After the first frame, in ns.
    pub(super) at_ns: u64,
    start: usize,
    len: usize,
    first_patch: usize,
    patches: usize,
}

/// A sample counter in a frame.
#[derive(Debug, Clone, Copy)]
struct Patch {
    /// Where in the frame.
    offset: usize,
    stream: usize,
    smp_cnt: u16,
}

/// A sampled-value stream of the capture, and how its counter goes on from one round to the next.
#[derive(Debug, Clone)]
struct Stream {
    sv_id: String,
    rate: u32,
    /// Samples from the first to the last, both included, lost ones too.
    span: u64,
}

/// The frames of a capture.
#[derive(Debug, Clone)]
pub struct Recording {
    octets: Vec<u8>,
    entries: Vec<Entry>,
    patches: Vec<Patch>,
    streams: Vec<Stream>,
    /// Instant of the first frame after the top of its second, in ns.
    phase_ns: u64,
    period_ns: u64,
}

/// A frame with its time stamp.
pub(super) struct Stamped<'a> {
    pub(super) time_ns: i64,
    pub(super) data: &'a [u8],
}

/// Hands over each frame of a capture.
pub(super) fn each_frame(
    path: &Path,
    mut each: impl FnMut(&Stamped<'_>) -> Result<(), String>,
) -> Result<(), ProbeError> {
    let usage = |message: String| ProbeError::Usage(format!("{}: {message}", path.display()));
    let mut reader = Reader::open(path).map_err(|error| usage(error.to_string()))?;
    while let Some(frame) = reader.next_frame().map_err(|error| usage(error.to_string()))? {
        let number = frame.number;
        if frame.link_type != LinkType::ETHERNET {
            return Err(usage(format!("frame {number} is {}, not Ethernet", frame.link_type)));
        }
        if frame.is_cut() {
            return Err(usage(format!(
                "frame {number} was cut to {} octets: capture whole frames (snap length 0)",
                frame.data.len()
            )));
        }
        let Some(time_ns) = frame.time_ns else {
            return Err(usage(format!("frame {number} has no time stamp")));
        };
        each(&Stamped {
            time_ns,
            data: frame.data,
        })
        .map_err(usage)?;
    }
    Ok(())
}

/// A stream while the capture is read.
pub(super) struct Learned {
    sv_id: String,
    sequence: Sequence,
    counts: Vec<u16>,
    first_ns: i64,
    last_ns: i64,
}

impl Recording {
    /// Reads a capture. Frames that are cut or not Ethernet are refused: what was sent would not be what was recorded. `rate`
    /// is that of streams whose own cannot be told.
    ///
    /// # Errors
    /// The file cannot be read, holds no frame, or more than 1 GiB of them; a frame is cut or has no time stamp; a stream's rate
    /// cannot be told.
    pub fn load(path: &Path, rate: Option<u32>) -> Result<Self, ProbeError> {
        let usage = |message: String| ProbeError::Usage(format!("{}: {message}", path.display()));
        let mut loader = Loader::default();
        each_frame(path, |frame| {
            loader.take(frame.time_ns, frame.data);
            if loader.octets.len() > MOST_OCTETS {
                return Err("more than 1 GiB of frames: replay a part of it (editcap)".into());
            }
            Ok(())
        })?;
        loader.finish(rate).map_err(usage)
    }

    /// How many frames one round has.
    pub fn frames(&self) -> usize {
        self.entries.len()
    }

    /// The svIDs of its sampled-value streams.
    pub fn sv_ids(&self) -> impl Iterator<Item = &str> {
        self.streams.iter().map(|stream| stream.sv_id.as_str())
    }

    /// Time from one round to the next, in ns: from the first frame to the last, and a mean distance more.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// How long after the top of a second the first frame was captured, in ns.
    pub(super) fn phase_ns(&self) -> u64 {
        self.phase_ns
    }

    pub(super) fn entry(&self, index: usize) -> Entry {
        self.entries[index]
    }

    pub(super) fn longest(&self) -> usize {
        self.entries.iter().map(|entry| entry.len).max().unwrap_or(0)
    }

    /// Writes frame `index` as it is in round `round` to the beginning of `to`; returns its length.
    #[inline]
    pub(super) fn write(&self, index: usize, round: u64, to: &mut [u8]) -> usize {
        let Entry {
            start,
            len,
            first_patch,
            patches,
            ..
        } = self.entries[index];
        to[..len].copy_from_slice(&self.octets[start..start + len]);
        if round > 0 {
            for patch in &self.patches[first_patch..first_patch + patches] {
                let Stream { rate, span, .. } = self.streams[patch.stream];
                let rate = u64::from(rate.max(1));
                let smp_cnt = (u64::from(patch.smp_cnt) + (round % rate) * (span % rate)) % rate;
                to[patch.offset..patch.offset + 2].copy_from_slice(&(smp_cnt as u16).to_be_bytes());
            }
        }
        len
    }
}

/// Puts a recording together, frame by frame.
#[derive(Default)]
struct Loader {
    octets: Vec<u8>,
    times_ns: Vec<i64>,
    entries: Vec<Entry>,
    patches: Vec<Patch>,
    streams: Vec<Learned>,
    known: HashMap<(Mac, u16, Vec<u8>), usize>,
}

impl Loader {
    fn take(&mut self, time_ns: i64, data: &[u8]) {
        let first_patch = self.patches.len();
        if let Ok(ethernet) = EthernetView::parse(data)
            && let Ok(frame) = Frame::parse(&ethernet)
        {
            self.learn(time_ns, &frame);
        }
        self.entries.push(Entry {
            at_ns: 0,
            start: self.octets.len(),
            len: data.len(),
            first_patch,
            patches: self.patches.len() - first_patch,
        });
        self.times_ns.push(time_ns);
        self.octets.extend_from_slice(data);
    }

    fn learn(&mut self, time_ns: i64, frame: &Frame<'_>) {
        for (asdu, offset) in frame.asdus().zip(frame.smp_cnt_offsets()) {
            let key = (frame.ethernet().dst(), frame.appid(), asdu.sv_id().to_vec());
            let index = *self.known.entry(key).or_insert(self.streams.len());
            if index == self.streams.len() {
                self.streams.push(Learned::new(asdu.sv_id(), time_ns));
            }
            self.streams[index].take(asdu.smp_cnt(), time_ns);
            self.patches.push(Patch {
                offset,
                stream: index,
                smp_cnt: asdu.smp_cnt(),
            });
        }
    }

    fn finish(mut self, rate: Option<u32>) -> Result<Recording, String> {
        let Some(first_ns) = self.times_ns.iter().copied().min() else {
            return Err("no frame in it".into());
        };
        for (entry, time_ns) in self.entries.iter_mut().zip(&self.times_ns) {
            entry.at_ns = u64::try_from(time_ns - first_ns).unwrap_or(0);
        }
        // Interfaces of one capture are not always in step.
        self.entries.sort_by_key(|entry| entry.at_ns);
        let streams = self
            .streams
            .iter()
            .map(|stream| stream.finish(rate))
            .collect::<Result<Vec<_>, _>>()?;
        let span_ns = self.entries.last().map_or(0, |entry| entry.at_ns);
        Ok(Recording {
            period_ns: span_ns + mean_distance_ns(span_ns, &self.streams, self.entries.len()),
            phase_ns: first_ns.rem_euclid(1_000_000_000) as u64,
            octets: self.octets,
            entries: self.entries,
            patches: self.patches,
            streams,
        })
    }
}

/// What comes between the last frame of a round and the first of the next: the shortest mean distance of a stream, so that the
/// fastest one goes on evenly, or that of all frames where there is no stream.
fn mean_distance_ns(span_ns: u64, streams: &[Learned], frames: usize) -> u64 {
    let of_stream = |stream: &Learned| {
        let instants = stream
            .sequence
            .rate()
            .map(|rate| 1_000_000_000 / u64::from(rate.max(1)));
        let counted = u64::try_from(stream.last_ns - stream.first_ns).unwrap_or(0);
        instants.unwrap_or_else(|| counted.checked_div(stream.counts.len() as u64 - 1).unwrap_or(0))
    };
    let shortest = streams.iter().map(of_stream).filter(|ns| *ns > 0).min();
    let of_all = span_ns.checked_div(frames as u64 - 1).unwrap_or(0);
    shortest.unwrap_or(of_all).max(1)
}

impl Learned {
    pub(super) fn new(sv_id: &[u8], time_ns: i64) -> Self {
        Self {
            sv_id: String::from_utf8_lossy(sv_id).into_owned(),
            sequence: Sequence::learning(),
            counts: Vec::new(),
            first_ns: time_ns,
            last_ns: time_ns,
        }
    }

    pub(super) fn take(&mut self, smp_cnt: u16, time_ns: i64) {
        self.sequence.accept(smp_cnt);
        self.counts.push(smp_cnt);
        self.last_ns = time_ns;
    }

    fn finish(&self, stated: Option<u32>) -> Result<Stream, String> {
        let rate = self.rate(stated)?;
        Ok(Stream {
            sv_id: self.sv_id.clone(),
            rate,
            span: self.span(rate),
        })
    }

    /// Its rate: learned from the wrap, stated, or the usual one that is near.
    pub(super) fn rate(&self, stated: Option<u32>) -> Result<u32, String> {
        let rate = self.sequence.rate().or(stated).or_else(|| self.usual_rate());
        rate.ok_or_else(|| {
            format!(
                "the rate of stream {} is not known, since its smpCnt does not wrap: state it with --rate",
                self.sv_id
            )
        })
    }

    /// The usual rate that its samples come at.
    fn usual_rate(&self) -> Option<u32> {
        let seconds = (self.last_ns - self.first_ns) as f64 / 1e9;
        let rate = self.span(u32::from(u16::MAX)) as f64 / seconds;
        USUAL_RATES
            .into_iter()
            .find(|usual| (rate / f64::from(*usual) - 1.0).abs() < RATE_TOLERANCE)
    }

    /// smpCnt of its first sample.
    pub(super) fn first_count(&self) -> u16 {
        self.counts.first().copied().unwrap_or(0)
    }

    /// Samples from the first to the furthest one.
    pub(super) fn span(&self, rate: u32) -> u64 {
        self.positions(rate).max().map_or(0, |furthest| furthest as u64 + 1)
    }

    /// Where each sample stands behind the first, with counters that go up by less than half a second at a time, or down.
    pub(super) fn positions(&self, rate: u32) -> impl Iterator<Item = i64> {
        let rate = i64::from(rate);
        let mut position = 0;
        let mut before = i64::from(self.first_count());
        self.counts.iter().map(move |count| {
            let step = (i64::from(*count) - before).rem_euclid(rate);
            before = i64::from(*count);
            position += if step > rate / 2 { step - rate } else { step };
            position
        })
    }
}
