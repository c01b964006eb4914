//! Program of the shots to be played, with the series of each shot.

use super::peer::Course;
use super::script::Manner;
use super::{Security, TripConfig};
use model::Cell;
use waveform::scenario::{Expect, Scenario, Selection};
use waveform::type_test::{Group, PointOnWave, TestShot};

/// A shot that counts.
pub(super) struct Ask {
    /// Number of its group in [`TripConfig::groups`], which gives the series.
    pub(super) group: usize,
    /// Name of the scenario, case or type test that it comes from.
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) manner: Manner,
    /// Messages of the peer meanwhile; `None` without a peer.
    pub(super) course: Option<Course>,
    /// Point on the wave at which the fault begins.
    pub(super) point: PointOnWave,
    /// Cell of the type test.
    pub(super) cell: Option<Cell>,
}

impl Ask {
    /// Makes a shot of a scenario.
    pub(super) fn plain(group: usize, scenario: &Scenario) -> Self {
        Self {
            group,
            name: scenario.name.clone(),
            scenario: scenario.clone(),
            manner: Manner::Plain,
            course: None,
            point: PointOnWave::anywhere(scenario.wave.voltage_deg()),
            cell: None,
        }
    }

    /// Makes a shot in which the samples are disturbed during the time of that fault.
    pub(super) fn disturbed(group: usize, case: Security, fault: &Scenario) -> Self {
        let scenario = case.scenario(fault);
        Self {
            name: case_name(case),
            scenario,
            manner: case.manner(),
            ..Self::plain(group, fault)
        }
    }

    /// Makes a shot of a type test.
    pub(super) fn of(shot: TestShot) -> Self {
        Self {
            group: shot.group,
            name: shot.scenario.name.clone(),
            scenario: shot.scenario,
            manner: Manner::Plain,
            course: None,
            point: shot.point,
            cell: Some(shot.cell),
        }
    }
}

impl Ask {
    /// Duration of a step in ns; `None` without a ramp.
    pub(super) fn ramp_step_ns(&self) -> Option<u64> {
        match &self.cell {
            Some(Cell::Ramp(ramp)) => Some(ramp.step_ns),
            _ => None,
        }
    }
}

impl TripConfig {
    /// The first scenario with a trip; if there is none, a simple fault from the steady state of the first scenario.
    pub(super) fn faulted(&self) -> Scenario {
        let tripping = self.scenarios.iter().find(|scenario| scenario.wants_trip());
        tripping.map_or_else(|| Scenario::plain_fault(&self.scenarios[0].wave), Scenario::clone)
    }

    /// Groups of shots that are counted together: of a scenario, of a disturbance of the samples, or of a part of a type test.
    pub(super) fn groups(&self) -> Vec<Group> {
        if let Some(test) = &self.type_test {
            return test.groups();
        }
        if let Some(peer) = &self.peer {
            return peer.groups(&self.faulted());
        }
        let scenarios = self.scenarios.iter().map(of_scenario);
        let cases = self.security.iter().map(|case| Group {
            label: case_name(*case),
            what: case.what().to_owned(),
            trips: false,
            stays: true,
            within_ns: None,
            selection: Selection::default(),
        });
        scenarios.chain(cases).collect()
    }
}

fn case_name(case: Security) -> String {
    format!("samples/{case}")
}

fn of_scenario(scenario: &Scenario) -> Group {
    let within_ns = match scenario.expect {
        Expect::Trip { within_ns, .. } => within_ns,
        Expect::NoTrip | Expect::Either => None,
    };
    Group {
        label: scenario.name.clone(),
        what: scenario.what.clone(),
        trips: scenario.wants_trip(),
        stays: !scenario.wants_trip(),
        within_ns,
        selection: scenario.selection.clone(),
    }
}
