//! Differences in the set-up, most important first.

use crate::comparison::{Comparison, DECISIVE};
use crate::screen::lines::fitted;
use crate::terminal::width;
use audit::regressions::{Regression, between};
use model::fact::{AUDIT, KERNEL_RELEASE};

/// Number of differences shown with their values.
const SHOWN: usize = 5;

/// Width of a value in columns.
const VALUE_COLUMNS: usize = 34;

/// Groups of the inventory that explain latencies, most important first.
const GROUPS: [&str; 11] = [
    "virtualisation",
    "audit",
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

/// Facts of the kernel that explain latencies; others, such as the boot id, do not.
const OF_KERNEL: [&str; 3] = ["release", "preemption model", "preemption mode"];

/// Lines such as `kernel release: 6.1.0 → 6.12.0`, and the number of further differences.
pub(super) fn differs(comparison: &Comparison) -> Vec<String> {
    let (unfair, settings) = settings(comparison);
    let mut all = doubts(comparison);
    all.extend(unfair);
    all.extend(regressions(comparison));
    all.extend(settings);
    all.extend(versions(comparison));
    let mut facts: Vec<_> = comparison.facts.iter().collect();
    facts.sort_by_key(|fact| rank(&fact.group, &fact.name));
    all.extend(facts.into_iter().map(|fact| {
        let values: Vec<String> = crate::comparison::inventory::values(fact).collect();
        format!("{} {}: {}", fact.group, fact.name, arrow(&values))
    }));
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    all
}

/// Doubts about runs, each once for all series that it touches.
fn doubts(comparison: &Comparison) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for compared in &comparison.series {
        for (run, why) in &compared.doubts {
            let name = comparison.runs.get(*run).map_or("", |(name, _)| name.as_str());
            let line = format!("IN DOUBT, {name}: {why}");
            match lines.iter_mut().find(|(other, _)| *other == line) {
                Some((_, series)) => series.push(&compared.name),
                None => lines.push((line, vec![&compared.name])),
            }
        }
    }
    let text = |(line, series): (String, Vec<&str>)| match series.len() {
        0 | 1 => format!("{line} ({})", series.first().unwrap_or(&"")),
        n => format!("{line} ({} +{})", series.first().unwrap_or(&""), n - 1),
    };
    lines.into_iter().map(text).collect()
}

/// Known regressions in the kernel of either the first run or another run, but not both. A regression that concerns
/// only some set-ups counts only if the audit of a run found it.
fn regressions(comparison: &Comparison) -> Vec<String> {
    let releases: Vec<String> = comparison
        .runs
        .iter()
        .map(|(_, run)| KERNEL_RELEASE.of(&run.facts).unwrap_or_default())
        .collect();
    let Some((first, others)) = releases.split_first() else {
        return Vec::new();
    };
    let audited = |row: &Regression| {
        let facts = comparison.runs.iter().flat_map(|(_, run)| &run.facts);
        let mut found = facts.filter(|fact| fact.group == AUDIT && fact.name == "known-regression");
        found.any(|fact| fact.value.as_ref().is_ok_and(|value| value.contains(&row.id)))
    };
    let mut lines = Vec::new();
    for row in others.iter().flat_map(|other| between(first, other)) {
        if row.when.is_some() && !audited(&row) {
            continue;
        }
        let line = format!("known regression {}: {} ({})", row.id, row.symptom, row.source);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn rank(group: &str, name: &str) -> usize {
    let of_group = || GROUPS.iter().position(|known| *known == group);
    match group {
        "kernel" if OF_KERNEL.contains(&name) => 0,
        "trace" => 100,
        _ if crate::subjects::nics::is_nic(group) => 60,
        "kernel" => 50,
        _ => of_group().map_or(40, |at| 1 + at),
    }
}

/// A setting that differs, and the series where it differs in the same way.
struct Setting<'a> {
    name: &'a str,
    values: &'a [Option<String>],
    series: Vec<&'a str>,
}

impl Setting<'_> {
    fn text(&self) -> String {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let values: Vec<String> = self.values.iter().map(value).collect();
        let more = match self.series.len() {
            0 | 1 => String::new(),
            n => format!(" +{}", n - 1),
        };
        let first = self.series.first().unwrap_or(&"");
        format!("{} of {first}{more}: {}", self.name, arrow(&values))
    }
}

/// Settings of series, each once: first those that decide what is measured, then the others.
fn settings(comparison: &Comparison) -> (Vec<String>, Vec<String>) {
    let mut seen: Vec<Setting<'_>> = Vec::new();
    for compared in &comparison.series {
        for (name, values) in &compared.settings {
            match seen
                .iter_mut()
                .find(|other| other.name == name && other.values == values)
            {
                Some(other) => other.series.push(&compared.name),
                None => seen.push(Setting {
                    name,
                    values,
                    series: vec![&compared.name],
                }),
            }
        }
    }
    seen.sort_by_key(|setting| setting.name != "load");
    let (decisive, others): (Vec<_>, Vec<_>) = seen.into_iter().partition(|one| DECISIVE.contains(&one.name));
    let unfair = decisive.iter().map(|one| format!("CONDITIONS DIFFER, {}", one.text()));
    (unfair.collect(), others.iter().map(Setting::text).collect())
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

/// The values from run to run; long values with a common beginning are cut to the part that differs.
fn arrow(values: &[String]) -> String {
    let is_long = values.iter().any(|value| width(value) > VALUE_COLUMNS);
    // A few characters of the common beginning show what differs.
    let alike = if is_long { alike(values).saturating_sub(12) } else { 0 };
    let short = |value: &String| match alike {
        0 => fitted(value, VALUE_COLUMNS),
        _ => fitted(
            &format!("…{}", value.chars().skip(alike).collect::<String>()),
            VALUE_COLUMNS,
        ),
    };
    values.iter().map(short).collect::<Vec<_>>().join(" → ")
}

/// Length of the common beginning in characters.
fn alike(values: &[String]) -> usize {
    let Some((first, others)) = values.split_first() else {
        return 0;
    };
    let is_alike = |(at, letter): &(usize, char)| others.iter().all(|other| other.chars().nth(*at) == Some(*letter));
    first.chars().enumerate().take_while(is_alike).count()
}
