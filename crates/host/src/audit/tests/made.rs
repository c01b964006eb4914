//! Made-up trees, and what the rules say of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::Host;
use crate::audit::Audit;
use crate::audit::finding::{Finding, Outcome};
use crate::audit::parameters::Parameters;

/// A tree with these files, by their paths without the first slash; a text that begins with `->` is a link.
pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let tree = tempfile::tempdir().expect("a directory");
    add(tree.path(), files);
    tree
}

/// Adds files to a tree.
pub(super) fn add(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        match text.strip_prefix("->") {
            Some(target) => std::os::unix::fs::symlink(target, path).expect("a link"),
            None => fs::write(path, text).expect("a file"),
        }
    }
}

/// A machine on the hardware, of CPUs 0 to 3, with Intel's flags, in which CPUs 2 and 3 are set aside.
pub(super) const HOST: [(&str, &str); 5] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
    ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc vmx ept\n"),
    ("proc/cmdline", "quiet\n"),
];

/// The files of `base`, with those of `changes` in their place or beside them.
pub(super) fn changed<'a>(base: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> TempDir {
    let mut files: BTreeMap<&str, &str> = base.iter().copied().collect();
    files.extend(changes.iter().copied());
    tree(&files.into_iter().collect::<Vec<_>>())
}

/// What all rules say.
pub(super) fn audit(tree: &TempDir, parameters: &Parameters) -> Audit {
    Host::at(tree.path()).expect("a tree").audit(parameters, &[])
}

/// What one rule says.
pub(super) fn finding(tree: &TempDir, parameters: &Parameters, id: &str) -> Finding {
    let findings = audit(tree, parameters).findings.into_iter();
    let found = findings.into_iter().find(|finding| finding.rule.id == id);
    found.unwrap_or_else(|| panic!("no rule {id}"))
}

/// What comes out of one rule for a tree made of `base` and `changes`.
pub(super) fn outcome(base: &[(&str, &str)], changes: &[(&str, &str)], id: &str) -> Outcome {
    outcome_with(base, changes, &Parameters::default(), id)
}

/// As [`outcome`], with what the user says.
pub(super) fn outcome_with(
    base: &[(&str, &str)],
    changes: &[(&str, &str)],
    parameters: &Parameters,
    id: &str,
) -> Outcome {
    finding(&changed(base, changes), parameters, id).outcome
}
