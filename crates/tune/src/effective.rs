//! Changes that have an effect: others are neither planned nor advised.

use super::live;
use super::operation::{Operation, Target};
use super::values::holds;
use host::Host;

/// Said of a step of which every value is set already.
const SET: &str = "every value that can be set here is set already";

/// The changes that have an effect on this machine, and if there are none, the reason.
pub(super) fn effective(host: &Host, operations: Vec<Operation>) -> (Vec<Operation>, Option<String>) {
    if operations.is_empty() {
        return (operations, None);
    }
    let states: Vec<State> = (0..operations.len()).map(|at| state(host, &operations, at)).collect();
    let missing = states.iter().find_map(|state| match state {
        State::Missing(path) => Some(format!("{path} does not exist here")),
        _ => None,
    });
    let kept: Vec<Operation> = operations
        .into_iter()
        .zip(&states)
        .filter(|(_, state)| **state == State::Open)
        .map(|(operation, _)| operation)
        .collect();
    let why = kept.is_empty().then(|| missing.unwrap_or_else(|| SET.to_owned()));
    (kept, why)
}

#[derive(PartialEq)]
enum State {
    /// To be changed.
    Open,
    /// It has the value.
    Set,
    /// No such file.
    Missing(String),
}

fn state(host: &Host, operations: &[Operation], at: usize) -> State {
    let Operation { target, value } = &operations[at];
    // A value that another step changes meanwhile.
    let mut others = operations.iter().filter(|other| other.target == *target);
    if others.any(|other| other.value != *value) {
        return State::Open;
    }
    // A new folder gets its files from the kernel, and so do groups below one that passes a controller on.
    let is_made = |path: &str| {
        let mut above = operations[..at].iter().filter_map(|other| match &other.target {
            Target::Folder(folder) => Some(folder.as_str()),
            Target::File(file) => file.strip_suffix("/cgroup.subtree_control"),
            _ => None,
        });
        above.any(|folder| path.starts_with(&format!("{folder}/")))
    };
    let now = match target {
        Target::File(path) => match host.reader().text(path) {
            Ok(now) => Some(now),
            Err(error) if error.is_absent() && !is_made(path) => {
                return State::Missing(path.clone());
            }
            Err(_) => None,
        },
        Target::Folder(path) => {
            let is_there = host.reader().exists(path).unwrap_or(false);
            is_there.then(String::new)
        }
        _ if host.reader().is_live() => live::read(target).ok(),
        _ => None,
    };
    match holds(target, now.as_deref().map(str::trim), value) {
        true => State::Set,
        false => State::Open,
    }
}
