//! Machines of many makers and ages that other projects recorded: the audit's findings on them must rest on existing files.
//! `scripts/trees.sh` fetches them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;

/// Maximum archive size in bytes: the sixteen larger ones, of up to 1024 CPUs, take a minute to unpack and show nothing new.
const MOST_OCTETS: u64 = 20_000;

/// The archives; `None` if the test is skipped.
fn archives(test: &str) -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/trees");
    if !folder.join("complete").exists() {
        testing::skip(test, &format!("no {}: run scripts/need.sh test", folder.display()));
        return None;
    }
    let entries = fs::read_dir(&folder).expect("a folder").flatten();
    let mut archives: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let is_read = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| (1..=MOST_OCTETS).contains(&file.len()));
    archives.retain(is_read);
    archives.sort();
    Some(archives)
}

/// Faults in the findings of one machine.
fn wrong(root: &Path) -> Vec<String> {
    let audit = audit::audit(&Host::at(root).expect("a tree"), &Parameters::default(), &[]);
    let mut wrong = Vec::new();
    for finding in audit.findings {
        for part in &finding.parts {
            let id = &finding.rule.id;
            match part.outcome {
                Outcome::Fail if !part.live.iter().any(|(_, known)| known.is_ok()) => {
                    wrong.push(format!("{id} fails, and nothing it shows is known"));
                }
                Outcome::Unknown | Outcome::NotApplicable if part.reason.is_empty() => {
                    wrong.push(format!("{id} is {}, and nobody says why", part.outcome.word()));
                }
                _ => {}
            }
        }
    }
    wrong
}

#[test]
fn findings_of_many_machines_rest_on_what_is_there() {
    let test = "findings_of_many_machines_rest_on_what_is_there";
    let Some(archives) = archives(test) else { return };
    assert!(archives.len() >= 40, "{} archives", archives.len());
    for archive in archives {
        let folder = tempfile::tempdir().expect("a folder");
        let unpacked = Command::new("tar")
            .args(["--strip-components=1", "-xf"])
            .arg(&archive)
            .current_dir(folder.path())
            .status();
        assert!(unpacked.expect("tar").success(), "{}", archive.display());
        let wrong = wrong(folder.path());
        assert!(wrong.is_empty(), "{}: {wrong:?}", archive.display());
    }
}
