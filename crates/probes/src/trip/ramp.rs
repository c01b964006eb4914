//! The state of a relay that a ramp watches.

use super::TripConfig;
use crate::error::ProbeError;
use model::RampSignal;
use waveform::type_test::TypeTest;

impl TripConfig {
    /// The same test; in a ramp the start of each relay takes the place of its trip, if its GOOSE has a start.
    ///
    /// # Errors
    /// Only some of the relays report a start, or a breaker would end the ramp.
    pub(super) fn with_ramp_signal(&self) -> Result<Self, ProbeError> {
        let mut config = self.clone();
        let Some(test) = config.type_test.take_if(|test| test.is_ramp()) else {
            return Ok(config);
        };
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: type test {}: {problem}", test.name)));
        if self.breaker_ns.is_some() {
            return usage("--breaker would end the ramp at the trip, before the drop-off: leave it out");
        }
        let starts = self.relays.iter().filter(|relay| relay.start.is_some()).count();
        let signal = match starts {
            0 => RampSignal::Trip,
            all if all == self.relays.len() => RampSignal::Start,
            _ => return usage("some relays report a start and some do not: name a start member of each, or of none"),
        };
        for relay in &mut config.relays {
            relay.trip = relay.start.take().unwrap_or(relay.trip);
        }
        config.type_test = Some(test.watching(signal));
        Ok(config)
    }
}

/// Says which state a ramp watches; `None` without a ramp.
pub(super) fn said(test: &TypeTest) -> Option<String> {
    let how = match test.ramp_signal()? {
        RampSignal::Start => "the relay's start (--start-member)",
        RampSignal::Trip => {
            "the relay's trip, because --start-member names no start: its delay has to be shorter than a step, and the drop-off is that \
             of the reset of the trip"
        }
    };
    Some(format!("type test {}: the pick-up is seen by {how}", test.name))
}

#[cfg(test)]
mod tests {
    use super::said;
    use crate::trip::{TripConfig, TripOptions};
    use wire::goose::Member;

    fn config(start: Option<&str>) -> TripConfig {
        let options = TripOptions {
            type_test: Some("pick-up".into()),
            start_member: start.map(|name| name.parse().expect("a member")),
            ..TripOptions::default()
        };
        options.config().expect("a type test of the program")
    }

    fn said_of(config: &TripConfig) -> String {
        let test = config.type_test.as_ref().expect("a test");
        said(test).expect("a ramp")
    }

    #[test]
    fn a_ramp_watches_the_start_where_the_relay_reports_one() {
        let by_start = config(Some("3")).with_ramp_signal().expect("a start");
        assert_eq!(by_start.relays[0].trip, Member::numbered(3));
        assert!(by_start.relays[0].start.is_none() && said_of(&by_start).contains("relay's start"));
        let by_trip = config(None).with_ramp_signal().expect("a trip");
        assert_eq!(by_trip.relays[0].trip, Member::numbered(0));
        assert!(said_of(&by_trip).contains("relay's trip"));
    }

    #[test]
    fn a_ramp_that_a_breaker_would_end_and_relays_of_both_kinds_are_refused() {
        let refusal = |config: &TripConfig| config.with_ramp_signal().expect_err("refused").to_string();
        let breaker = TripConfig {
            breaker_ns: Some(40_000_000),
            ..config(None)
        };
        assert!(refusal(&breaker).contains("--breaker"));
        let mut both = config(Some("3"));
        both.relays.push(config(None).relays.remove(0));
        assert!(refusal(&both).contains("some relays report a start"));
        let usual = TripOptions::default().config().expect("the usual scenario");
        assert_eq!(usual.with_ramp_signal().expect("no ramp").relays, usual.relays);
    }
}
