//! Reads a capture that is to be sent again: its frames, and the rates of its sampled-value streams as learned from their
//! counters.

use crate::error::ProbeError;
use capture::{LinkType, Reader};
use std::path::Path;
use wire::sequence::Sequence;

/// Usual rates of merging units (IEC 61850-9-2LE, IEC 61869-9, and 96 samples a cycle at 60 Hz), for streams whose smpCnt does
/// not wrap within the capture.
const USUAL_RATES: [u32; 6] = [4_000, 4_800, 5_760, 12_800, 14_400, 15_360];

/// Largest difference from a usual rate, as a share of that rate.
const RATE_TOLERANCE: f64 = 0.02;

/// A frame with its time stamp.
pub(crate) struct Stamped<'a> {
    pub(crate) time_ns: i64,
    pub(crate) data: &'a [u8],
}

/// Passes on each frame of a capture.
pub(crate) fn each_frame(
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

/// A stream, as learned while the capture is read.
pub(crate) struct Learned {
    sv_id: String,
    sequence: Sequence,
    counts: Vec<u16>,
    first_ns: i64,
    last_ns: i64,
}

impl Learned {
    pub(crate) fn new(sv_id: &[u8], time_ns: i64) -> Self {
        Self {
            sv_id: String::from_utf8_lossy(sv_id).into_owned(),
            sequence: Sequence::learning(),
            counts: Vec::new(),
            first_ns: time_ns,
            last_ns: time_ns,
        }
    }

    pub(crate) fn take(&mut self, smp_cnt: u16, time_ns: i64) {
        self.sequence.accept(smp_cnt);
        self.counts.push(smp_cnt);
        self.last_ns = time_ns;
    }

    /// Rate in samples a second: learned from the wrap of smpCnt, else the stated one, else the nearest usual rate.
    pub(crate) fn rate(&self, stated: Option<u32>) -> Result<u32, String> {
        let rate = self.sequence.rate().or(stated).or_else(|| self.usual_rate());
        rate.ok_or_else(|| {
            format!(
                "the rate of stream {} is not known, since its smpCnt does not wrap: state it with --rate",
                self.sv_id
            )
        })
    }

    /// The usual rate nearest to the measured one, if it is within [`RATE_TOLERANCE`].
    fn usual_rate(&self) -> Option<u32> {
        let seconds = (self.last_ns - self.first_ns) as f64 / 1e9;
        let rate = self.span(u32::from(u16::MAX)) as f64 / seconds;
        USUAL_RATES
            .into_iter()
            .find(|usual| (rate / f64::from(*usual) - 1.0).abs() < RATE_TOLERANCE)
    }

    /// smpCnt of the first sample.
    pub(crate) fn first_count(&self) -> u16 {
        self.counts.first().copied().unwrap_or(0)
    }

    /// Number of positions from the first sample to the furthest one.
    pub(crate) fn span(&self, rate: u32) -> u64 {
        self.positions(rate).max().map_or(0, |furthest| furthest as u64 + 1)
    }

    /// Position of each sample relative to the first. A counter step of up to half a second counts as forward, a larger one as
    /// backward.
    pub(crate) fn positions(&self, rate: u32) -> impl Iterator<Item = i64> {
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

    /// Time from sample to sample, in ns: from the learned rate, else from the time stamps; 0 if neither is known.
    pub(crate) fn distance_ns(&self) -> u64 {
        let instants = self.sequence.rate().map(|rate| 1_000_000_000 / u64::from(rate.max(1)));
        let counted = u64::try_from(self.last_ns - self.first_ns).unwrap_or(0);
        instants.unwrap_or_else(|| counted.checked_div(self.counts.len() as u64 - 1).unwrap_or(0))
    }

    pub(crate) fn sv_id(&self) -> &str {
        &self.sv_id
    }
}
