//! Records every sample of a stream.

use crate::reception::Arrival;
use recording::{MAX_SAMPLES, Numbering, flag};
use run::{Feed, RECEIVED_POINTS, TapeRecord};
use units::Realtime;
use wire::sequence::SampleStep;

/// Points of a subscriber's recording.
pub(super) const POINTS: [&str; RECEIVED_POINTS] = ["kernel", "application"];

/// Number of frames that the tape holds between two reads of the recorder: 3.6 s at 144 000 frames/s, 0.4 s at 1.2 million. A
/// write to a slow disk can take that long. Uses 17 MB.
pub(super) const TAPE_FRAMES: usize = 1 << 19;

/// Numbers a stream's samples, and joins the samples of one frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frames {
    numbering: Numbering,
    run: Option<Run>,
}

/// Samples of one frame with consecutive numbers.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u64,
    samples: u16,
    flags: u8,
}

impl Frames {
    /// Takes a sample of a frame of stream `stream`; `step` is its place in the sequence.
    pub(super) fn sample(
        &mut self,
        stream: u16,
        smp_cnt: u16,
        step: SampleStep,
        rate: Option<u32>,
        arrival: &Arrival,
        feed: &mut Feed,
    ) {
        let (number, flags) = self.numbering.number(smp_cnt, step, rate);
        match &mut self.run {
            Some(run)
                if flags & !flag::UNRATED == 0
                    && run.flags & flag::OUT_OF_RANGE == 0
                    && (run.flags ^ flags) & flag::UNRATED == 0
                    && number == run.first + u64::from(run.samples)
                    && run.samples < MAX_SAMPLES =>
            {
                run.samples += 1;
            }
            _ => {
                self.end_frame(stream, arrival, feed);
                self.run = Some(Run {
                    first: number,
                    samples: 1,
                    flags,
                });
            }
        }
    }

    /// Records the samples of a frame that are still held.
    pub(super) fn end_frame(&mut self, stream: u16, arrival: &Arrival, feed: &mut Feed) {
        if let Some(run) = self.run.take()
            && let Some(tape) = feed.tape()
        {
            tape.push(TapeRecord {
                stream,
                samples: run.samples,
                flags: run.flags,
                number: run.first,
                stamps: [arrival.kernel.map(Realtime::as_ns), Some(arrival.wall.as_ns())],
            });
        }
    }
}
