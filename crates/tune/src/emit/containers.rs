//! Settings for a container, adapted to its definition: what it has is kept, and what only a person can know is left to one.

use serde_json::{Value as Json, json};

use super::{capabilities, compose};
use audit::facts::{Facts, Subject};
use audit::value::Value;

/// Facts of a definition that nobody but its author can supply where they are missing.
const OF_THE_AUTHOR: [&str; 4] = ["{ctr.kept-memory}", "{pod.cpus}", "{pod.memory}", "{pod.runtime-class}"];

/// True if a text needs a fact that a person has to supply where the definition lacks it.
pub(super) fn is_of_the_author(text: &str) -> bool {
    OF_THE_AUTHOR.iter().any(|place| text.contains(place))
}

/// Adapts a fragment to its container. Returns the manual steps.
pub(super) fn fit(kind: &str, facts: &Facts, part: &Subject, fragment: &mut Json) -> Vec<String> {
    match kind {
        "compose" => return compose::fit(facts, part, fragment),
        "kubernetes" => pod(facts, part, fragment),
        "oci" => bundle(facts, part, fragment),
        _ => {}
    }
    Vec::new()
}

/// Adapts lines to their container; `leads` is false if the settings of another check contain the lists of capabilities.
pub(super) fn fit_lines(kind: &str, facts: &Facts, part: &Subject, lines: Vec<String>, leads: bool) -> Vec<String> {
    let changes = capabilities::Changes::of(facts, part);
    let lines = match kind {
        "docker" => capabilities::options(&changes, lines, leads),
        "quadlet" => capabilities::quadlet(&changes, lines, leads),
        _ => return lines,
    };
    let is_section = |line: &String| line.starts_with('[');
    let is_empty = |at: usize| is_section(&lines[at]) && lines.get(at + 1).is_none_or(is_section);
    let kept = (0..lines.len()).filter(|at| !is_empty(*at));
    kept.map(|at| lines[at].clone()).collect()
}

fn pod(facts: &Facts, part: &Subject, fragment: &mut Json) {
    let changes = capabilities::Changes::of(facts, part);
    let probes = facts.get(Some(part), "pod.exec-probes");
    let containers = fragment.pointer_mut("/spec/containers").and_then(Json::as_array_mut);
    for container in containers.into_iter().flatten() {
        capabilities::of_pod(&changes, container);
        if let (Some(keys), Ok(Value::List(probes))) = (container.as_object_mut(), &probes) {
            // A probe that runs no command stays.
            keys.retain(|key, _| !key.ends_with("Probe") || probes.contains(key));
        }
    }
}

fn bundle(facts: &Facts, part: &Subject, fragment: &mut Json) {
    capabilities::of_bundle(facts, part, fragment);
    limits(facts, part, fragment);
    let Some(resources) = fragment.pointer_mut("/linux/resources").and_then(Json::as_object_mut) else {
        return;
    };
    // Files of control groups of version 2 only if the bundle sets some: with version 1 the runtime refuses the whole bundle (runc 1.1,
    // libcontainer/cgroups/v1_utils.go, ErrV1NoUnified; crun, cgroup-resources.c).
    if facts.get(Some(part), "ctr.unified") != Ok(Value::from(true)) {
        resources.remove("unified");
    }
    // Sizes are numbers here; every filled-in value is a text.
    let sizes = resources.get_mut("memory").and_then(Json::as_object_mut);
    for (_, size) in sizes.into_iter().flatten() {
        if let Some(octets) = size.as_str().and_then(|text| text.parse::<u64>().ok()) {
            *size = json!(octets);
        }
    }
}

/// Keeps the bundle's other resource limits: the merging tool replaces the list.
fn limits(facts: &Facts, part: &Subject, fragment: &mut Json) {
    let Ok(Value::List(own)) = facts.get(Some(part), "ctr.rlimits") else {
        return;
    };
    let Some(limits) = fragment.pointer_mut("/process/rlimits").and_then(Json::as_array_mut) else {
        return;
    };
    for limit in &own {
        let words: Vec<&str> = limit.split(' ').collect();
        let [kind, soft, hard] = words[..] else { continue };
        let (Ok(soft), Ok(hard)) = (soft.parse::<u64>(), hard.parse::<u64>()) else {
            continue;
        };
        if !limits.iter().any(|known| known["type"] == kind) {
            limits.push(json!({"type": kind, "soft": soft, "hard": hard}));
        }
    }
}
