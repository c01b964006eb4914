//! The sending loop.

use super::{PublishConfig, series, streams::Streams};
use crate::error::ProbeError;
use crate::port::Port;
use crate::record::{Counter, Feed};
use crate::stop::Stop;
use sys::SysError;
use sys::wait::Wait;
use units::{Grid, Monotonic};

pub(super) struct Sender {
    config: PublishConfig,
    port: Port,
    streams: Streams,
    stop: Stop,
    /// Frames the kernel had no room for.
    refused: u64,
}

impl Sender {
    pub(super) fn new(config: PublishConfig, port: Port, streams: Streams, stop: Stop) -> Self {
        Self {
            config,
            port,
            streams,
            stop,
            refused: 0,
        }
    }

    /// Publishes from the second that begins at `start` until the duration is over or a stop is asked for.
    pub(super) fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let asdus = u64::from(self.config.asdus);
        let samples = Grid::per_second(start, u64::from(self.config.rate));
        let due_of = |frame: u64| samples.due(frame * asdus + asdus - 1);
        let interval_ns = 1_000_000_000 / self.config.frames_per_second();
        let frames = self
            .config
            .duration_ns
            .map(|ns| frames_in(ns, self.config.frames_per_second()));
        let wait = Wait::spinning_ahead(self.config.spin_ahead_ns);
        let mut frame = 0;
        while frames.is_none_or(|frames| frame < frames) && !self.stop.requested() {
            let due = due_of(frame);
            // The batch is made while there is time, so that only the send call lies behind the due instant.
            self.streams.patch(frame);
            if wait.until(due) < due {
                continue;
            }
            self.send()?;
            let sent = sys::clock::monotonic();
            let late_ns = sent - due;
            feed.sample(series::LATENESS, sent, late_ns, frame);
            let late = u64::try_from(late_ns).is_ok_and(|ns| ns > interval_ns);
            feed.count(series::LATENESS, Counter::Late, sent, u64::from(late));
            let mut next = frame + 1;
            if late {
                next = next.max(samples.first_after(sent).saturating_sub(asdus - 1).div_ceil(asdus));
            }
            // Frames behind the end were never due.
            next = frames.map_or(next, |frames| next.min(frames));
            feed.count(series::LATENESS, Counter::Missed, sent, next - frame - 1);
            frame = next;
        }
        if self.refused > 0 {
            feed.notice(
                series::LATENESS,
                series::REFUSED,
                sys::clock::monotonic(),
                self.refused,
                0,
            );
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), ProbeError> {
        let batch = self.streams.batch();
        match self.port.send_all(batch) {
            Ok(()) => Ok(()),
            Err(partial) if partial.cause.is_transient() || matches!(partial.cause, SysError::InterfaceDown { .. }) => {
                self.refused += (batch.len() - partial.sent) as u64;
                Ok(())
            }
            Err(partial) => Err(partial.cause.into()),
        }
    }
}

/// Frames due in `duration_ns`. The time between frames is not always a whole number of nanoseconds, their number is.
fn frames_in(duration_ns: u64, per_second: u64) -> u64 {
    let frames = u128::from(duration_ns) * u128::from(per_second) / 1_000_000_000;
    u64::try_from(frames).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::frames_in;

    #[test]
    fn a_week_has_as_many_frames_as_its_seconds() {
        let week_s = 7 * 86_400;
        assert_eq!(frames_in(week_s * 1_000_000_000, 4_800), week_s * 4_800);
        assert_eq!(frames_in(100_000_000, 4_800), 480);
    }
}
