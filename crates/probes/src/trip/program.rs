//! Program of the shots that are played, and in which series each shot counts.

use super::script::Manner;
use super::{Security, TripConfig};
use model::Cell;
use waveform::scenario::{Expect, Scenario, Selection};
use waveform::type_test::{Group, PointOnWave, TestShot};

/// A shot that counts.
pub(super) struct Ask {
    /// The series that it counts in: its number in [`TripConfig::groups`].
    pub(super) group: usize,
    /// Name of its origin: a scenario, a case, a type test.
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) manner: Manner,
    /// Where on the wave its fault begins.
    pub(super) point: PointOnWave,
    /// Its place in a type test.
    pub(super) cell: Option<Cell>,
}

impl Ask {
    /// A shot of a scenario.
    pub(super) fn plain(group: usize, scenario: &Scenario) -> Self {
        Self {
            group,
            name: scenario.name.clone(),
            scenario: scenario.clone(),
            manner: Manner::Plain,
            point: PointOnWave::anywhere(scenario.wave.voltage_deg()),
            cell: None,
        }
    }

    /// A shot in which the samples are disturbed while that fault would last.
    pub(super) fn disturbed(group: usize, case: Security, fault: &Scenario) -> Self {
        let scenario = case.scenario(fault);
        Self {
            name: case_name(case),
            scenario,
            manner: case.manner(),
            ..Self::plain(group, fault)
        }
    }

    /// A shot of a type test.
    pub(super) fn of(shot: TestShot) -> Self {
        Self {
            group: shot.group,
            name: shot.scenario.name.clone(),
            scenario: shot.scenario,
            manner: Manner::Plain,
            point: shot.point,
            cell: Some(shot.cell),
        }
    }
}

impl TripConfig {
    /// Groups of shots that are counted together: of a scenario, of a disturbance of the samples, of a part of a type test.
    pub(super) fn groups(&self) -> Vec<Group> {
        if let Some(test) = &self.type_test {
            return test.groups();
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
