//! Conformance of an AVTP stream to the credit-based shaper of IEEE 802.1Qav.
//!
//! A shaper lets a stream send one frame in each class measurement interval: 125 us in SR class A, 250 us in class B. While another frame
//! occupies the port, the stream gains credit, and afterwards sends so much earlier than its interval. So no frame may come earlier than its
//! interval by more than the time of the longest frame at the port's rate. This is the generic cell rate algorithm (ITU-T I.371), with the
//! interval as increment.

use model::{Counter, Tally};

/// Part of the interval that is allowed for the difference between the talker's clock and that of the stamps: 200 ppm, one part of this many.
const CLOCK_TOLERANCE: i64 = 5_000;

/// Octets of the longest frame of another class on the wire: 1522 with tag and FCS, 8 of preamble, 12 of gap.
const LONGEST_OTHER: i64 = 1_542;

/// Octets of a frame on the wire beyond its header and payload: FCS, preamble and gap.
const AROUND: i64 = 4 + 8 + 12;

/// Octets of the shortest frame without FCS.
const SHORTEST: i64 = 60;

/// SR class, by the default priorities of IEEE 802.1Q (table 34-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SrClass {
    /// Priority 3, one interval is 125 us.
    A,
    /// Priority 2, one interval is 250 us.
    B,
}

impl SrClass {
    /// The class of frames with this priority in their VLAN tag; `None` for priorities that no class has by default.
    pub fn of(pcp: u8) -> Option<Self> {
        match pcp {
            3 => Some(Self::A),
            2 => Some(Self::B),
            _ => None,
        }
    }

    /// Class measurement interval in ns.
    pub fn interval_ns(self) -> i64 {
        match self {
            Self::A => 125_000,
            Self::B => 250_000,
        }
    }
}

/// How far a stream's frames came before their interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shaping {
    /// The class of the stream.
    pub class: SrClass,
    /// Longest time in ns by which a frame came before its interval, 0 if none did.
    pub lead_ns: i64,
    /// Number of that frame.
    pub frame: u64,
}

impl Shaping {
    /// The most that a shaper allows on a port of this rate, in ns: the time of the longest frame of another class.
    pub fn most_ns(mbit_per_second: i64) -> i64 {
        LONGEST_OTHER * 8 * 1_000 / mbit_per_second.max(1)
    }
}

/// Credit of a stream: by how much a frame comes before its time.
#[derive(Debug, Clone, Copy)]
pub struct Credit {
    /// Earliest time at which the next frame has its interval.
    due_ns: Option<i64>,
    increment_ns: i64,
}

impl Credit {
    /// One frame in each interval of the class.
    pub fn of_class(class: SrClass) -> Self {
        Self::every(class.interval_ns())
    }

    /// Frames of this many octets, from destination to payload, at the idle slope of a shaper in kbit/s: one frame in the time in which
    /// the shaper gains the credit for it.
    pub fn of_slope(octets: usize, kbit_per_second: u32) -> Self {
        let on_wire = i64::try_from(octets).unwrap_or(i64::MAX / 2).max(SHORTEST) + AROUND;
        Self::every(on_wire.saturating_mul(8 * 1_000_000) / i64::from(kbit_per_second.max(1)))
    }

    fn every(interval_ns: i64) -> Self {
        Self {
            due_ns: None,
            increment_ns: interval_ns - interval_ns / CLOCK_TOLERANCE,
        }
    }

    /// Takes the next frame; returns the time in ns by which it came before its interval, 0 if it did not.
    pub fn lead_ns(&mut self, time_ns: i64) -> i64 {
        let due_ns = self.due_ns.unwrap_or(time_ns);
        self.due_ns = Some(due_ns.max(time_ns).saturating_add(self.increment_ns));
        due_ns.saturating_sub(time_ns).max(0)
    }

    /// Begins anew, because the time of a frame is not known.
    pub fn forget(&mut self) {
        self.due_ns = None;
    }
}

/// Leads of the frames of a stream against a port of known rate.
#[derive(Debug, Clone)]
pub struct Leads {
    /// The most that a shaper of that port allows, in ns.
    pub most_ns: u64,
    /// Each frame with a stamp, 0 if it did not come early.
    pub tally: Tally,
    /// True if a stamp is missing or goes back: the leads around it are not known.
    pub is_doubtful: bool,
}

impl Leads {
    fn of_port(mbit_per_second: u32) -> Self {
        Self {
            most_ns: Shaping::most_ns(mbit_per_second.into()).unsigned_abs(),
            tally: Tally::default(),
            is_doubtful: false,
        }
    }

    fn take(&mut self, lead_ns: i64) {
        self.tally.sample(lead_ns, 1);
        if lead_ns.unsigned_abs() > self.most_ns {
            self.tally.count(Counter::Overflow, 1);
        }
    }
}

/// The state of one stream.
#[derive(Debug)]
pub(crate) struct Shaped {
    credit: Credit,
    shaping: Shaping,
    leads: Option<Box<Leads>>,
    last_ns: Option<i64>,
}

impl Shaped {
    pub(crate) fn new(class: SrClass, port_mbit: Option<u32>) -> Self {
        Self {
            credit: Credit::of_class(class),
            shaping: Shaping {
                class,
                lead_ns: 0,
                frame: 0,
            },
            leads: port_mbit.map(Leads::of_port).map(Box::new),
            last_ns: None,
        }
    }

    /// Takes the next frame of the stream; one without a stamp, or with a stamp that goes back, begins anew.
    pub(crate) fn take(&mut self, time_ns: Option<i64>, frame: u64) {
        let last_ns = std::mem::replace(&mut self.last_ns, time_ns);
        let is_back = time_ns < last_ns;
        let Some(time_ns) = time_ns.filter(|_| !is_back) else {
            self.credit.forget();
            self.doubt();
            return;
        };
        let lead_ns = self.credit.lead_ns(time_ns);
        if let Some(leads) = &mut self.leads {
            leads.take(lead_ns);
        }
        if lead_ns > self.shaping.lead_ns {
            (self.shaping.lead_ns, self.shaping.frame) = (lead_ns, frame);
        }
    }

    fn doubt(&mut self) {
        if let Some(leads) = &mut self.leads {
            leads.is_doubtful = true;
        }
    }

    pub(crate) fn shaping(&self) -> Shaping {
        self.shaping
    }

    /// The leads; `None` if no rate is known.
    pub(crate) fn leads(self) -> Option<Leads> {
        self.leads.map(|leads| *leads)
    }
}

#[cfg(test)]
mod tests {
    use super::{Credit, Shaped, Shaping, SrClass};

    /// The longest lead of frames with these stamps.
    fn lead(class: SrClass, times: impl IntoIterator<Item = i64>) -> (i64, u64) {
        let mut credit = Shaped::new(class, None);
        for (frame, time_ns) in times.into_iter().enumerate() {
            credit.take(Some(time_ns), frame as u64);
        }
        (credit.shaping().lead_ns, credit.shaping().frame)
    }

    #[test]
    fn an_even_stream_and_a_clock_that_is_a_little_fast_are_never_ahead() {
        assert_eq!(lead(SrClass::A, (0..80_000).map(|k| k * 125_000)), (0, 0));
        assert_eq!(lead(SrClass::A, (0..80_000).map(|k| k * 124_980)), (0, 0), "160 ppm");
        assert_eq!(lead(SrClass::B, (0..40_000).map(|k| k * 250_000)), (0, 0));
    }

    #[test]
    fn a_frame_held_up_by_another_leaves_its_successor_that_much_ahead() {
        // Frame 10 waits for the longest frame of another class at 1 Gbit/s.
        let late = Shaping::most_ns(1_000);
        let times = (0..100).map(|k| k * 125_000 + if k == 10 { late } else { 0 });
        let (lead_ns, frame) = lead(SrClass::A, times);
        assert_eq!((late, frame), (12_336, 11));
        assert!((12_000..=12_336).contains(&lead_ns), "{lead_ns}");
        assert_eq!(Shaping::most_ns(100), 123_360);
    }

    #[test]
    fn frames_that_leave_as_they_are_made_are_far_ahead() {
        // Eight frames at once, each millisecond: the average rate is right, and no shaper was in the way.
        let bursts = (0..100).flat_map(|k| (0..8).map(move |n| k * 1_000_000 + n * 6_000));
        let (lead_ns, _) = lead(SrClass::A, bursts);
        assert!(lead_ns > 800_000, "{lead_ns}");
        // Twice the reserved rate.
        let (lead_ns, _) = lead(SrClass::A, (0..100).map(|k| k * 62_500));
        assert!(lead_ns > 6_000_000, "{lead_ns}");
        // The frames of class A are too many in class B.
        assert!(lead(SrClass::B, (0..100).map(|k| k * 125_000)).0 > 12_000_000);
    }

    #[test]
    fn a_frame_without_a_stamp_begins_anew() {
        let mut credit = Shaped::new(SrClass::A, None);
        for time_ns in [Some(0), None, Some(10)] {
            credit.take(time_ns, 1);
        }
        assert_eq!(credit.shaping().lead_ns, 0);
        assert_eq!(
            [3, 2, 0, 7].map(SrClass::of),
            [Some(SrClass::A), Some(SrClass::B), None, None]
        );
    }

    #[test]
    fn a_slope_gains_the_credit_of_a_frame_in_its_time_on_the_wire() {
        // 1538 octets on the wire at 98 688 kbit/s, as a class A of one full frame in 125 us.
        let mut credit = Credit::of_slope(1_514, 98_432);
        let leads: Vec<i64> = [0, 125_000, 250_000, 365_000, 500_000]
            .map(|at| credit.lead_ns(at))
            .into();
        assert!(leads[..3].iter().all(|lead| *lead == 0), "{leads:?}");
        assert!((9_900..=10_000).contains(&leads[3]), "{leads:?}");
        assert_eq!(leads[4], 0);
        // A frame shorter than the shortest takes its time.
        assert_eq!(
            Credit::of_slope(14, 1_000).increment_ns,
            Credit::of_slope(60, 1_000).increment_ns
        );
    }
}
