//! Trees with missing or unreadable files: no rule may begin to pass because of them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::tree::on;
use crate::finding::Outcome;
use host::Host;

/// Groups of rules that are tested.
const GROUPS: [&str; 3] = ["kernel", "isolation", "scheduler"];
/// Rules for which an absent file is the best outcome: real-time kernels have none of these files.
const BEST_ABSENT: &str = "mm-background-work";

fn copy(from: &Path, to: &Path, files: &mut Vec<PathBuf>) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).expect("a link"), &target).expect("a link");
        } else if kind.is_dir() {
            copy(&entry.path(), &target, files);
        } else {
            fs::copy(entry.path(), &target).expect("a file");
            // The list of refused files is not a file of the machine.
            files.extend((entry.file_name() != ".unreadable").then_some(target));
        }
    }
}

fn outcomes(root: &Path) -> BTreeMap<String, Outcome> {
    let host = Host::at(root).expect("a tree");
    let findings = crate::audit(&host, &on("1"), &[]).findings.into_iter();
    let own = findings.filter(|finding| GROUPS.contains(&finding.group));
    own.map(|finding| (finding.rule.id.clone(), finding.outcome)).collect()
}

fn no_better(before: &BTreeMap<String, Outcome>, root: &Path, what: &str) {
    for (id, outcome) in outcomes(root) {
        let gained = outcome == Outcome::Pass && before[&id] != Outcome::Pass;
        assert!(!gained, "{id} passes, with {what}");
    }
}

#[test]
fn a_broken_file_makes_no_pass() {
    let folder = tempfile::tempdir().expect("a directory");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/kvm-guest/root");
    let mut files = Vec::new();
    copy(&recorded, folder.path(), &mut files);
    assert!(files.len() > 50, "only {} files", files.len());
    let mut before = outcomes(folder.path());
    before.insert(BEST_ABSENT.to_owned(), Outcome::Pass);
    let others = ["/pci", "/bus/", "/cpuidle/", "/etc/", "/cache/", "/vulnerabilities/"];
    let own = |file: &PathBuf| !others.iter().any(|part| file.display().to_string().contains(part));
    for file in files.into_iter().filter(own) {
        let text = fs::read(&file).expect("a file");
        fs::write(&file, [1, 2, 3]).expect("a file");
        no_better(&before, folder.path(), &format!("no text in {}", file.display()));
        fs::remove_file(&file).expect("a file");
        no_better(&before, folder.path(), &format!("no {}", file.display()));
        fs::write(&file, text).expect("a file");
    }
}

#[test]
fn what_holds_no_text_passes_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/preempt-rt-bare-metal/root");
    let mut files = Vec::new();
    copy(&recorded, folder.path(), &mut files);
    for garbage in [&[1u8, 2, 3][..], b"", &[0xff; 5000]] {
        for file in &files {
            fs::write(file, garbage).expect("a file");
        }
        for (id, outcome) in outcomes(folder.path()) {
            assert_ne!(outcome, Outcome::Pass, "{id} with {} octets of garbage", garbage.len());
        }
    }
}
