//! Sets of streams on the command line.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use streamset::{SclChoice, StreamSet};
use units::Refusal;

/// Source of a set of streams.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Set of streams")]
pub(crate) struct SetArgs {
    /// The streams of a TOML file
    #[arg(long, value_name = "FILE", group = "source")]
    pub(crate) set: Option<PathBuf>,
    /// The sampled values of an SCL file: SCD, CID, ICD or IID
    #[arg(long, value_name = "FILE", group = "source")]
    pub(crate) scl: Option<PathBuf>,
    /// Use only the streams that this IED of the SCL file sends; may be given again
    #[arg(long, value_name = "NAME", requires = "scl")]
    ied: Vec<String>,
    /// Frequency in Hz, for an SCL file that counts its samples in a period [default: what the file states, else 50]
    #[arg(long, value_name = "HZ", requires = "scl", value_parser = hertz)]
    nominal_frequency: Option<f64>,
}

impl SetArgs {
    /// The streams; `None` if no set was named. With `goose_alone` the SCL file may contain no sampled values.
    ///
    /// # Errors
    /// A file cannot be read or used.
    pub(crate) fn read(&self, goose_alone: bool) -> Result<Option<StreamSet>, Failure> {
        if let Some(path) = &self.set {
            let (file, octets) = read(path)?;
            return Ok(Some(StreamSet::of_toml(octets, file)?));
        }
        let Some(path) = &self.scl else { return Ok(None) };
        let (file, octets) = read(path)?;
        let choice = SclChoice {
            ieds: &self.ied,
            frequency_hz: self.nominal_frequency,
            goose_alone,
        };
        Ok(Some(StreamSet::of_scl(&octets, file, choice)?))
    }
}

fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(octets) => Ok((name, octets)),
        Err(error) => Err(Failure::Usage(format!("{name}: {error}"))),
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Usage(refusal.to_string())
    }
}

/// Parses the frequency of a power system.
fn hertz(text: &str) -> Result<f64, String> {
    let hz = text.parse::<f64>().ok().filter(|hz| (10.0..=100.0).contains(hz));
    hz.ok_or_else(|| "must be 10 to 100".into())
}
