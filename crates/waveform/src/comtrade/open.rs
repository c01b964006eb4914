//! Records from files.

use super::config::Config;
use super::data::Data;
use super::error::{ComtradeError, Problem};
use super::lines::decode;
use super::record::ComtradeRecord;
use super::{cff, config::FileType};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest file that is read, in bytes. Records of faults have up to about ten megabytes; values take up to four times as much memory as the file,
/// and a wrong path must not use all memory.
pub const MAX_OCTETS: u64 = 128 << 20;

/// Reads the record at `path`: a `.cff`, or a `.cfg` with its `.dat` in the same folder (either may be named).
///
/// # Errors
/// The file is missing, too long, or not COMTRADE; the error has file and line.
pub fn open(path: &Path) -> Result<ComtradeRecord, ComtradeError> {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("cff") => parse_cff(&read(path)?, &path.display().to_string()),
        Some("cfg" | "dat") => {
            // A missing named file is reported before a missing companion file.
            std::fs::metadata(path).map_err(|error| whole(path, &error.to_string()))?;
            let config = beside(path, "cfg")?;
            let data = beside(path, "dat")?;
            parse(
                (&read(&config)?, &config.display().to_string()),
                (&read(&data)?, &data.display().to_string()),
            )
        }
        _ => Err(whole(
            path,
            "not a COMTRADE record by its name: use .cfg (with .dat) or .cff",
        )),
    }
}

/// Reads a configuration and its data; the names are used in errors.
///
/// # Errors
/// Not COMTRADE; the error has file and line.
pub fn parse(config: (&[u8], &str), data: (&[u8], &str)) -> Result<ComtradeRecord, ComtradeError> {
    let parsed = Config::parse(&decode(config.0)).map_err(|problem| problem.within(config.1))?;
    record(parsed, data.0).map_err(|problem| problem.within(data.1))
}

/// Reads a single-file record; errors use `name`.
///
/// # Errors
/// Not COMTRADE; the error has file and line.
pub fn parse_cff(octets: &[u8], name: &str) -> Result<ComtradeRecord, ComtradeError> {
    let sections = cff::split(octets).map_err(|problem| problem.within(name))?;
    let moved = |problem: Problem, lines: u64| {
        let line = problem.line.map(|line| line + lines);
        Problem { line, ..problem }.within(name)
    };
    let text = decode(sections.config);
    let mut config = Config::parse(&text).map_err(|problem| moved(problem, sections.config_line))?;
    config.warnings.extend(sections.warnings);
    if let Some(titled) = sections.file_type.filter(|titled| *titled != config.file_type) {
        config.warnings.push(format!(
            "the configuration says {:?}, the section's title {titled:?}: read as the title says",
            config.file_type
        ));
        config.file_type = titled;
    }
    let lines = if config.file_type == FileType::Ascii {
        sections.data_line
    } else {
        0
    };
    record(config, sections.data).map_err(|problem| moved(problem, lines))
}

fn record(config: Config, data: &[u8]) -> Result<ComtradeRecord, Problem> {
    let data = Data::parse(&config, data)?;
    ComtradeRecord::new(config, data)
}

/// The file with the same name as `path` and this `extension`, in any letter case.
fn beside(path: &Path, extension: &str) -> Result<PathBuf, ComtradeError> {
    let cases = [extension.to_owned(), extension.to_ascii_uppercase()];
    let own = path
        .extension()
        .map(|own| own.to_string_lossy().into_owned())
        .unwrap_or_default();
    if own.eq_ignore_ascii_case(extension) {
        return Ok(path.to_owned());
    }
    let found = cases
        .iter()
        .map(|case| path.with_extension(case))
        .find(|file| file.exists());
    found.ok_or_else(|| {
        whole(
            path,
            &format!("no .{extension} file of the same name beside it: a record is a .cfg and a .dat"),
        )
    })
}

fn read(path: &Path) -> Result<Vec<u8>, ComtradeError> {
    let unreadable = |error: std::io::Error| whole(path, &error.to_string());
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut octets = Vec::new();
    file.take(MAX_OCTETS + 1).read_to_end(&mut octets).map_err(unreadable)?;
    if octets.len() as u64 > MAX_OCTETS {
        return Err(whole(
            path,
            &format!(
                "longer than {} MiB: cut the record to the fault first",
                MAX_OCTETS >> 20
            ),
        ));
    }
    Ok(octets)
}

fn whole(path: &Path, problem: &str) -> ComtradeError {
    Problem::whole(problem).within(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::open;
    use std::path::Path;

    #[test]
    fn a_file_that_is_not_there_is_the_one_that_is_named() {
        for name in ["/nowhere/fault.cfg", "/nowhere/fault.dat", "/nowhere/fault.cff"] {
            let error = open(Path::new(name)).expect_err("missing").to_string();
            assert!(error.starts_with(name) && error.contains("No such file"), "{error}");
        }
    }
}
