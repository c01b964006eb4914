//! The interfaces of a run in the result document.

use super::of;
use model::RunView;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Serialize)]
pub(super) struct NicEntry {
    name: String,
    facts: Map<String, Value>,
}

/// Each interface with its facts by name; `null` for an unknown fact, whose reason is in the inventory.
pub(super) fn nics(run: &RunView) -> Vec<NicEntry> {
    let all = of(run).into_iter();
    all.map(|nic| NicEntry {
        name: nic.name.to_owned(),
        facts: nic
            .facts
            .iter()
            .map(|fact| (fact.name.clone(), fact.value.clone().ok().into()))
            .collect(),
    })
    .collect()
}
