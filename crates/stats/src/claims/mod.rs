//! Claims that a run supports, in words: the rate of events over a limit, and the test time needed for a stronger claim.
//!
//! The bound is valid for the load and the configuration that were tested, for independent events, and for events that the test
//! could see: of stalls shorter than the sampling interval, it sees only the share that a sample falls into.

pub mod period;
#[cfg(test)]
mod tests;

use crate::exceedance::{rate_lower_bound, rate_upper_bound};

/// Nanoseconds of a year of 365.25 days.
pub const YEAR_NS: u64 = 31_557_600_000_000_000;

/// The claim about the rate of events over a limit that a test supports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Number of events over the limit; if it is not known exactly, the largest possible number.
    pub events: u64,
    /// How long was tested, summed over all machines, in ns.
    pub exposure_ns: u64,
    /// The limit, in ns.
    pub limit_ns: u64,
    /// Confidence of every bound here, 0 to 1; each is one-sided.
    pub confidence: f64,
    /// At most one event in this time, in ns (exact Poisson bound). 0, which claims nothing, without exposure.
    pub at_most_one_per_ns: f64,
    /// At least one event in this time, in ns (exact Poisson bound). Infinite if there were no events.
    pub at_least_one_per_ns: f64,
    /// The wanted claim: at most one event in this time, in ns.
    pub wanted_every_ns: u64,
    /// Exposure in ns, including the test so far, that supports the wanted claim if no further event happens.
    pub exposure_needed_ns: f64,
    /// Result of the test for the wanted claim.
    pub standing: Standing,
}

/// Result of a test for a wanted claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The test supports the claim.
    Supported,
    /// The test is too short to support the claim, and does not contradict it.
    Open,
    /// The test contradicts the claim: even the lower bound of the rate is above it.
    Contradicted,
}

/// Computes the claim that the events over `limit_ns` in `exposure_ns` support, and the test time needed to claim at most one in
/// `wanted_every_ns`. The number of events is known as a range: each bound uses the end that claims less. Equal machines under
/// equal load add their exposure. Pure arithmetic: bounds by Garwood, Biometrika 28 (1936).
pub fn claim(
    (at_least, events): (u64, u64),
    exposure_ns: u64,
    limit_ns: u64,
    confidence: f64,
    wanted_every_ns: u64,
) -> Claim {
    let one_second = 1_000_000_000;
    let events_at_most = rate_upper_bound(events, one_second, confidence);
    let at_most_one_per_ns = 1e9 / rate_upper_bound(events, exposure_ns, confidence);
    let at_least_one_per_ns = 1e9 / rate_lower_bound(at_least, exposure_ns, confidence);
    let wanted = wanted_every_ns as f64;
    let standing = if at_most_one_per_ns >= wanted {
        Standing::Supported
    } else if at_least_one_per_ns < wanted {
        Standing::Contradicted
    } else {
        Standing::Open
    };
    Claim {
        events,
        exposure_ns,
        limit_ns,
        confidence,
        at_most_one_per_ns,
        at_least_one_per_ns,
        wanted_every_ns,
        exposure_needed_ns: events_at_most * wanted,
        standing,
    }
}

impl Claim {
    /// The claim in words: `0 over 120 µs in 7.00 d: at most one per 2.33 d at 95 %, if they come independently; to claim one per
    /// year, test 3 machine-years`. Periods are rounded so that the text promises nothing that the test does not support.
    pub fn text(&self) -> String {
        let seen = format!("{} over {}", self.events, units::Ns(self.limit_ns));
        if self.at_most_one_per_ns <= 0.0 {
            return format!("{seen}: the observed time is not known, so no rate is claimed");
        }
        format!(
            "{seen} in {}: at most one per {} at {} %, if they come independently; {}",
            units::Ns(self.exposure_ns),
            period::down(self.at_most_one_per_ns),
            (self.confidence * 1e5).round() / 1e3,
            self.next(),
        )
    }

    /// The next step towards the wanted claim, in words.
    fn next(&self) -> String {
        let wanted = period::name(self.wanted_every_ns);
        let needed = period::machine_time_up(self.exposure_needed_ns);
        match self.standing {
            Standing::Supported => format!("this supports a claim of one per {wanted}"),
            Standing::Contradicted => {
                let seen = period::up(self.at_least_one_per_ns);
                format!("at least one per {seen}, so a claim of one per {wanted} does not hold")
            }
            Standing::Open if self.events == 0 => format!("to claim one per {wanted}, test {needed}"),
            Standing::Open => format!("to claim one per {wanted}, test {needed} with no further event"),
        }
    }
}
