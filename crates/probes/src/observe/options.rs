//! Options of an observation, live and of a capture.

use crate::error::ProbeError;
use crate::options::positive_duration;
use crate::trip::UnderTest;
use observation::{Config, Rule};

/// Heading of these options. Each names it: one for the struct would go on over the options of the command it is flattened into.
const HEADING: &str = "Observe";

/// Options for how the faults of another injector are recognised.
#[derive(Debug, Clone, clap::Args)]
pub struct ObserveOptions {
    /// Time the trips for faults of another injector. A fault starts where this rule holds: a value above:AMOUNT or a phasor's
    /// change:AMOUNT of the stream
    /// --sv-id, such as above:2000A, above:2.5x1000A@0-2, change:20%; a bit of its dataset, such as digital:8.0; a contact
    /// goose:GOCBREF:MEMBER. The trips are read from --goose
    #[arg(long, help_heading = HEADING, value_name = "RULE")]
    pub observe: Option<Rule>,
    /// Longest time from the start of a fault to its trip; without a trip until then, the shot is a failure to trip
    #[arg(long, help_heading = HEADING, value_name = "DURATION", default_value = "1s", requires = "observe", value_parser = positive_duration)]
    pub trip_deadline: u64,
    /// Required operate time, by which the relay is judged
    #[arg(long, help_heading = HEADING, value_name = "DURATION", requires = "observe", value_parser = positive_duration)]
    pub within: Option<u64>,
    /// Frequency of the network in Hz
    #[arg(long, help_heading = HEADING, value_name = "HZ", default_value_t = 50.0, requires = "observe", value_parser = frequency)]
    pub nominal_frequency: f64,
}

/// A frequency of a network.
fn frequency(text: &str) -> Result<f64, String> {
    let hz: f64 = text
        .parse()
        .map_err(|_| format!("\"{text}\" is not a frequency in Hz"))?;
    match (10.0..=100.0).contains(&hz) {
        true => Ok(hz),
        false => Err("must be from 10 to 100 Hz".into()),
    }
}

impl ObserveOptions {
    /// The observation of this relay, and of the stream of this svID, whose samples a second are `rate` where that is known. `None` where nothing
    /// is to be observed.
    ///
    /// # Errors
    /// No control block of the relay is named.
    pub fn config(&self, relay: &UnderTest, sv_id: &str, rate: Option<u32>) -> Result<Option<Config>, ProbeError> {
        let Some(rule) = self.observe.clone() else {
            return Ok(None);
        };
        let Some(gocb_ref) = relay.goose.clone() else {
            return Err(ProbeError::Usage(
                "--observe: name the relay's GOOSE control block (--goose), or give an SCL file that has only one (--scl)".into(),
            ));
        };
        Ok(Some(Config {
            rule,
            sv_id: sv_id.to_owned(),
            rate,
            frequency_hz: self.nominal_frequency,
            gocb_ref,
            trip: relay.trip,
            start: relay.start,
            deadline_ns: self.trip_deadline,
        }))
    }
}

/// Options for the relay that is observed in a capture. Live, those of a test set say the same.
#[derive(Debug, Clone, clap::Args)]
pub struct ObservedRelay {
    /// The rule, and the times by which the relay is judged.
    #[command(flatten)]
    pub observe: ObserveOptions,
    /// The relay's GOOSE control block
    #[arg(long, help_heading = HEADING, value_name = "GOCBREF", requires = "observe")]
    pub goose: Option<String>,
    /// Member of its dataset that is true when the relay trips, or the breaker's position: its number from 0, or its name in the SCL file
    #[arg(long, help_heading = HEADING, value_name = "MEMBER", default_value = "0", requires = "observe")]
    pub trip_member: crate::trip::MemberName,
    /// Member that is true when the relay has started
    #[arg(long, help_heading = HEADING, value_name = "MEMBER", requires = "observe")]
    pub start_member: Option<crate::trip::MemberName>,
    /// Take names of members from this SCL file
    #[arg(long, help_heading = HEADING, value_name = "FILE", requires = "observe")]
    pub scl: Option<String>,
    /// svID of the stream with the faults
    #[arg(long, help_heading = HEADING, value_name = "TEXT", default_value = "MU01", requires = "observe")]
    pub sv_id: String,
}

impl ObservedRelay {
    /// The relay.
    ///
    /// # Errors
    /// A name that no SCL file has, or an SCL file that cannot be used.
    pub fn under_test(&self) -> Result<UnderTest, ProbeError> {
        UnderTest::named(
            self.scl.as_deref(),
            self.goose.clone(),
            &self.trip_member,
            self.start_member.as_ref(),
        )
    }
}
