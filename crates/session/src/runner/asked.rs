//! Asks a place for its time all through a step, so that the distance of its clock is known for each window, not at both ends of the step alone.

use place::{ClockOffset, Place};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two questions.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause is at least this many times as long as the answer took: an emulated guest is not kept busy with answering.
const REST: u32 = 20;

/// Span of which the most certain answer counts. A single answer may be late; a clock that follows a master is not adjusted to and fro in
/// so short a time.
const SPAN: Duration = Duration::from_secs(10);

/// Longest wait for the last answer.
const LAST: Duration = Duration::from_secs(5);

/// Questions under way.
pub(super) struct Asking {
    is_over: Arc<AtomicBool>,
    told: Receiver<Heard>,
}

impl Asking {
    /// Asks from now on; `None` if the place reads the same clock, or if its clock was stated.
    pub(super) fn start(place: &Arc<dyn Place>) -> Option<Self> {
        let is_same = |clock: ClockOffset| clock == ClockOffset::SAME;
        if place.stated_clock().is_some() || place.clock().is_ok_and(is_same) {
            return None;
        }
        let (is_over, (tell, told)) = (Arc::new(AtomicBool::new(false)), channel());
        let (place, over) = (Arc::clone(place), Arc::clone(&is_over));
        thread::spawn(move || {
            sys::thread::set_name("triptime-clock");
            let _ = tell.send(asked(place.as_ref(), &over));
        });
        Some(Self { is_over, told })
    }

    /// The largest distance of the clocks in ns; `None`: it is not known for some span of the step.
    pub(super) fn end(self) -> Option<u64> {
        self.is_over.store(true, Ordering::Relaxed);
        self.told.recv_timeout(LAST).ok()?.apart_ns()
    }
}

fn asked(place: &dyn Place, is_over: &AtomicBool) -> Heard {
    let mut heard = Heard::from(Instant::now());
    loop {
        let begun = Instant::now();
        let clock = place.clock().ok();
        heard.add(Instant::now(), clock);
        let pause = PAUSE.max(begun.elapsed() * REST);
        let rested = Instant::now();
        // The last question comes after the end of the step.
        while rested.elapsed() < pause {
            if is_over.load(Ordering::Relaxed) {
                let clock = place.clock().ok();
                heard.add(Instant::now(), clock);
                return heard;
            }
            thread::sleep(PAUSE / 10);
        }
    }
}

impl Drop for Asking {
    /// A place that is lost is asked no more.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The answers so far.
struct Heard {
    /// Start of the current span, and its most certain answer.
    from: Instant,
    best: Option<ClockOffset>,
    /// When the last answer came; at first the start.
    heard: Instant,
    /// Largest distance of the most certain answers of all spans before.
    apart_ns: u64,
    /// Largest distance that an answer proves, however uncertain it is, and the largest that this answer allows.
    proven_ns: u64,
    allowed_ns: u64,
    /// True if no answer came for longer than a span.
    is_silent: bool,
}

impl Heard {
    fn from(from: Instant) -> Self {
        Self {
            from,
            best: None,
            heard: from,
            apart_ns: 0,
            proven_ns: 0,
            allowed_ns: 0,
            is_silent: false,
        }
    }

    /// An answer that came at this instant; `None`: the place did not answer.
    fn add(&mut self, at: Instant, clock: Option<ClockOffset>) {
        self.is_silent |= at.duration_since(self.heard) > SPAN;
        let Some(clock) = clock else { return };
        self.heard = at;
        if at.duration_since(self.from) > SPAN {
            self.close(at);
        }
        let proven_ns = clock.offset_ns.unsigned_abs().saturating_sub(clock.uncertainty_ns);
        if proven_ns > self.proven_ns {
            (self.proven_ns, self.allowed_ns) = (proven_ns, clock.apart_ns());
        }
        if self.best.is_none_or(|best| clock.uncertainty_ns < best.uncertainty_ns) {
            self.best = Some(clock);
        }
    }

    /// Ends the current span; the next one begins at this instant.
    fn close(&mut self, at: Instant) {
        let apart_ns = self.best.take().map_or(0, ClockOffset::apart_ns);
        self.apart_ns = self.apart_ns.max(apart_ns);
        self.from = at;
    }

    /// The largest distance in ns; `None`: there was no answer, or not in time.
    fn apart_ns(mut self) -> Option<u64> {
        let is_known = self.best.is_some() && !self.is_silent;
        self.close(self.heard);
        let apart_ns = match self.proven_ns > self.apart_ns {
            true => self.allowed_ns,
            false => self.apart_ns,
        };
        is_known.then_some(apart_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockOffset, Heard, SPAN};
    use std::time::{Duration, Instant};

    /// Answers at these instants in seconds: offset and uncertainty in µs; `None`: silence.
    fn heard(answers: &[(u64, Option<(i64, u64)>)]) -> Option<u64> {
        let from = Instant::now();
        let mut heard = Heard::from(from);
        for (at_s, answer) in answers {
            let clock = answer.map(|(offset_us, uncertain_us)| ClockOffset {
                offset_ns: offset_us * 1_000,
                uncertainty_ns: uncertain_us * 1_000,
            });
            heard.add(from + Duration::from_secs(*at_s), clock);
        }
        heard.apart_ns().map(|ns| ns / 1_000)
    }

    #[test]
    fn the_most_certain_answer_of_each_span_counts() {
        assert_eq!(
            heard(&[(0, Some((10, 5))), (1, Some((10, 900))), (2, Some((-10, 4)))]),
            Some(14)
        );
        // The second span knows less, so that the whole does.
        assert_eq!(
            heard(&[
                (0, Some((10, 5))),
                (6, Some((10, 7))),
                (11, Some((10, 40))),
                (12, Some((10, 60)))
            ]),
            Some(50)
        );
    }

    #[test]
    fn a_distance_that_an_uncertain_answer_proves_is_not_passed_over() {
        assert_eq!(
            heard(&[(0, Some((10, 5))), (1, Some((3_000, 900))), (2, Some((10, 5)))]),
            Some(3_900)
        );
    }

    #[test]
    fn a_span_without_an_answer_leaves_the_distance_unknown() {
        let long = SPAN.as_secs();
        assert_eq!(heard(&[]), None);
        assert_eq!(heard(&[(0, None), (1, None)]), None);
        assert_eq!(heard(&[(0, Some((10, 5))), (3 * long, Some((10, 5)))]), None);
        let silent: Vec<_> = (1..=2 * long).map(|at| (at, None)).collect();
        let all = [
            &[(0, Some((10, 5)))],
            silent.as_slice(),
            &[(2 * long + 1, Some((10, 5)))],
        ]
        .concat();
        assert_eq!(heard(&all), None);
    }
}
