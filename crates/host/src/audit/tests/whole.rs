//! What every rule says of one tree.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::Host;
use crate::audit::Audit;
use crate::audit::finding::Outcome;
use crate::audit::parameters::Parameters;

/// Adds a file, and says where it is.
pub(super) fn add(tree: &TempDir, path: &str, text: &str) -> PathBuf {
    let place = tree.path().join(path);
    fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
    fs::write(&place, text).expect("a file");
    place
}

pub(super) fn audit(tree: &TempDir, parameters: &Parameters) -> Audit {
    Host::at(tree.path()).expect("a tree").audit(parameters, &[])
}

/// What came out for a rule, with the reason or the facts for the message of a failed test.
pub(super) fn outcome(audit: &Audit, id: &str) -> (Outcome, String) {
    let finding = audit.findings.iter().find(|finding| finding.rule.id == id);
    let finding = finding.unwrap_or_else(|| panic!("no rule {id}"));
    (finding.outcome, format!("{id}: {:?}", finding.parts))
}

#[track_caller]
pub(super) fn expect(audit: &Audit, id: &str, wanted: Outcome) {
    let (found, why) = outcome(audit, id);
    assert_eq!(found, wanted, "{why}");
}
