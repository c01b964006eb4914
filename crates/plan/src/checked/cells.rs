//! The cells of a plan with a matrix: each is a separate plan.

use super::Refusal;
use crate::file::Plan;
use crate::matrix::{Cell, MatrixTable};
use crate::step::Step;
use crate::value::PlanError;
use place::PlaceKind;

impl Plan {
    /// Measuring time of the whole plan, in ns: the budget of a plan with a matrix, or the time of all cells with their repetitions.
    pub fn whole_ns(&self) -> u64 {
        let own = self.duration_ns();
        let of_matrix = |matrix: &MatrixTable| {
            let all = own * u64::from(matrix.repetitions) * matrix.cells().len() as u64;
            matrix.budget.map_or(all, |budget| budget.0)
        };
        self.matrix.as_ref().map_or(own, of_matrix)
    }

    /// The text of the plan that measures one cell of this plan's matrix.
    ///
    /// # Errors
    /// A cell that is not possible, such as one with a step that cannot be measured over its network.
    pub fn of_cell(&self, cell: &Cell) -> Result<String, PlanError> {
        let invalid = |problem: String| PlanError::Invalid {
            name: self.name.clone(),
            problem,
        };
        let text = self.cell_text(cell).map_err(invalid)?;
        Self::parse(&format!("{}, cell {}", self.name, cell.name()), &text)?;
        Ok(text)
    }

    fn cell_text(&self, cell: &Cell) -> Result<String, String> {
        let mut plan: toml::Table = toml::from_str(&self.text).map_err(|error| error.to_string())?;
        let matrix = plan.remove("matrix");
        let of_matrix = |key: &str, name: &str| matrix.as_ref().and_then(|matrix| matrix.get(key)?.get(name));
        let loads = of_matrix("loads", &cell.load);
        let management = cell.management.as_ref().and_then(|name| of_matrix("management", name));
        // An empty table means none.
        let management = management.filter(|table| table.as_table().is_some_and(|table| !table.is_empty()));
        let text = |text: &str| toml::Value::String(text.to_owned());
        plan.insert("name".into(), text(&format!("{} {}", self.name, cell.name())));
        plan.insert("what".into(), text(&cell.words()));
        plan.insert("place".into(), text(cell.place.name()));
        if let Some(loads) = loads {
            plan.insert("load".into(), loads.clone());
        }
        if let Some(table) = management {
            plan.insert("management".into(), table.clone());
        }
        if let Some(network) = cell.network {
            let networks = toml::Value::Array(vec![text(network.name())]);
            plan.insert(
                "bed".into(),
                toml::Table::from_iter([("networks".to_owned(), networks)]).into(),
            );
        }
        let own = toml::Value::try_from(cell).map_err(|error| error.to_string())?;
        plan.insert("cell".into(), own);
        toml::to_string(&plan).map_err(|error| error.to_string())
    }
}

/// Refuses combinations that are not possible.
pub(super) fn check(table: &MatrixTable, plan: &Plan) -> Result<(), Refusal> {
    let own = [
        (plan.bed.is_some(), "bed", "networks"),
        (!plan.loads.is_empty(), "load", "loads"),
        (plan.management.is_some(), "management", "management"),
        (plan.place != PlaceKind::Native, "place", "places"),
    ];
    if let Some((_, key, of_matrix)) = own.iter().find(|(is_there, ..)| *is_there) {
        let problem = format!("in a plan with [matrix] write matrix.{of_matrix}");
        return Err(Refusal::of(*key, problem));
    }
    if plan.cell.is_some() || !plan.faults.is_empty() {
        let problem = "a plan with [cell] or [[fault]] is one measurement: leave [matrix] out";
        return Err(Refusal::of("matrix", problem));
    }
    if table.repetitions == 0 || table.places.is_empty() || table.isolation.is_empty() {
        let problem = "no repetition, no place or no isolation: leave the key out for its default";
        return Err(Refusal::of("matrix", problem));
    }
    let repeated = [
        ("places", twice(&table.places, |place| place.name())),
        ("networks", twice(&table.networks, |network| network.name())),
        ("isolation", twice(&table.isolation, |isolation| isolation.name())),
    ];
    if let Some((key, Some(name))) = repeated.iter().find(|(_, name)| name.is_some()) {
        return Err(Refusal::of(format!("matrix.{key}"), format!("{name} is listed twice")));
    }
    table.check_names()?;
    for (name, management) in &table.management {
        management.check(&format!("matrix.management.{name}"))?;
    }
    if !plan.steps.iter().any(Step::needs_bed) && !table.networks.is_empty() {
        let problem = "no step measures over them: leave the key out";
        return Err(Refusal::of("matrix.networks", problem));
    }
    // Checks each network with each set of loads as a separate plan; places and isolation depend on the machine.
    let is_plain = |cell: &Cell| cell.place == PlaceKind::Native && cell.isolation == table.isolation[0];
    for cell in table.cells().into_iter().filter(is_plain) {
        plan.of_cell(&cell)
            .map_err(|error| Refusal::of("matrix", error.to_string()))?;
    }
    Ok(())
}

/// Name of the first value that is listed twice.
fn twice<T: PartialEq>(all: &[T], name: fn(&T) -> &'static str) -> Option<&'static str> {
    let at = (1..all.len()).find(|at| all[..*at].contains(&all[*at]))?;
    Some(name(&all[at]))
}
