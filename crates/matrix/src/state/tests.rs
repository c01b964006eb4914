//! The state of a matrix, as its folder keeps it.

use super::{Chosen, LeftOut, Setup, State, StateError, run_file};
use crate::Folder;
use place::PlaceKind;
use plan::{Cell, Isolation};
use std::collections::BTreeSet;

fn cell(load: &str) -> Cell {
    Cell {
        place: PlaceKind::Native,
        network: None,
        load: load.to_owned(),
        management: None,
        isolation: Isolation::None,
    }
}

fn setup() -> Setup {
    Setup {
        plan: "name = \"x\"\n# \"quoted\" 'both' \"\"\"thrice\"\"\"\n".to_owned(),
        options: vec!["--cpus".to_owned(), "1".to_owned()],
    }
}

fn state() -> State {
    let chosen = Chosen {
        cells: ["none", "memory", "cache"].map(cell).to_vec(),
        rounds: 2,
        left_out: vec![(cell("disk"), "no time".to_owned())],
    };
    State::begin(setup(), Vec::new(), chosen, Vec::new(), (2, 7))
}

#[test]
fn a_folder_keeps_what_it_was_begun_with() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(State::read(folder.path()).expect("an empty one"), None);
    assert_eq!(State::read(&folder.path().join("new")).expect("none yet"), None);
    let mut state = state();
    state.fails(&cell("memory"), 2, "no room".to_owned());
    state.write(folder.path()).expect("written");
    let read = State::read(folder.path()).expect("readable").expect("there");
    assert_eq!(read, state);
    let said = LeftOut {
        why: "no time".to_owned(),
        cell: cell("disk"),
    };
    assert_eq!(read.left_out, [said]);
    state.works(&cell("memory"), 2);
    assert!(state.failed.is_empty());
}

#[test]
fn a_cell_that_was_left_out_comes_back_where_it_is_possible() {
    let mut state = state();
    assert!(state.regain(&[cell("none"), cell("memory")]).is_empty());
    assert_eq!(state.regain(&[cell("none"), cell("disk")]), [cell("disk").words()]);
    assert!(state.left_out.is_empty() && state.cells.contains(&cell("disk")));
    let missing = state.missing(2, |cell, _| cell.load != "disk");
    assert_eq!(missing, [(1, cell("disk")), (2, cell("disk"))]);
}

#[test]
fn another_plan_and_a_foreign_folder_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = state();
    let other = Setup {
        plan: "name = \"y\"".to_owned(),
        ..setup()
    };
    let options = Setup {
        options: Vec::new(),
        ..setup()
    };
    let said = |setup: &Setup, seed| {
        state
            .is_of(setup, seed, folder.path())
            .map_err(|error| error.to_string())
    };
    assert!(said(&other, None).expect_err("refused").contains("another plan"));
    assert!(said(&options, None).expect_err("refused").contains("other options"));
    assert!(said(&setup(), Some(8)).expect_err("refused").contains("another seed"));
    assert_eq!((said(&setup(), None), said(&setup(), Some(7))), (Ok(()), Ok(())));
    std::fs::write(folder.path().join("notes"), "mine").expect("written");
    assert!(matches!(State::read(folder.path()), Err(StateError::Foreign(_))));
    std::fs::write(folder.path().join("matrix.toml"), "schema = 1").expect("written");
    assert!(matches!(State::read(folder.path()), Err(StateError::Damaged { .. })));
}

#[test]
fn what_is_missing_is_measured_in_the_order_of_the_rounds() {
    let state = state();
    let all = state.missing(2, |_, _| false);
    assert_eq!(all.len(), 6);
    assert!(
        all.iter().take(3).all(|(round, _)| *round == 1),
        "every cell before any a second time"
    );
    let first: BTreeSet<String> = all.iter().take(3).map(|(_, cell)| cell.name()).collect();
    assert_eq!(first.len(), 3);
    let done: Vec<(u32, Cell)> = all.iter().take(4).cloned().collect();
    let left = state.missing(2, |cell, round| done.contains(&(round, cell.clone())));
    assert_eq!(left, all[4..]);
    assert_eq!(state.missing(1, |_, _| false).len(), 3);
}

#[test]
fn later_cells_are_expected_to_take_what_the_first_of_their_place_took() {
    let mut state = state();
    let guest = |load: &str| Cell {
        place: PlaceKind::Vm,
        ..cell(load)
    };
    let [native, first, second] = [cell("none"), guest("none"), guest("memory")];
    state.cells = vec![native.clone(), first.clone(), second.clone()];
    assert_eq!(state.expected_ns(&second, 39), 39, "nothing is known yet");
    state.took_ns.insert(first.name(), 210);
    assert_eq!(
        [&native, &first, &second].map(|cell| state.expected_ns(cell, 39)),
        [39, 210, 210]
    );
    state.took_ns.insert(second.name(), 180);
    assert_eq!(state.expected_ns(&second, 39), 180, "its own duration decides");
    let folder = tempfile::tempdir().expect("a folder");
    state.leaves(&second, "not run: budget".to_owned());
    state.write(folder.path()).expect("written");
    assert_eq!(State::read(folder.path()).expect("read"), Some(state.clone()));
    state.works(&second, 1);
    assert!(state.over_budget.is_empty(), "a measurement was made");
}

#[test]
fn one_process_has_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/er");
    let taken = Folder::take(&path).expect("made");
    assert!(matches!(Folder::take(&path), Err(StateError::Busy(_))));
    drop(taken);
    Folder::take(&path).expect("free again");
    assert!(run_file(&path, &cell("none"), 3).ends_with("native-none-none.3.triptime"));
}
