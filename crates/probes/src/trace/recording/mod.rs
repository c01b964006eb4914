//! Builds the record of every frame and its stamps from the durations that the kernel reports, and passes it to the recorder.

use super::series::Names;
use super::wall::Wall;
use ::trace::hops::{Duration, EXPIRY_NS, MOST_POINTS, Point, StreamInfo};
use model::Fact;
use model::fact::{RECORDED_FROM, RECORDED_TO, STAMP_UNCERTAINTY};
use recording::{Numbering, flag};
use run::{Recorder, Tape, TapeRecord, TapeStream};
use std::collections::{HashMap, VecDeque};
use units::{Monotonic, Realtime};
use wire::sequence::{Sample, Sequence};

/// Number of frames that the tape holds between two reads of the recorder: 1.8 s at 144 000 frames/s. Uses 17 MB.
const TAPE_FRAMES: usize = 1 << 18;

/// A frame whose stamps are not all known.
struct Pending {
    stream: u32,
    smp_cnt: u16,
    at: [Option<Monotonic>; MOST_POINTS],
    /// Difference from `CLOCK_MONOTONIC` to `CLOCK_REALTIME`, as last read when the frame was first reported.
    offset_ns: i64,
}

/// A stream on the tape.
struct StreamOnTape {
    info: StreamInfo,
    sequence: Sequence,
    numbering: Numbering,
}

/// The frames under way, and data of earlier ones.
pub(super) struct Frames {
    tape: Tape<MOST_POINTS>,
    wall: Wall,
    parents: Vec<usize>,
    pending: VecDeque<Pending>,
    /// Number of frames that have left `pending`.
    gone: u64,
    /// Index, among all frames, of the frame under way with this stream and smpCnt.
    places: HashMap<(u32, u16), u64>,
    streams: HashMap<u32, StreamOnTape>,
    nameless: u64,
}

impl Frames {
    pub(super) fn new(recorder: &Recorder, points: &[Point]) -> Self {
        let names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
        Self {
            tape: recorder.tape(TAPE_FRAMES, &names),
            wall: Wall::new(),
            parents: points.iter().map(|point| point.parent).collect(),
            pending: VecDeque::new(),
            gone: 0,
            places: HashMap::new(),
            streams: HashMap::new(),
            nameless: 0,
        }
    }

    /// Facts about the recording: the time span in which it holds every frame, and the largest error of its stamps.
    pub(super) fn facts(&self, opened: Realtime, closed: Realtime) -> Vec<Fact> {
        const SOURCE: &str = "clock_gettime";
        vec![
            RECORDED_FROM.fact(Ok(opened), SOURCE),
            RECORDED_TO.fact(Ok(closed), SOURCE),
            STAMP_UNCERTAINTY.fact(Ok(self.wall.uncertainty_ns()), SOURCE),
        ]
    }

    /// Number of frames whose stream never got a name; they are missing in the recording.
    pub(super) fn nameless(&self) -> u64 {
        self.nameless
    }

    /// Reads the wall clock, for the frames that follow.
    pub(super) fn look(&mut self) {
        self.wall.look(&sys::clock::pair());
    }

    /// Takes a duration. One between two later points adds nothing, since the duration from the first point is reported, too.
    pub(super) fn take(&mut self, duration: &Duration) {
        let series = duration.series;
        let is_since_first = series.total || self.parents.get(series.point) == Some(&0);
        if !is_since_first || series.point >= self.parents.len() {
            return;
        }
        let first = duration.at - i64::try_from(duration.ns).unwrap_or(i64::MAX);
        let key = (series.stream, duration.smp_cnt);
        let place = self.places.get(&key).and_then(|place| place.checked_sub(self.gone));
        let under_way = place.and_then(|place| self.pending.get_mut(usize::try_from(place).ok()?));
        match under_way.filter(|pending| pending.at[0] == Some(first)) {
            Some(pending) => pending.at[series.point] = Some(duration.at),
            None => {
                let mut at = [None; MOST_POINTS];
                at[0] = Some(first);
                at[series.point] = Some(duration.at);
                self.places.insert(key, self.gone + self.pending.len() as u64);
                self.pending.push_back(Pending {
                    stream: series.stream,
                    smp_cnt: duration.smp_cnt,
                    at,
                    offset_ns: self.wall.offset_ns(),
                });
            }
        }
    }

    /// Records the complete frames, and those that came too long before `now` to be completed. `now` is before the durations were
    /// taken.
    pub(super) fn pass_on(&mut self, now: Monotonic, names: &Names) {
        let expired = i64::try_from(EXPIRY_NS).unwrap_or(i64::MAX);
        self.pass_on_while(names, |first| now - first > expired);
    }

    /// Records all frames.
    pub(super) fn finish(&mut self, names: &Names) {
        self.pass_on_while(names, |_| true);
    }

    fn pass_on_while(&mut self, names: &Names, is_over: impl Fn(Monotonic) -> bool) {
        let points = self.parents.len();
        while let Some(front) = self.pending.front() {
            let is_whole = front.at[..points].iter().all(Option::is_some);
            if !is_whole && !front.at[0].is_none_or(&is_over) {
                return;
            }
            let place = self.gone;
            self.gone += 1;
            let Some(frame) = self.pending.pop_front() else { return };
            let key = (frame.stream, frame.smp_cnt);
            if self.places.get(&key) == Some(&place) {
                self.places.remove(&key);
            }
            self.write(&frame, names);
        }
    }

    fn write(&mut self, frame: &Pending, names: &Names) {
        if !self.streams.contains_key(&frame.stream) && !self.begin(frame.stream, names) {
            self.nameless += 1;
            return;
        }
        let Some(stream) = self.streams.get_mut(&frame.stream) else {
            return;
        };
        let stamps = frame.at.map(|at| at.map(|at| at.as_ns() + frame.offset_ns));
        // The kernel tracks only as many streams as a recording has room for.
        let number = frame.stream as u16;
        let rate = stream.sequence.rate();
        let mut run: Option<TapeRecord<MOST_POINTS>> = None;
        for asdu in 0..u16::from(stream.info.asdus.max(1)) {
            let count = frame.smp_cnt.wrapping_add(asdu);
            let step = stream.sequence.accept(Sample {
                at_ns: frame.at[0].map(Monotonic::as_ns),
                ..Sample::from(count)
            });
            let (first, flags) = stream.numbering.number(count, step, stream.sequence.rate());
            match &mut run {
                Some(run) if follows(run, first, flags) => run.samples += 1,
                _ => {
                    let begun = TapeRecord {
                        stream: number,
                        samples: 1,
                        flags,
                        number: first,
                        stamps,
                    };
                    if let Some(before) = run.replace(begun) {
                        self.tape.push(before);
                    }
                }
            }
        }
        if rate != stream.sequence.rate() {
            self.tape.announce(on_tape(number, stream));
        }
        if let Some(run) = run {
            self.tape.push(run);
        }
    }

    /// Announces a stream to the tape; returns false while it has no name.
    fn begin(&mut self, number: u32, names: &Names) -> bool {
        let Some(info) = names.info(number) else {
            return false;
        };
        let stream = StreamOnTape {
            info: info.clone(),
            sequence: Sequence::learning(),
            numbering: Numbering::default(),
        };
        self.tape.announce(on_tape(number as u16, &stream));
        self.streams.insert(number, stream);
        true
    }
}

/// True if a sample is the next of a frame's samples that are recorded together.
fn follows(run: &TapeRecord<MOST_POINTS>, number: u64, flags: u8) -> bool {
    let is_plain = (flags | run.flags) & flag::OUT_OF_RANGE == 0 && flags & flag::RESTART == 0;
    is_plain && (run.flags ^ flags) & flag::UNRATED == 0 && number == run.number + u64::from(run.samples)
}

fn on_tape(number: u16, stream: &StreamOnTape) -> TapeStream {
    let info = &stream.info;
    TapeStream {
        number,
        announced: info.id(),
        stream: info.id(),
        rate: stream.sequence.rate(),
    }
}

#[cfg(test)]
mod tests;
