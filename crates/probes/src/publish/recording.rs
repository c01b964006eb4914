//! Records every frame of a publisher: the instant at which it was due, and the instant just before the call that hands it to the kernel.

use super::config::StreamConfig;
use super::group::{Group, pace_of};
use super::timetable::Pace;
use crate::error::ProbeError;
use crate::subscribe::id_of;
use model::StreamId;
use run::{Feed, RECEIVED_POINTS, TapeRecord, TapeStream};
use units::Monotonic;
use wire::ether::Mac;

/// Points of a publisher's recording. A frame is on its way before the call returns, so `sent` is the instant before it.
pub(super) const POINTS: [&str; RECEIVED_POINTS] = ["due", "sent"];

/// Number of frames that the tape holds between two reads of the recorder: 1.8 s at 144 000 frames/s. Uses 8 MB.
pub(super) const TAPE_FRAMES: usize = 1 << 18;

/// The streams of a publisher as they are recorded.
pub(super) struct OnTape {
    streams: Vec<(Pace, TapeStream)>,
}

impl OnTape {
    /// The streams that are sent from `source`; over UDP to the address of `group`, which stands in the place of theirs.
    ///
    /// # Errors
    /// There are more of them than a recording has room for.
    pub(super) fn of(streams: &[StreamConfig], source: Mac, group: Option<Mac>) -> Result<Self, ProbeError> {
        if streams.len() > recording::MAX_STREAMS {
            return Err(ProbeError::Usage(format!(
                "publish: a recording has room for {} streams: use fewer, or leave --record out",
                recording::MAX_STREAMS
            )));
        }
        let on_tape = |(number, stream): (u16, &StreamConfig)| {
            let of_file = id_of(&stream.spec);
            let announced = StreamId {
                destination: group.or(of_file.destination),
                ..of_file
            };
            let identity = TapeStream {
                number,
                announced,
                stream: StreamId {
                    source: Some(source),
                    ..announced
                },
                rate: Some(stream.spec.rate),
            };
            (pace_of(stream), identity)
        };
        Ok(Self {
            streams: (0..).zip(streams).map(on_tape).collect(),
        })
    }

    /// Begins the recording: from now on every frame that is sent is in it.
    pub(super) fn begin(&self, feed: &mut Feed) {
        let Some(tape) = feed.tape() else { return };
        self.streams.iter().for_each(|(_, stream)| tape.announce(*stream));
        tape.begin(sys::clock::realtime());
    }

    /// Records the frames of a group that were due at `due`, with the clocks as read just before the call that sent them. A frame that
    /// the kernel refused is among them: it was handed over, and came no further.
    pub(super) fn sent(&self, group: &Group, due: Monotonic, called: sys::clock::ClockPair, feed: &mut Feed) {
        let Some(tape) = feed.tape() else { return };
        let pace = group.timetable.pace;
        let sent_ns = called.realtime.as_ns();
        let stamps = [Some(sent_ns - (called.monotonic - due)), Some(sent_ns)];
        let of_group = self.streams.iter().filter(|(of, _)| *of == pace);
        for (_, stream) in of_group {
            tape.push(TapeRecord {
                stream: stream.number,
                samples: u16::from(pace.asdus),
                flags: 0,
                number: group.timetable.first_sample(),
                stamps,
            });
        }
    }

    /// Ends the recording: every frame until now is in it.
    pub(super) fn end(feed: &mut Feed) {
        if let Some(tape) = feed.tape() {
            tape.end(sys::clock::realtime());
        }
    }
}
