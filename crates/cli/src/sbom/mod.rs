//! `triptime --sbom`: the parts of this binary, as CycloneDX or SPDX.

mod cyclonedx;
mod spdx;
#[cfg(test)]
mod tests;

use crate::failure::Failure;
use jiff::Timestamp;
use std::io::Write;

/// Forms of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// CycloneDX 1.6, JSON
    Cyclonedx,
    /// SPDX 2.3, JSON
    Spdx,
}

/// Lines of `scripts/sbom_parts.py`, of which the first one is this program.
const PARTS: &str = include_str!("parts.tsv");

/// A part of the binary.
#[derive(Debug, Clone)]
struct Component {
    name: &'static str,
    /// Its version; empty if the machine that builds decides it.
    version: &'static str,
    /// An SPDX expression; empty for this program's line.
    licence: &'static str,
    /// SHA-256 of the crate's file; empty for what is no crate.
    checksum: &'static str,
    /// The parts that it uses, by [`Component::id`].
    uses: Vec<&'static str>,
}

impl Component {
    /// `NAME VERSION`, or the name alone.
    fn id(&self) -> String {
        format!("{} {}", self.name, self.version).trim_end().to_owned()
    }

    /// The package URL of a crate.
    fn purl(&self) -> Option<String> {
        (!self.checksum.is_empty()).then(|| format!("pkg:cargo/{}@{}", self.name, self.version))
    }
}

/// This program, and then the others.
fn parts() -> Vec<Component> {
    let part = |line: &'static str| {
        let mut cells = line.split('\t');
        let mut next = || cells.next().unwrap_or_default();
        Component {
            name: next(),
            version: next(),
            licence: next(),
            checksum: next(),
            uses: next().split(',').filter(|id| !id.is_empty()).collect(),
        }
    };
    let mut parts: Vec<Component> = PARTS.lines().map(part).collect();
    if let Some(program) = parts.first_mut() {
        program.version = env!("CARGO_PKG_VERSION");
        program.licence = env!("CARGO_PKG_LICENSE");
    }
    parts
}

/// Prints the list. Its time is that of `SOURCE_DATE_EPOCH`, so that a package can be made twice; else it is the present time.
///
/// # Errors
/// `SOURCE_DATE_EPOCH` is no number of seconds, or standard output cannot be written.
pub(crate) fn print(form: Form) -> Result<u8, Failure> {
    let now = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text
            .parse()
            .ok()
            .and_then(|second| Timestamp::from_second(second).ok())
            .ok_or_else(|| {
                Failure::Usage(format!(
                    "SOURCE_DATE_EPOCH: \"{text}\" is no number of seconds since 1970"
                ))
            })?,
        Err(_) => Timestamp::now(),
    };
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let document = match form {
        Form::Cyclonedx => cyclonedx::document(&parts(), &now),
        Form::Spdx => spdx::document(&parts(), &now),
    };
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{document:#}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::CouldNotMeasure(format!("standard output: {error}")))
        }
        _ => Ok(0),
    }
}
