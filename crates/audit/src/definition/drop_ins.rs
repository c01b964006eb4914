//! Drop-ins of quadlets: files that podman's generator appends to a unit (podman-systemd.unit, since podman 5.0).

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Kinds of units that make up a container.
const KINDS: [&str; 2] = ["container", "network"];

/// Text of a unit followed by its drop-ins, in the order of their names. Any other file is returned unchanged.
///
/// # Errors
/// A drop-in, or a folder of drop-ins, cannot be read.
pub(crate) fn joined(unit: &Path, mut text: String) -> Result<String, String> {
    for file in found(unit)?.values() {
        text.push_str("\n\n");
        text.push_str(&super::text(file)?);
    }
    Ok(text)
}

/// Drop-ins by name. If two have the same name, the folder that names the unit more exactly takes precedence.
fn found(unit: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut found = BTreeMap::new();
    for folder in folders(unit) {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{}: {error}", folder.display())),
        };
        for entry in entries {
            let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".conf") {
                found.insert(name, path);
            }
        }
    }
    Ok(found)
}

/// Folders of the drop-ins for `a-b.container`: `container.d`, `a-.container.d`, `a-b.container.d`.
fn folders(unit: &Path) -> Vec<PathBuf> {
    let (stem, kind) = (
        unit.file_stem().unwrap_or_default(),
        unit.extension().unwrap_or_default(),
    );
    let (stem, kind) = (stem.to_string_lossy(), kind.to_string_lossy());
    if !KINDS.contains(&kind.as_ref()) {
        return Vec::new();
    }
    let dashes = stem
        .match_indices('-')
        .map(|(at, _)| format!("{}.{kind}.d", &stem[..=at]));
    let names = std::iter::once(format!("{kind}.d")).chain(dashes);
    let names = names.chain([format!("{stem}.{kind}.d")]);
    names.map(|name| unit.with_file_name(name)).collect()
}
