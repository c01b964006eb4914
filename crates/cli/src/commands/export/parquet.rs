//! Runs as Parquet: two files of a run, or its part of a folder with the runs of many hosts.

use super::{Unwritten, ended};
use crate::failure::Failure;
use interop::export::place;
use std::fs;
use std::path::{Path, PathBuf};
use store::RunFile;

/// Reason that the two files are not written to standard output.
pub(super) const TWO_FILES: &str =
    "parquet makes two files: name them with --out FILE, or give a directory (--out DIR/)";

pub(super) fn two_files(run: &RunFile, output: Option<&Path>) -> Result<u8, Failure> {
    let output = output.ok_or_else(|| Failure::Usage(TWO_FILES.into()))?;
    let (windows, spikes) = parquet_files(output)?;
    ended(
        place(&windows, |out| Ok::<(), Unwritten>(columnar::windows(run, out)?)),
        &windows,
    )?;
    ended(
        place(&spikes, |out| Ok::<(), Unwritten>(columnar::spikes(run, out)?)),
        &spikes,
    )?;
    Ok(0)
}

/// The two files of the Parquet form under `output`. Creates the directory if it is missing.
fn parquet_files(output: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    if output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/") {
        fs::create_dir_all(output).map_err(|error| Failure::Usage(format!("{}: {error}", output.display())))?;
        return Ok((output.join("windows.parquet"), output.join("spikes.parquet")));
    }
    let stem = match output.extension() {
        Some(extension) if extension == "parquet" => output.with_extension(""),
        _ => output.to_owned(),
    };
    let named = |kind: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(kind);
        PathBuf::from(name)
    };
    Ok((named(".windows.parquet"), named(".spikes.parquet")))
}

/// Reason that a folder is needed.
pub(super) const A_FOLDER: &str = "fleet writes several files: give their folder (--out DIR)";

/// Adds the run to a folder. Each file appears when it is complete, and replaces that of an earlier export of the same run.
pub(super) fn fleet(run: &RunFile, folder: Option<&Path>) -> Result<u8, Failure> {
    let folder = folder.ok_or_else(|| Failure::Usage(A_FOLDER.into()))?;
    let files = columnar::fleet(run).map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    for file in files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| Failure::Usage(format!("{}: {error}", parent.display())))?;
        ended(place(&path, |out| Ok::<(), Unwritten>(file.write(run, out)?)), &path)?;
    }
    Ok(0)
}
