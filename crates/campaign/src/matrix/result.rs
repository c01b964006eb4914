//! The result of a matrix, from its folder or from run files.

use crate::{CampaignError, profile_of};
use ::matrix::{State, causes_file, run_file};
use model::RunState;
use plan::{Cell, Plan};
use report::matrix::{Absent, Conditions, Matrix, Measurement};
use report::verdict::{Judgement, Verdict};
use std::path::{Path, PathBuf};
use store::RunFile;

/// True if the run in a file is complete.
pub(super) fn is_complete(file: &Path) -> bool {
    RunFile::open(file).is_ok_and(|run| run.state() == RunState::Complete)
}

/// The matrix in a folder, with the measurements made so far.
///
/// # Errors
/// There is no matrix, or a run of it cannot be read.
pub fn of_folder(folder: &Path) -> Result<Matrix, CampaignError> {
    let Some(state) = State::read(folder)? else {
        let text = format!("{}: no matrix in this folder", folder.display());
        return Err(CampaignError::Wrong(text));
    };
    of_state(&state, folder)
}

/// The same for a known state.
///
/// # Errors
/// A run of it cannot be read.
pub fn of_state(state: &State, folder: &Path) -> Result<Matrix, CampaignError> {
    let plan = Plan::parse(&folder.display().to_string(), &state.setup.plan)?;
    let order = plan.matrix.iter().flat_map(|matrix| matrix.cells());
    let runtime = runtime_of(&state.setup.options);
    let order: Vec<Conditions> = order.map(|cell| conditions(&cell, runtime)).collect();
    let mut runs = Vec::new();
    for cell in &state.cells {
        let rounds = (1..=state.order.len()).filter_map(|round| u32::try_from(round).ok());
        for file in rounds.map(|round| run_file(folder, cell, round)) {
            runs.extend(measured(&file, false)?);
        }
        runs.extend(measured(&causes_file(folder, cell), true)?);
    }
    let left_out = state.left_out.iter().chain(&state.over_budget);
    let left_out = left_out.map(|one| (&one.cell, one.why.clone(), false));
    let of_name = |name: &str| state.cells.iter().find(|cell| cell.name() == name);
    let failed = state.failed.iter().filter_map(|one| {
        let why = format!("measurement {}: {}", one.round, one.why);
        Some((of_name(&one.cell)?, why, true))
    });
    let absent = left_out.chain(failed).map(|(cell, why, is_failure)| Absent {
        conditions: conditions(cell, runtime),
        why,
        is_failure,
    });
    made(&plan.name, &order, runs, &absent.collect::<Vec<_>>())
}

/// The matrix of these runs; only one run is open at a time.
///
/// # Errors
/// A run cannot be opened or read, or is not a cell of a matrix.
pub fn of_runs<E: From<CampaignError>>(runs: impl IntoIterator<Item = Result<RunFile, E>>) -> Result<Matrix, E> {
    let runs = runs.into_iter().map(|run| Ok(judged(&run?, false)?));
    let runs = runs.collect::<Result<Vec<_>, E>>()?;
    Ok(made("of run files", &[], runs, &[])?)
}

fn made(name: &str, order: &[Conditions], runs: Vec<Measurement>, absent: &[Absent]) -> Result<Matrix, CampaignError> {
    Matrix::of(name, order, runs, absent).map_err(|file| {
        CampaignError::Wrong(format!(
            "{file}: is not a cell of a matrix: name run files, or the folder, of `triptime qualify` with a plan that has [matrix]"
        ))
    })
}

/// The run in a file, if it is complete.
fn measured(file: &Path, for_causes: bool) -> Result<Option<Measurement>, CampaignError> {
    match is_complete(file) {
        true => judged(&RunFile::open(file)?, for_causes).map(Some),
        false => Ok(None),
    }
}

fn judged(run: &RunFile, for_causes: bool) -> Result<Measurement, CampaignError> {
    let view = run.view()?;
    let profile = profile_of(run, None)?;
    Ok(Measurement {
        judgement: Judgement::of(&view, profile.as_slice()),
        view,
        for_causes,
    })
}

/// True if a limit failed in any of these runs; missing files are ignored.
pub(super) fn any_failed(files: &[PathBuf]) -> Result<bool, CampaignError> {
    for file in files {
        if measured(file, false)?.is_some_and(|run| run.judgement.verdict == Verdict::Fail) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The runtime that the user named for the containers of a matrix.
fn runtime_of(options: &[String]) -> Option<&str> {
    let at = options.iter().position(|option| option == "--runtime")?;
    options.get(at + 1).map(String::as_str)
}

/// Conditions of a cell, as its runs have them.
fn conditions(cell: &Cell, runtime: Option<&str>) -> Conditions {
    Conditions {
        place: cell.place_with(runtime),
        network: cell.network.map(|network| network.name().to_owned()),
        load: cell.load.clone(),
        management: cell.management.clone(),
        isolation: cell.isolation.name().to_owned(),
    }
}
