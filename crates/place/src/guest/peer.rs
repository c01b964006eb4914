//! The other end of a channel: a guest's agent, or the far machine. This is all that commands in a place need of it.

use super::super::{ClockOffset, PlaceError};
use super::channel::{Call, CallError, Channel, Incoming};
use super::message::{GuestAnswer, Request};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// Number of clock questions; the fastest answer counts.
const CLOCK_TRIES: u32 = 12;
/// Time that a place may take for one answer; an emulated guest takes long.
const CLOCK_PATIENCE: Duration = Duration::from_secs(60);

/// The other end of a channel.
pub(crate) trait Peer: Debug + Send + Sync {
    /// The channel to it.
    fn channel(&self) -> &Arc<Channel>;

    /// Its name in errors.
    fn name(&self) -> &'static str;

    /// Additional information when the peer no longer answers.
    fn last_words(&self, _error: &CallError) -> Option<String> {
        None
    }

    /// Offset of its `CLOCK_REALTIME` from ours, measured as in NTP (RFC 5905, section 8): the offset is the mean of the differences in both
    /// directions. Its error is at most half of the round trip, if one direction took all of it.
    ///
    /// # Errors
    /// It does not answer.
    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        let call = Call::open(self.channel());
        let mut best: Option<ClockOffset> = None;
        for _ in 0..CLOCK_TRIES {
            let asked = ask(&call).map_err(|error| self.failed(&error))?;
            best = best
                .filter(|best| best.uncertainty_ns <= asked.uncertainty_ns)
                .or(Some(asked));
        }
        best.ok_or_else(|| self.refused("its clock was not asked"))
    }

    /// Checks that the peer answers.
    ///
    /// # Errors
    /// The peer does not answer.
    fn is_there(&self) -> Result<(), CallError> {
        ask(&Call::open(self.channel())).map(|_| ())
    }

    /// Error for a peer that does not answer, with the available information.
    fn failed(&self, error: &CallError) -> PlaceError {
        match self.last_words(error) {
            Some(words) => self.refused(&format!("{error}. {words}")),
            None => self.refused(&error.to_string()),
        }
    }

    /// Error for a refusal by the peer.
    fn refused(&self, why: &str) -> PlaceError {
        PlaceError::Failed {
            place: self.name(),
            said: why.to_owned(),
        }
    }
}

fn ask(call: &Call) -> Result<ClockOffset, CallError> {
    let sent_ns = sys::clock::realtime().as_ns();
    call.send(&Request::Clock)?;
    loop {
        let Incoming::Answer { answer, at_ns } = call.receive(CLOCK_PATIENCE)? else {
            continue;
        };
        if let GuestAnswer::Clock {
            received_ns,
            sent_ns: answered_ns,
        } = answer
        {
            return Ok(offset([sent_ns, received_ns, answered_ns, at_ns]));
        }
    }
}

/// Offset from the four times of a question and its answer: sent here, received there, sent there, received here.
fn offset([t1, t2, t3, t4]: [i64; 4]) -> ClockOffset {
    let round_trip = ((t4 - t1) - (t3 - t2)).max(0);
    ClockOffset {
        offset_ns: ((t2 - t1) + (t3 - t4)) / 2,
        uncertainty_ns: (round_trip.cast_unsigned()).div_ceil(2),
    }
}

#[cfg(test)]
mod tests {
    use super::offset;
    use crate::ClockOffset;
    use proptest::{prop_assert, proptest};

    #[test]
    fn a_way_of_the_same_length_each_time_gives_the_exact_offset() {
        // The other clock is 1000 ahead; a message takes 10 each way, and an answer 5.
        let found = offset([0, 1010, 1015, 25]);
        assert_eq!(
            found,
            ClockOffset {
                offset_ns: 1000,
                uncertainty_ns: 10
            }
        );
    }

    proptest! {
        #[test]
        fn the_offset_is_never_further_off_than_it_says(
            ahead in -1_000_000_000_i64..1_000_000_000,
            there in 0_i64..1_000_000,
            answer in 0_i64..1_000_000,
            back in 0_i64..1_000_000,
        ) {
            let found = offset([0, there + ahead, there + answer + ahead, there + answer + back]);
            prop_assert!((found.offset_ns - ahead).unsigned_abs() <= found.uncertainty_ns + 1);
        }
    }
}
