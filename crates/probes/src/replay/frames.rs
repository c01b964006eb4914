//! The frames of a capture in memory, prepared for repeated sending.

use crate::captured::{Learned, each_frame};
use crate::error::ProbeError;
use std::collections::HashMap;
use std::path::Path;
use wire::ether::{EthernetView, Mac};
use wire::sv::Frame;

/// Largest total size of the frames of a capture, in bytes.
const MOST_OCTETS: usize = 1 << 30;

/// One frame of the capture.
#[derive(Debug, Clone, Copy)]
pub(super) struct CapturedFrame {
    /// Time after the first frame, in ns.
    pub(super) at_ns: u64,
    start: usize,
    len: usize,
    first_patch: usize,
    patches: usize,
}

/// Position of a sample counter in a frame.
#[derive(Debug, Clone, Copy)]
struct Patch {
    /// Offset in the frame.
    offset: usize,
    stream: usize,
    smp_cnt: u16,
}

/// A sampled-value stream of the capture, and the step of its counter from one round to the next.
#[derive(Debug, Clone)]
struct CapturedStream {
    sv_id: String,
    rate: u32,
    /// Number of samples from the first to the last, both included, with lost ones.
    span: u64,
}

impl CapturedStream {
    fn of(learned: &Learned, stated: Option<u32>) -> Result<Self, String> {
        let rate = learned.rate(stated)?;
        Ok(Self {
            sv_id: learned.sv_id().to_owned(),
            rate,
            span: learned.span(rate),
        })
    }
}

/// The frames of a capture.
#[derive(Debug, Clone)]
pub struct CapturedFrames {
    octets: Vec<u8>,
    entries: Vec<CapturedFrame>,
    patches: Vec<Patch>,
    streams: Vec<CapturedStream>,
    /// Time of the first frame after the top of its second, in ns.
    phase_ns: u64,
    period_ns: u64,
}

impl CapturedFrames {
    /// Reads a capture. Frames that are cut or not Ethernet are refused, since they could not be sent as recorded. `rate` is for
    /// streams whose own rate cannot be found.
    ///
    /// # Errors
    /// The file cannot be read, holds no frame, or holds more than 1 GiB of frames; a frame is cut or has no time stamp; a
    /// stream's rate cannot be found.
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

    /// Number of frames in a round.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The svIDs of the sampled-value streams.
    pub fn sv_ids(&self) -> impl Iterator<Item = &str> {
        self.streams.iter().map(|stream| stream.sv_id.as_str())
    }

    /// Time from one round to the next, in ns: from the first frame to the last, plus one mean distance.
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Time of the first frame after the top of its second, in ns.
    pub(super) fn phase_ns(&self) -> u64 {
        self.phase_ns
    }

    pub(super) fn entry(&self, index: usize) -> CapturedFrame {
        self.entries[index]
    }

    pub(super) fn longest(&self) -> usize {
        self.entries.iter().map(|entry| entry.len).max().unwrap_or(0)
    }

    /// Writes frame `index` with its counters of round `round` to the beginning of `to`; returns its length.
    #[inline]
    pub(super) fn write(&self, index: usize, round: u64, to: &mut [u8]) -> usize {
        let CapturedFrame {
            start,
            len,
            first_patch,
            patches,
            ..
        } = self.entries[index];
        to[..len].copy_from_slice(&self.octets[start..start + len]);
        if round > 0 {
            for patch in &self.patches[first_patch..first_patch + patches] {
                let CapturedStream { rate, span, .. } = self.streams[patch.stream];
                let rate = u64::from(rate.max(1));
                let smp_cnt = (u64::from(patch.smp_cnt) + (round % rate) * (span % rate)) % rate;
                to[patch.offset..patch.offset + 2].copy_from_slice(&(smp_cnt as u16).to_be_bytes());
            }
        }
        len
    }
}

/// Collects the frames one by one.
#[derive(Default)]
struct Loader {
    octets: Vec<u8>,
    times_ns: Vec<i64>,
    entries: Vec<CapturedFrame>,
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
        self.entries.push(CapturedFrame {
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

    fn finish(mut self, rate: Option<u32>) -> Result<CapturedFrames, String> {
        let Some(first_ns) = self.times_ns.iter().copied().min() else {
            return Err("no frame in it".into());
        };
        for (entry, time_ns) in self.entries.iter_mut().zip(&self.times_ns) {
            entry.at_ns = u64::try_from(time_ns - first_ns).unwrap_or(0);
        }
        // Frames of several interfaces in one capture are not always in order of time.
        self.entries.sort_by_key(|entry| entry.at_ns);
        let streams = self
            .streams
            .iter()
            .map(|stream| CapturedStream::of(stream, rate))
            .collect::<Result<Vec<_>, _>>()?;
        let span_ns = self.entries.last().map_or(0, |entry| entry.at_ns);
        Ok(CapturedFrames {
            period_ns: span_ns + mean_distance_ns(span_ns, &self.streams, self.entries.len()),
            phase_ns: first_ns.rem_euclid(1_000_000_000) as u64,
            octets: self.octets,
            entries: self.entries,
            patches: self.patches,
            streams,
        })
    }
}

/// Distance between the last frame of a round and the first of the next: the shortest mean distance of a stream, so that the
/// fastest stream continues evenly, or the mean distance of all frames if there is no stream.
fn mean_distance_ns(span_ns: u64, streams: &[Learned], frames: usize) -> u64 {
    let shortest = streams.iter().map(Learned::distance_ns).filter(|ns| *ns > 0).min();
    let of_all = span_ns.checked_div(frames as u64 - 1).unwrap_or(0);
    shortest.unwrap_or(of_all).max(1)
}
