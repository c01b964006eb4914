//! Shared by the targets of definitions: a definition is judged on a machine without any other facts.

use std::fs;
use std::path::Path;

use audit::check_definitions;
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;

/// Judges `octets` as the file `name`. An unreadable file is refused, and passes no rule of `group`.
pub fn judge(octets: &[u8], name: &str, group: &str, told: impl FnOnce(&Path) -> Parameters) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join(name);
    fs::write(&file, octets).expect("a file");
    let root = folder.path().join("root");
    fs::create_dir(&root).expect("a directory");
    let parameters = told(&file);
    let readable = check_definitions(&parameters).is_ok();
    let audit = audit::audit(&Host::at(&root).expect("a tree"), &parameters, &[]);
    for finding in audit.findings {
        let passes = finding.group == group && finding.outcome == Outcome::Pass;
        assert!(readable || !passes, "{} passes", finding.rule.id);
    }
}
