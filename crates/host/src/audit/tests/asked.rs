//! Trees made up for tests.

use std::fs;

use tempfile::TempDir;

use crate::Host;
use crate::audit::finding::{Finding, Outcome};
use crate::audit::parameters::Parameters;

/// A tree of these files, each a path and its text.
pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let tree = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let place = tree.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    tree
}

/// What the rule `id` says of a tree.
pub(super) fn finding(tree: &TempDir, parameters: &Parameters, id: &str) -> Finding {
    let host = Host::at(tree.path()).expect("a tree");
    let all = host.audit(parameters, &[]).findings;
    all.into_iter().find(|one| one.rule.id == id).expect(id)
}

/// How it came out.
pub(super) fn outcome(tree: &TempDir, parameters: &Parameters, id: &str) -> Outcome {
    finding(tree, parameters, id).outcome
}
