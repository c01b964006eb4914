//! Machines made of a few files, and the rules' findings on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::Audit;
use crate::finding::{Finding, Outcome};
use crate::parameters::Parameters;
use host::Host;

/// A directory with these files, by their paths; a text that begins with `->` is a link.
pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let tree = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        add(&tree, path, text);
    }
    tree
}

/// Adds a file, and returns its path.
pub(super) fn add(tree: &TempDir, path: &str, text: &str) -> PathBuf {
    let place = tree.path().join(path.trim_start_matches('/'));
    fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
    match text.strip_prefix("->") {
        Some(target) => std::os::unix::fs::symlink(target, &place).expect("a link"),
        None => fs::write(&place, text).expect("a file"),
    }
    place
}

/// A machine on hardware, with CPUs 0 to 3 and Intel's flags; CPUs 2 and 3 are reserved.
pub(super) const HOST: [(&str, &str); 5] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
    ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc vmx ept\n"),
    ("proc/cmdline", "quiet\n"),
];

/// Files of `base`, replaced or completed by those of `changes`.
pub(super) fn changed<'a>(base: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> TempDir {
    let mut files: BTreeMap<&str, &str> = base.iter().copied().collect();
    files.extend(changes.iter().copied());
    tree(&files.into_iter().collect::<Vec<_>>())
}

/// Result of all rules.
pub(super) fn audit(tree: &TempDir, parameters: &Parameters) -> Audit {
    crate::audit(&Host::at(tree.path()).expect("a tree"), parameters, &[])
}

/// Finding of one rule.
pub(super) fn finding(tree: &TempDir, parameters: &Parameters, id: &str) -> Finding {
    let mut findings = audit(tree, parameters).findings.into_iter();
    let found = findings.find(|finding| finding.rule.id == id);
    found.unwrap_or_else(|| panic!("no rule {id}"))
}

/// Outcome of the rule.
pub(super) fn outcome(tree: &TempDir, parameters: &Parameters, id: &str) -> Outcome {
    finding(tree, parameters, id).outcome
}

/// Asserts that one of the findings has this outcome; the message of a failed test lists its parts.
#[track_caller]
pub(super) fn expect(audit: &Audit, id: &str, wanted: Outcome) {
    let finding = audit.findings.iter().find(|finding| finding.rule.id == id);
    let finding = finding.unwrap_or_else(|| panic!("no rule {id}"));
    assert_eq!(finding.outcome, wanted, "{id}: {:?}", finding.parts);
}

/// Outcome of one rule for a tree made of `base` and `changes`.
pub(super) fn outcome_of(base: &[(&str, &str)], changes: &[(&str, &str)], id: &str) -> Outcome {
    outcome_with(base, changes, &Parameters::default(), id)
}

/// As [`outcome_of`], with the user's parameters.
pub(super) fn outcome_with(
    base: &[(&str, &str)],
    changes: &[(&str, &str)],
    parameters: &Parameters,
    id: &str,
) -> Outcome {
    finding(&changed(base, changes), parameters, id).outcome
}

/// Outcome, and the values that decided it as one text.
pub(super) fn judged(files: &[(&str, &str)], parameters: &Parameters, id: &str) -> (Outcome, String) {
    let finding = finding(&tree(files), parameters, id);
    let live = finding.parts.iter().flat_map(|part| &part.live);
    let shown = live.map(|(name, known)| match known {
        Ok(value) => format!("{name} = {value}"),
        Err(unknown) => format!("{name} ? {}", unknown.text),
    });
    (finding.outcome, shown.collect::<Vec<_>>().join("; "))
}

/// Checks a table of trees: the files in addition to `base`, and the expected outcome.
pub(super) fn each(base: &[(&str, &str)], parameters: &Parameters, id: &str, cases: &[(&[(&str, &str)], Outcome)]) {
    for (files, expected) in cases {
        let all = [base, *files].concat();
        let (outcome, live) = judged(&all, parameters, id);
        assert_eq!(outcome, *expected, "{id} with {files:?}: {live}");
    }
}

/// Parameters for real-time work on these CPUs.
pub(super) fn on(cpus: &str) -> Parameters {
    Parameters {
        rt_cpus: Some(cpus.parse().expect("a CPU list")),
        ..Parameters::default()
    }
}
