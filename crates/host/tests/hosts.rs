//! Compares every recorded machine in `tests/hosts` with its expected facts.

use std::fs;
use std::path::{Path, PathBuf};

use host::{Host, to_text};
use model::fact::INVENTORIED;

fn trees() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts");
    let entries = fs::read_dir(&folder).expect("tests/hosts");
    let mut trees: Vec<PathBuf> = entries
        .map(|entry| entry.expect("entry").path())
        .filter(|p| p.is_dir())
        .collect();
    trees.sort();
    assert!(trees.len() >= 4, "recorded machines in {}", folder.display());
    trees
}

#[test]
fn every_tree_gives_its_facts() {
    let mut wrong = Vec::new();
    for tree in trees() {
        let facts = to_text(&Host::at(&tree.join("root")).expect("tree").facts());
        let expected = fs::read_to_string(tree.join("facts.txt")).unwrap_or_default();
        for (number, pair) in differences(&expected, &facts) {
            wrong.push(format!("{} line {number}: {pair}", tree.join("facts.txt").display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nsee tests/hosts/README.md", wrong.join("\n"));
}

#[test]
fn every_fact_that_is_read_back_is_in_the_inventory() {
    for tree in trees() {
        let facts = Host::at(&tree.join("root")).expect("tree").facts();
        for of in INVENTORIED {
            assert!(
                of.find(&facts).is_some(),
                "{}: {}, {}",
                tree.display(),
                of.group,
                of.name
            );
        }
    }
}

/// Differing lines, as `expected … found …`.
fn differences(expected: &str, found: &str) -> Vec<(usize, String)> {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let count = expected.len().max(found.len());
    let line = |lines: &[&str], at: usize| lines.get(at).copied().unwrap_or("(nothing)").to_owned();
    (0..count)
        .filter(|&at| expected.get(at) != found.get(at))
        .map(|at| {
            (
                at + 1,
                format!("expected {:?}, found {:?}", line(&expected, at), line(&found, at)),
            )
        })
        .collect()
}

#[test]
fn no_tree_holds_what_names_a_machine() {
    for tree in trees() {
        for name in [
            "product_uuid",
            "product_serial",
            "board_serial",
            "chassis_serial",
            "machine-id",
        ] {
            let found = files(&tree)
                .into_iter()
                .find(|path| path.file_name().is_some_and(|file| file == name));
            assert_eq!(found, None);
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all
}
