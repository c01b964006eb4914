//! Names of the parts of a lab.

use super::NAMESPACES;
use std::path::{Path, PathBuf};
use units::{Refusal, refusal};

/// Prefix of the name of every part, to distinguish the parts from those of other programs.
const PREFIX: &str = "triptime-";

/// Longest name of a lab, so that all names made of it fit.
const LONGEST: usize = 32;

/// Name of a lab: small letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabName(String);

impl LabName {
    /// Reads a name.
    ///
    /// # Errors
    /// The name is not valid; the text says which form it must have.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain) && !text.starts_with('-') {
            true => Ok(Self(text.to_owned())),
            false => Err(refusal!(
                "\"{text}\" is not a valid name of a lab: use up to {LONGEST} small letters, digits and -"
            )),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for LabName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a part on this machine.
pub(super) fn name_of(lab: &LabName, end: &str) -> String {
    format!("{PREFIX}{lab}-{end}")
}

/// The file of a lab's network namespace.
pub(super) fn path_of(lab: &LabName, end: &str) -> PathBuf {
    Path::new(NAMESPACES).join(name_of(lab, end))
}

/// True if this is the last part of a namespace's name: `ts`, `sw`, `dut`, `dut1` and so on.
fn is_end(text: &str) -> bool {
    let number = text.strip_prefix("dut");
    matches!(text, "ts" | "sw") || number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// The lab whose namespace has this name.
pub(super) fn lab_of(namespace: &str) -> Option<LabName> {
    let (lab, end) = namespace.strip_prefix(PREFIX)?.rsplit_once('-')?;
    LabName::parse(lab).ok().filter(|_| is_end(end))
}

/// The end of a lab for the namespace of this file: `ts`, `sw`, `dut` and so on.
pub(super) fn end_of(lab: &LabName, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(&name_of(lab, "")).unwrap_or(&name).to_owned()
}

/// The names in a folder; empty if the folder does not exist.
fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

/// The labs that have namespaces in a folder.
pub(super) fn named_in(folder: &Path) -> Vec<LabName> {
    entries(folder).filter_map(|(name, _)| lab_of(&name)).collect()
}

/// The files of a lab's namespaces in a folder.
pub(super) fn namespaces_of(folder: &Path, lab: &LabName) -> Vec<PathBuf> {
    entries(folder)
        .filter(|(name, _)| lab_of(name).as_ref() == Some(lab))
        .map(|(_, path)| path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{LabName, end_of, lab_of, name_of, namespaces_of, path_of};

    #[test]
    fn a_namespace_belongs_to_one_lab() {
        let of = |name: &str| lab_of(name).map(|lab| lab.to_string());
        assert_eq!(of("triptime-bay-ts").as_deref(), Some("bay"));
        assert_eq!(of("triptime-bay-dut12").as_deref(), Some("bay"));
        assert_eq!(of("triptime-bay-dut-ts").as_deref(), Some("bay-dut"));
        for other in [
            "triptime-bay-x",
            "bay-ts",
            "triptime-ts",
            "triptime-bay-dutx",
            "triptime--ts",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
        let lab = LabName::parse("bay").expect("a name");
        assert_eq!(end_of(&lab, &path_of(&lab, "dut1")), "dut1");
        assert_eq!(lab_of(&name_of(&lab, "sw")), Some(lab));
    }

    #[test]
    fn only_the_own_ones_are_found() {
        let folder = tempfile::tempdir().expect("a directory");
        for name in ["triptime-bay-ts", "triptime-bay-dut", "triptime-bay-dut-ts", "other"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let lab = LabName::parse("bay").expect("a name");
        assert_eq!(namespaces_of(folder.path(), &lab).len(), 2);
    }

    #[test]
    fn names_are_plain() {
        for wrong in ["", "a/b", "..", "Bay", "-a", "a b", &"x".repeat(33)] {
            assert!(LabName::parse(wrong).is_err(), "{wrong}");
        }
    }
}
