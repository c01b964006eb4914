//! Schedule of a GOOSE publisher: the retransmission curve, and the numbers of its messages.

const NS_PER_MS: f64 = 1e6;

/// Schedule of the repetitions after a change of state: soon at first, then at doubled intervals, finally at a constant
/// one. The standard leaves the curve to the publisher; this is T1, T1, 2 T1, 4 T1 … up to T0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Interval after the first message of a state, and after the second (T1, MinTime), ns.
    pub first_ns: u64,
    /// Longest interval (T0, MaxTime), ns.
    pub last_ns: u64,
    /// timeAllowedtoLive is this factor times the interval to the next message.
    pub tal_factor: f64,
}

impl Default for Curve {
    /// 4 ms to 1 s, and twice the interval.
    fn default() -> Self {
        Self {
            first_ns: 4_000_000,
            last_ns: 1_000_000_000,
            tal_factor: 2.0,
        }
    }
}

impl Curve {
    /// Interval after message `n` of a state, counted from 0; ns.
    pub fn interval_ns(&self, n: u32) -> u64 {
        let doublings = n.saturating_sub(1);
        let doubled = self
            .first_ns
            .checked_mul(1_u64.checked_shl(doublings).unwrap_or(u64::MAX));
        doubled.unwrap_or(u64::MAX).min(self.last_ns)
    }

    /// timeAllowedtoLive of message `n` of a state: at least 1 ms, rounded up.
    pub fn time_allowed_to_live_ms(&self, n: u32) -> u32 {
        let ms = (self.interval_ns(n) as f64 * self.tal_factor / NS_PER_MS).ceil();
        // `as` limits larger numbers to the highest value.
        (ms as u32).max(1)
    }
}

/// The numbers of the messages of one control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    st_num: u32,
    sq_num: u32,
    /// Number of intervals of the curve already used in this state.
    step: u32,
}

impl Progress {
    /// Starts with these numbers, like a publisher that has run for a long time.
    pub fn at(st_num: u32, sq_num: u32) -> Self {
        Self {
            st_num,
            sq_num,
            step: 0,
        }
    }

    /// State number of the next message.
    pub fn st_num(&self) -> u32 {
        self.st_num
    }

    /// Sequence number of the next message.
    pub fn sq_num(&self) -> u32 {
        self.sq_num
    }

    /// Position of the next message on the [`Curve`].
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Records that the message was sent: the next one repeats it.
    pub fn repeat(&mut self) {
        self.sq_num = self.sq_num.checked_add(1).unwrap_or(1);
        self.step = self.step.saturating_add(1);
    }

    /// Skips a repetition that was missed: the next one takes its number.
    pub fn skip(&mut self) {
        self.step = self.step.saturating_add(1);
    }

    /// Records a change of value: the next message is the first of a new state.
    pub fn change(&mut self) {
        self.st_num = self.st_num.checked_add(1).unwrap_or(1);
        self.sq_num = 0;
        self.step = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, Progress};

    #[test]
    fn the_curve_of_a_change() {
        let curve = Curve::default();
        let mut at_ms = 0;
        let sent: Vec<(u64, u64, u32)> = (0..13)
            .map(|n| {
                let interval_ms = curve.interval_ns(n) / 1_000_000;
                at_ms += interval_ms;
                (at_ms - interval_ms, interval_ms, curve.time_allowed_to_live_ms(n))
            })
            .collect();
        let times: Vec<u64> = sent.iter().map(|message| message.0).collect();
        assert_eq!(times, [0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2024, 3024, 4024]);
        let intervals: Vec<u64> = sent.iter().map(|message| message.1).collect();
        assert_eq!(intervals, [4, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000]);
        assert!(sent.iter().all(|message| u64::from(message.2) == 2 * message.1));
    }

    #[test]
    fn the_curve_ends_at_its_longest_interval_whatever_the_message() {
        let curve = Curve {
            first_ns: 3,
            last_ns: 1_000,
            tal_factor: 3.0,
        };
        assert!(
            [1, 2, 12, 64, 65, u32::MAX]
                .iter()
                .all(|n| curve.interval_ns(*n) <= 1_000)
        );
        assert_eq!(curve.interval_ns(u32::MAX), 1_000);
        assert_eq!(curve.time_allowed_to_live_ms(0), 1, "less than a millisecond");
    }

    #[test]
    fn numbers_of_states_and_repetitions() {
        let mut progress = Progress::at(1, 1);
        assert_eq!((progress.st_num(), progress.sq_num()), (1, 1));
        progress.repeat();
        progress.skip();
        assert_eq!((progress.sq_num(), progress.step()), (2, 2));
        progress.change();
        assert_eq!((progress.st_num(), progress.sq_num(), progress.step()), (2, 0, 0));
        let mut end = Progress::at(u32::MAX, u32::MAX);
        end.repeat();
        assert_eq!(end.sq_num(), 1, "0 is for a change");
        end.change();
        assert_eq!((end.st_num(), end.sq_num()), (1, 0));
    }
}
