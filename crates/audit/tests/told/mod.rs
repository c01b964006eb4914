//! Audit of a recorded machine: the user's parameters, from `told.toml` next to the tree, and the findings as text.

use std::fs;
use std::path::Path;

use audit::finding::{Finding, Outcome};
use audit::parameters::Parameters;
use host::Host;
use serde::Deserialize;

/// Parameters of the user, as in `told.toml`. Files are next to it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Told {
    pub(crate) cpus: Option<String>,
    pub(crate) nics: Vec<String>,
    domains: Vec<String>,
    vmx: Vec<String>,
    esxi: Option<String>,
    containers: Vec<String>,
    pub(crate) profile: Option<String>,
}

impl Told {
    /// Parameters of the machine in `folder`; empty without a `told.toml`.
    ///
    /// # Panics
    /// The file is invalid.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = folder.join("told.toml");
        let text = fs::read_to_string(&path).unwrap_or_default();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Parameters of the machine in `folder`; empty without a `told.toml`.
///
/// # Panics
/// The file is invalid.
pub(crate) fn parameters(folder: &Path) -> Parameters {
    let told = Told::read(folder);
    let beside = |name: &String| folder.join(name).display().to_string();
    Parameters {
        rt_cpus: told.cpus.map(|cpus| cpus.parse().expect("a CPU list")),
        nics: told.nics,
        domains: told.domains.iter().map(beside).collect(),
        vmx: told.vmx.iter().map(|name| folder.join(name)).collect(),
        esxi: told.esxi.map(|name| folder.join(name)),
        containers: told.containers.iter().map(beside).collect(),
        profile: told.profile.filter(|profile| !profile.is_empty()),
        ..Parameters::default()
    }
}

/// A line for each rule, by id: the outcome and the values that decided it.
///
/// # Panics
/// The folder has no tree.
pub(crate) fn findings(folder: &Path) -> String {
    let host = Host::at(&folder.join("root")).expect("a tree");
    let audit = audit::audit(&host, &parameters(folder), &[]);
    let mut lines: Vec<String> = audit
        .findings
        .iter()
        .map(|finding| line(finding, &folder.display().to_string()))
        .collect();
    lines.sort();
    lines.concat()
}

fn line(finding: &Finding, folder: &str) -> String {
    let said = match finding.outcome {
        Outcome::Unknown | Outcome::NotApplicable => finding
            .worst_parts()
            .next()
            .map(|part| part.reason.clone())
            .unwrap_or_default(),
        _ => finding.live_text(),
    };
    let said = said.replace(&format!("{folder}/"), "");
    format!("{} {} <- {said}\n", finding.rule.id, finding.outcome.word())
}
