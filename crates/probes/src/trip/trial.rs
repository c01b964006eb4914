//! Each signal of a test set made once on trial, so that one that cannot be published is refused before the first frame.

use super::TripConfig;
use waveform::WaveformError;
use waveform::sample::Sampling;

impl TripConfig {
    /// Makes one shot of every scenario, of the fault of the controls, and of every disturbance of the samples. A flaw has to change something beside
    /// the fault itself, otherwise the relay would pass by silence.
    pub(super) fn trial(&self, sampling: &Sampling) -> Result<(), WaveformError> {
        for scenario in &self.scenarios {
            scenario.trial(sampling)?;
        }
        let fault = self.faulted();
        let faulted = fault.trial(sampling)?.table;
        for case in &self.security {
            let scenario = case.scenario(&fault);
            let shot = scenario.trial(sampling)?;
            if let Some(flaw) = scenario.flaw {
                let largest = faulted.largest(flaw.quantity(), &sampling.dataset);
                scenario.check_flaw(flaw, shot.flaw_change, largest)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::trip::{Security, TripConfig, TripOptions, sampling};
    use waveform::sample::{Dataset, Sampling};
    use waveform::scenario::{Scenario, find};

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

    const FLAWS: [Security; 6] = [
        Security::SingleSample,
        Security::StuckCurrent,
        Security::StuckVoltage,
        Security::SwappedPhases,
        Security::ReversedPolarity,
        Security::WrongRatio,
    ];

    /// Cases that are refused with a scenario.
    fn refused(name: &str, dataset: Dataset) -> Vec<Security> {
        let mut config = config();
        let sampling = Sampling {
            dataset,
            ..sampling(&config.stream).expect("the usual stream")
        };
        config.scenarios = vec![find(name, &sampling).expect("of the program")];
        let is_refused = |case: &Security| {
            config.security = vec![*case];
            let refusal = config.trial(&sampling).err().map(|error| error.to_string());
            let text = format!("scenario {name}: the flaw {case} changes nothing");
            assert!(refusal.iter().all(|why| why.starts_with(&text)), "{refusal:?}");
            refusal.is_some()
        };
        FLAWS.into_iter().filter(is_refused).collect()
    }

    #[test]
    fn a_flaw_that_changes_nothing_is_refused() {
        let usual = || Dataset::default();
        for name in ["zone1-ag", "overcurrent", "ct-saturation-inside", "swing-fault"] {
            assert_eq!(refused(name, usual()), [], "{name}");
        }
        let of_load = [
            Security::StuckCurrent,
            Security::SwappedPhases,
            Security::ReversedPolarity,
            Security::WrongRatio,
        ];
        for name in ["zone1-sir30-inside", "breaker-failure"] {
            assert_eq!(refused(name, usual()), of_load, "{name}: no load");
        }
        let all = refused("switch-on-to-fault", usual());
        assert_eq!(all.len(), 5, "neither load nor voltage: {all:?}");
        let currents = Dataset::new(4, 0).expect("a dataset");
        assert_eq!(refused("zone1-ag", currents), [Security::StuckVoltage]);
        let one = Dataset::new(1, 4).expect("a dataset");
        assert_eq!(refused("zone1-ag", one), [Security::SwappedPhases]);
    }
}
