//! What was set up otherwise, what decides most first.

use crate::comparison::{Comparison, DECISIVE};
use crate::screen::lines::fitted;

/// Differences that are shown with their values.
const SHOWN: usize = 5;

/// Columns of a value.
const VALUE_COLUMNS: usize = 34;

/// Groups of the inventory, those that explain latencies first. Those that are not here come last but what measuring itself wrote.
const GROUPS: [&str; 10] = [
    "virtualisation",
    "kernel arguments",
    "isolation",
    "CPUs of this run",
    "power",
    "cpu",
    "scheduler",
    "cgroup",
    "clock",
    "limits",
];

/// Facts of the kernel that explain latencies; others, such as the boot's identity, do not.
const OF_KERNEL: [&str; 3] = ["release", "preemption model", "preemption mode"];

/// Groups that measuring itself wrote.
const WRITTEN: [&str; 3] = ["trace", "recording", "network"];

/// `kernel release: 6.1.0 → 6.12.0`, and how many more.
pub(super) fn differs(comparison: &Comparison) -> Vec<String> {
    let (unfair, settings) = settings(comparison);
    let mut all = unfair;
    all.extend(settings);
    all.extend(versions(comparison));
    let mut facts: Vec<_> = comparison.facts.iter().collect();
    facts.sort_by_key(|fact| rank(&fact.group, &fact.name));
    all.extend(facts.into_iter().map(|fact| {
        let values: Vec<String> = crate::comparison::terminal::values(fact).collect();
        format!("{} {}: {}", fact.group, fact.name, arrow(&values))
    }));
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    all
}

fn rank(group: &str, name: &str) -> usize {
    let of_group = || GROUPS.iter().position(|known| *known == group);
    match group {
        "kernel" if OF_KERNEL.contains(&name) => 0,
        _ if WRITTEN.contains(&group) || crate::nics::is_nic(group) => 100,
        "kernel" => 50,
        _ => of_group().map_or(40, |at| 1 + at),
    }
}

/// Settings of series, each once: those that decide what is measured, and the others.
fn settings(comparison: &Comparison) -> (Vec<String>, Vec<String>) {
    let mut seen: Vec<(&str, &Vec<Option<String>>, Vec<&str>)> = Vec::new();
    for compared in &comparison.series {
        for (name, values) in &compared.settings {
            match seen.iter_mut().find(|(other, of, _)| other == name && *of == values) {
                Some((_, _, series)) => series.push(&compared.name),
                None => seen.push((name, values, vec![&compared.name])),
            }
        }
    }
    seen.sort_by_key(|(name, ..)| *name != "load");
    let text = |(name, values, series): &(&str, &Vec<Option<String>>, Vec<&str>)| {
        let values: Vec<String> = values
            .iter()
            .map(|value| value.clone().unwrap_or_else(|| "none".to_owned()))
            .collect();
        let more = match series.len() {
            0 | 1 => String::new(),
            n => format!(" +{}", n - 1),
        };
        format!("{name} of {}{more}: {}", series.first().unwrap_or(&""), arrow(&values))
    };
    let (decisive, others): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(name, ..)| DECISIVE.contains(name));
    let unfair = decisive.iter().map(|one| format!("NOT LIKE WITH LIKE, {}", text(one)));
    (unfair.collect(), others.iter().map(text).collect())
}

fn versions(comparison: &Comparison) -> Option<String> {
    let versions: Vec<String> = comparison
        .runs
        .iter()
        .map(|(_, run)| run.info.tool_version.clone())
        .collect();
    let differ = versions.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| format!("triptime: {}", arrow(&versions)))
}

/// From run to run.
fn arrow(values: &[String]) -> String {
    let short = values.iter().map(|value| fitted(value, VALUE_COLUMNS));
    short.collect::<Vec<_>>().join(" → ")
}
