//! Each signal of a test set made once on trial, so that one that cannot be published is refused before the first frame.

use super::TripConfig;
use waveform::WaveformError;
use waveform::sample::Sampling;

impl TripConfig {
    /// Makes one shot of every scenario, and of the fault of the controls.
    pub(super) fn trial(&self, sampling: &Sampling) -> Result<(), WaveformError> {
        for scenario in &self.scenarios {
            scenario.trial(sampling)?;
        }
        self.faulted().trial(sampling).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use crate::trip::{TripConfig, TripOptions, sampling};
    use waveform::scenario::Scenario;

    fn config() -> TripConfig {
        TripOptions::default().config().expect("the usual scenario")
    }

    /// A shot without a trip, of 400 A before it and this current during it.
    fn quiet(amps: u32) -> Scenario {
        let text = format!(
            "what = \"x\"\n[expect]\ntrip = false\n[waveform]\ncurrents_a = 400\n[[waveform.state]]\nname = \"high\"\n\
             duration = \"50ms\"\ncurrents_a = {amps}\n"
        );
        let config = config();
        let sampling = sampling(&config.stream).expect("the usual stream");
        Scenario::parse(&text, "x", "x.toml", &sampling).expect("a scenario")
    }

    fn refusal(config: &TripConfig) -> Option<String> {
        let sampling = sampling(&config.stream).expect("the usual stream");
        config.trial(&sampling).err().map(|error| error.to_string())
    }

    #[test]
    fn a_scenario_that_samples_cannot_hold_is_refused_before_the_first_frame() {
        let with = |amps| {
            let mut config = config();
            config.scenarios.push(quiet(amps));
            refusal(&config)
        };
        assert_eq!(with(4_000), None);
        let why = with(3_000_000).expect("a relay would be blocked by overflow, and pass");
        assert!(why.contains("scenario x: its signal grows beyond 1000 kA"), "{why}");
    }
}
