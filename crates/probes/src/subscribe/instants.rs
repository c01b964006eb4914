//! Due instants of a stream's samples, and the age of the samples.

use crate::reception::Arrival;
use units::Realtime;
use wire::sequence::SampleStep;

const SECOND_NS: i64 = 1_000_000_000;

/// Change of the difference between the kernel's stamps and the monotonic clock from which the wall clock has stepped.
const STEP_NS: i64 = 1_000_000;

/// Due instant of the newest sample: its second, and the position within it.
///
/// smpCnt is 0 at the top of a second. The first sample sets the second: the one nearest to its stamp. After that the seconds are
/// counted: a sample that comes a second late is a second old, and this is no clock error.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Due {
    /// Second since 1970 and smpCnt of the newest sample.
    newest: Option<(i64, u16)>,
    /// Due instant of the latest placed sample, in ns since 1970.
    due_ns: Option<i64>,
    /// Difference between the kernel's stamps and the monotonic clock, in ns.
    distance_ns: Option<i64>,
}

/// Age of a sample, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ages {
    /// Age when the kernel received it; `None` without a kernel stamp.
    pub(super) arrival_ns: Option<i64>,
    /// Age when the application received it.
    pub(super) age_ns: i64,
}

impl Due {
    /// Takes the next sample.
    #[inline]
    pub(super) fn place(&mut self, count: u16, step: SampleStep, rate: Option<u32>, arrival: &Arrival) {
        let Some(known) = rate else { return };
        let rate = i64::from(known);
        let in_second_ns = i64::from(count) * SECOND_NS / rate;
        let stamp = arrival.kernel.unwrap_or(arrival.wall);
        let has_stepped = self.has_stepped(arrival);
        let newest = self.newest.filter(|_| !has_stepped);
        let second = match (step, newest) {
            (SampleStep::OutOfRange, _) => return,
            (SampleStep::Next | SampleStep::Gap(_), Some((second, before))) => {
                let counts = step.counts(before, count, known);
                second + (i64::from(before) + counts).div_euclid(rate)
            }
            // Late or repeated samples belong to the second of the newest sample, or to the second before it.
            (
                SampleStep::OutOfOrder | SampleStep::TooLate | SampleStep::Duplicate | SampleStep::Conflicting,
                Some((second, newest)),
            ) => second - i64::from(count > newest),
            _ => nearest_second(stamp, in_second_ns),
        };
        if step.is_newest() || self.newest.is_none() {
            self.newest = Some((second, count));
        }
        self.due_ns = Some(second * SECOND_NS + in_second_ns);
    }

    fn has_stepped(&mut self, arrival: &Arrival) -> bool {
        let Some(kernel) = arrival.kernel else { return false };
        let now_ns = kernel.as_ns() - arrival.heard.as_ns();
        let before_ns = self.distance_ns.replace(now_ns).unwrap_or(now_ns);
        (now_ns - before_ns).abs() > STEP_NS
    }

    /// Ages of the latest placed sample; `None` while the rate is not known.
    #[inline]
    pub(super) fn ages(&self, arrival: &Arrival) -> Option<Ages> {
        let due_ns = self.due_ns?;
        Some(Ages {
            arrival_ns: arrival.kernel.map(|kernel| kernel.as_ns() - due_ns),
            age_ns: arrival.wall.as_ns() - due_ns,
        })
    }
}

/// The second nearest to `at` for a sample that is due this far into its second.
fn nearest_second(at: Realtime, in_second_ns: i64) -> i64 {
    (at.as_ns() - in_second_ns + SECOND_NS / 2).div_euclid(SECOND_NS)
}

#[cfg(test)]
mod tests {
    use super::{Ages, Due};
    use crate::reception::Arrival;
    use units::{Monotonic, Realtime};
    use wire::sequence::SampleStep;

    const RATE: Option<u32> = Some(4_000);
    const TOP_NS: i64 = 1_790_000_000_000_000_000;

    /// A frame that the kernel receives `kernel_ns` after the top of a second, and the application `later_ns` after that.
    fn arrival(kernel_ns: i64, later_ns: i64) -> Arrival {
        Arrival {
            at: Monotonic::from_ns(kernel_ns + later_ns),
            wall: Realtime::from_ns(TOP_NS + kernel_ns + later_ns),
            kernel: Some(Realtime::from_ns(TOP_NS + kernel_ns)),
            stamp_ns: Some(TOP_NS + kernel_ns),
            heard: Monotonic::from_ns(kernel_ns),
        }
    }

    fn ages(due: &mut Due, count: u16, step: SampleStep, at: &Arrival) -> (i64, i64) {
        due.place(count, step, RATE, at);
        let Ages { arrival_ns, age_ns } = due.ages(at).expect("a known rate");
        (arrival_ns.expect("a stamp"), age_ns)
    }

    #[test]
    fn seconds_are_counted_from_the_first_sample() {
        let mut due = Due::default();
        assert_eq!(
            ages(&mut due, 3_998, SampleStep::First, &arrival(-499_000, 5)),
            (1_000, 1_005)
        );
        assert_eq!(
            ages(&mut due, 3_999, SampleStep::Next, &arrival(-249_500, 5)),
            (500, 505)
        );
        assert_eq!(ages(&mut due, 0, SampleStep::Next, &arrival(400, 5)), (400, 405));
        assert_eq!(
            ages(&mut due, 3_999, SampleStep::Duplicate, &arrival(700, 0)),
            (250_700, 250_700)
        );
        let later = 1_000_000 + 2_000_000_000;
        assert_eq!(
            ages(&mut due, 4, SampleStep::Gap(8_003), &arrival(later + 9, 0)),
            (9, 9)
        );
    }

    /// Samples from before the top of a second are held back, and the second one after it overtakes them.
    #[test]
    fn a_sample_of_the_next_second_that_came_early_moves_no_second() {
        let mut due = Due::default();
        let released = arrival(750_000, 0);
        ages(&mut due, 3_996, SampleStep::First, &arrival(-1_000_000, 0));
        assert_eq!(ages(&mut due, 2, SampleStep::Gap(5), &released), (250_000, 250_000));
        assert_eq!(
            ages(&mut due, 3_997, SampleStep::Next, &released),
            (1_500_000, 1_500_000)
        );
        assert_eq!(ages(&mut due, 0, SampleStep::Gap(2), &released), (750_000, 750_000));
        assert_eq!(ages(&mut due, 1, SampleStep::Next, &released), (500_000, 500_000));
        assert_eq!(ages(&mut due, 3, SampleStep::Next, &released), (0, 0));
    }

    #[test]
    fn a_sample_that_comes_more_than_half_a_second_late_is_that_old() {
        let mut due = Due::default();
        ages(&mut due, 0, SampleStep::First, &arrival(100, 0));
        assert_eq!(
            ages(&mut due, 1, SampleStep::Next, &arrival(250_100, 800_000_000)),
            (100, 800_000_100)
        );
        assert_eq!(
            ages(&mut due, 2, SampleStep::Next, &arrival(1_700_500_000, 0)),
            (1_700_000_000, 1_700_000_000)
        );
    }

    #[test]
    fn a_clock_that_is_behind_shows_as_negative_and_one_that_stepped_is_followed() {
        let mut due = Due::default();
        assert_eq!(ages(&mut due, 0, SampleStep::First, &arrival(-200, 0)), (-200, -200));
        let mut stepped = arrival(250_000, 0);
        stepped.kernel = Some(Realtime::from_ns(TOP_NS + 250_000 + 3_000_000_000));
        stepped.wall = Realtime::from_ns(TOP_NS + 250_000 + 3_000_000_000);
        assert_eq!(ages(&mut due, 1, SampleStep::Next, &stepped), (0, 0));
    }
}
