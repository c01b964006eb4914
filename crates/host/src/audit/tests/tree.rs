//! Machines of a few files, and what the rules say of them.

use std::fs;

use tempfile::TempDir;

use crate::Host;
use crate::audit::finding::{Finding, Outcome};
use crate::audit::parameters::Parameters;

/// A directory with these files, by their paths.
pub(super) fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let place = root.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    root
}

/// What a rule says of a machine with these files.
pub(super) fn finding(files: &[(&str, &str)], parameters: &Parameters, id: &str) -> Finding {
    let root = tree(files);
    let host = Host::at(root.path()).expect("a tree");
    let findings = host.audit(parameters, &[]).findings;
    let found = findings.into_iter().find(|finding| finding.rule.id == id);
    found.unwrap_or_else(|| panic!("no rule {id}"))
}

/// The outcome and, as one text, what it was judged by.
pub(super) fn judged(files: &[(&str, &str)], parameters: &Parameters, id: &str) -> (Outcome, String) {
    let finding = finding(files, parameters, id);
    let live = finding.parts.iter().flat_map(|part| &part.live);
    let shown = live.map(|(name, known)| match known {
        Ok(value) => format!("{name} = {value}"),
        Err(unknown) => format!("{name} ? {}", unknown.text),
    });
    (finding.outcome, shown.collect::<Vec<_>>().join("; "))
}

/// A table of trees: the files beside `base`, and what must come out.
pub(super) fn each(base: &[(&str, &str)], parameters: &Parameters, id: &str, cases: &[(&[(&str, &str)], Outcome)]) {
    for (files, expected) in cases {
        let all = [base, *files].concat();
        let (outcome, live) = judged(&all, parameters, id);
        assert_eq!(outcome, *expected, "{id} with {files:?}: {live}");
    }
}

/// Real-time work on these CPUs.
pub(super) fn on(cpus: &str) -> Parameters {
    Parameters {
        rt_cpus: Some(cpus.parse().expect("a CPU list")),
        ..Parameters::default()
    }
}
