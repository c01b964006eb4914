//! Chooses the cells that fit into the available time: whole rounds, or the most important cells of one round.

use plan::Cell;
use units::format_ns;

/// The cells to measure, and their repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The cells that are measured.
    pub cells: Vec<Cell>,
    /// Number of rounds, as estimated before the first one.
    pub rounds: u32,
    /// The cells that do not fit into the time, with the reason.
    pub left_out: Vec<(Cell, String)>,
}

/// Chooses among cells with the expected duration of one measurement in ns: as many rounds over all of them as fit, at most `repetitions`. If not
/// even one fits, the cells that differ least from the plan's first combination come first.
pub fn choose(cells: &[(Cell, u64)], budget_ns: Option<u64>, repetitions: u32) -> Chosen {
    let all = || cells.iter().map(|(cell, _)| cell.clone()).collect::<Vec<_>>();
    let round_ns: u64 = cells.iter().map(|(_, ns)| *ns).fold(0, u64::saturating_add);
    let fit = match budget_ns {
        Some(budget) if round_ns > 0 => u32::try_from(budget / round_ns).unwrap_or(u32::MAX),
        _ => repetitions,
    };
    match fit {
        0 => one_round(cells, budget_ns.unwrap_or(u64::MAX)),
        some => Chosen {
            cells: all(),
            rounds: some.min(repetitions),
            left_out: Vec::new(),
        },
    }
}

fn one_round(cells: &[(Cell, u64)], budget_ns: u64) -> Chosen {
    let Some((first, _)) = cells.first() else {
        return Chosen {
            cells: Vec::new(),
            rounds: 0,
            left_out: Vec::new(),
        };
    };
    let mut by_distance: Vec<usize> = (0..cells.len()).collect();
    by_distance.sort_by_key(|at| distance(&cells[*at].0, first));
    let mut left_ns = budget_ns;
    let mut is_taken = vec![false; cells.len()];
    for at in by_distance {
        if cells[at].1 <= left_ns {
            left_ns -= cells[at].1;
            is_taken[at] = true;
        }
    }
    let taken = is_taken.iter().filter(|taken| **taken).count();
    let why = format!(
        "the budget of {} holds one measurement of {taken} of {} cells",
        format_ns(budget_ns as f64),
        cells.len()
    );
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    for ((cell, _), is_taken) in cells.iter().zip(is_taken) {
        match is_taken {
            true => chosen.push(cell.clone()),
            false => left_out.push((cell.clone(), why.clone())),
        }
    }
    Chosen {
        rounds: u32::from(!chosen.is_empty()),
        cells: chosen,
        left_out,
    }
}

/// Distance of a cell from another. A different place is the most common purpose of a matrix, and counts less than other differences.
fn distance(cell: &Cell, first: &Cell) -> u32 {
    let others = [
        cell.network != first.network,
        cell.load != first.load,
        cell.management != first.management,
        cell.isolation != first.isolation,
    ];
    let others = others.into_iter().filter(|differs| *differs).count();
    2 * u32::try_from(others).unwrap_or(0) + u32::from(cell.place != first.place)
}

#[cfg(test)]
mod tests {
    use super::choose;
    use place::PlaceKind;
    use plan::{Cell, Isolation};

    fn cells() -> Vec<(Cell, u64)> {
        let cell = |place, load: &str| Cell {
            place,
            network: None,
            load: load.to_owned(),
            management: None,
            isolation: Isolation::None,
        };
        vec![
            (cell(PlaceKind::Native, "none"), 10),
            (cell(PlaceKind::Native, "memory"), 10),
            (cell(PlaceKind::Container, "none"), 12),
            (cell(PlaceKind::Container, "memory"), 12),
        ]
    }

    #[test]
    fn rounds_are_whole_and_as_many_as_fit() {
        let rounds = |budget| choose(&cells(), budget, 3).rounds;
        assert_eq!(
            [rounds(None), rounds(Some(1_000)), rounds(Some(131)), rounds(Some(44))],
            [3, 3, 2, 1]
        );
        assert!(choose(&cells(), Some(44), 3).left_out.is_empty());
    }

    #[test]
    fn without_time_for_a_round_the_nearest_cells_are_taken_and_the_others_named() {
        let chosen = choose(&cells(), Some(43), 3);
        let names: Vec<String> = chosen.cells.iter().map(Cell::name).collect();
        assert_eq!(names, ["native-none-none", "native-memory-none", "container-none-none"]);
        assert_eq!(chosen.rounds, 1);
        assert_eq!(chosen.left_out[0].0.name(), "container-memory-none");
        assert!(
            chosen.left_out[0].1.contains("3 of 4 cells"),
            "{}",
            chosen.left_out[0].1
        );
        let nearest = choose(&cells(), Some(22), 3).cells;
        assert_eq!(
            nearest[1].place,
            PlaceKind::Container,
            "the other place before the other load"
        );
        let none = choose(&cells(), Some(9), 3);
        assert_eq!((none.cells.len(), none.rounds, none.left_out.len()), (0, 0, 4));
    }
}
