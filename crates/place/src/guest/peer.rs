//! The other end of a channel: a guest's agent, or the far machine. This is all that commands in a place need of it.

use super::super::{ClockOffset, PlaceError};
use super::channel::{Call, CallError, Channel, Incoming, Wait};
use super::message::{GuestAnswer, Request};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// Number of clock questions; the fastest answer counts.
const CLOCK_TRIES: u32 = 12;
/// Usual time that the other end may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The other end of a channel.
pub(crate) trait Peer: Debug + Send + Sync {
    /// The channel to it.
    fn channel(&self) -> &Arc<Channel>;

    /// Its name in errors.
    fn name(&self) -> &'static str;

    /// Time that it may take to answer a question or to start a command.
    fn patience(&self) -> Duration {
        PATIENCE
    }

    /// Additional information when the peer no longer answers.
    fn last_words(&self, _error: &CallError) -> Option<String> {
        None
    }

    /// Offset of its `CLOCK_REALTIME` from ours, measured as in NTP (RFC 5905, section 8): the offset is the mean of the differences in both
    /// directions. Its error is at most half of the round trip, if one direction took all of it. All questions together may take its patience.
    ///
    /// # Errors
    /// It does not answer.
    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        let call = Call::open(self.channel());
        let wait = Wait::of(self.patience());
        let mut best: Option<ClockOffset> = None;
        for _ in 0..CLOCK_TRIES {
            let asked = match ask(&call, &wait) {
                Ok(asked) => asked,
                // A busy place has answered less often: the offset is less certain, and says so.
                Err(CallError::Silence(_)) if best.is_some() => break,
                Err(error) => return Err(self.failed(&error)),
            };
            best = best
                .filter(|best| best.uncertainty_ns <= asked.uncertainty_ns)
                .or(Some(asked));
        }
        best.ok_or_else(|| self.refused("its clock was not asked"))
    }

    /// Checks that the peer answers until the deadline of this wait.
    ///
    /// # Errors
    /// The peer does not answer.
    fn is_there(&self, wait: &Wait) -> Result<(), CallError> {
        ask(&Call::open(self.channel()), wait).map(|_| ())
    }

    /// Error for a peer that does not answer, with the available information.
    fn failed(&self, error: &CallError) -> PlaceError {
        self.lost(error.to_string(), error)
    }

    /// The same, with the request that it did not answer.
    fn failed_at(&self, asked: &str, error: &CallError) -> PlaceError {
        self.lost(format!("{asked}: {error}"), error)
    }

    /// The same, with this text and the available information.
    fn lost(&self, text: String, error: &CallError) -> PlaceError {
        let words = self.last_words(error).map(|words| format!(". {words}"));
        PlaceError::Lost {
            place: self.name(),
            said: text + &words.unwrap_or_default(),
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

fn ask(call: &Call, wait: &Wait) -> Result<ClockOffset, CallError> {
    let sent_ns = sys::clock::realtime().as_ns();
    call.send(&Request::Clock)?;
    loop {
        let Incoming::Answer { answer, at_ns } = wait.receive(call)? else {
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
    use super::{Call, Channel, GuestAnswer, Peer, Wait, offset};
    use crate::ClockOffset;
    use crate::guest::frame;
    use crate::guest::message::pack;
    use proptest::{prop_assert, proptest};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    /// A peer with little patience.
    #[derive(Debug)]
    struct Impatient(Arc<Channel>);

    impl Peer for Impatient {
        fn channel(&self) -> &Arc<Channel> {
            &self.0
        }

        fn name(&self) -> &'static str {
            "guest"
        }

        fn patience(&self) -> Duration {
            Duration::from_millis(300)
        }
    }

    /// A peer whose other end answers this many clock questions, and none after that.
    fn answering(count: usize) -> (Impatient, std::thread::JoinHandle<UnixStream>) {
        let (near, mut far) = UnixStream::pair().expect("a pair");
        let (channel, _greeting) = Channel::new(near).expect("a channel");
        let agent = std::thread::spawn(move || {
            for _ in 0..count {
                let call = frame::read(&mut far).expect("a question").call;
                let answer = GuestAnswer::Clock {
                    received_ns: 5,
                    sent_ns: 5,
                };
                frame::write(&mut far, &pack(call, &answer).expect("packed")).expect("sent");
            }
            far
        });
        (Impatient(channel), agent)
    }

    #[test]
    fn all_questions_have_one_deadline_and_the_error_has_the_true_time() {
        let (silent, _agent) = answering(0);
        let begun = Instant::now();
        let error = silent.clock().expect_err("no answer").to_string();
        let took = begun.elapsed();
        assert!(
            took < Duration::from_secs(20),
            "one patience, not one for each question: {took:?}"
        );
        assert!(error.contains("did not answer in 0 s"), "{error}");
        let (busy, _agent) = answering(3);
        busy.clock().expect("the answers that came before the deadline count");
    }

    #[test]
    fn a_wait_has_the_time_since_it_began() {
        let (silent, _agent) = answering(0);
        let call = Call::open(silent.channel());
        let begun = Instant::now().checked_sub(Duration::from_secs(100)).expect("a clock");
        let error = Wait::since(begun, Duration::from_secs(90))
            .receive(&call)
            .expect_err("passed");
        assert_eq!(error.to_string(), "it did not answer in 100 s");
    }

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
