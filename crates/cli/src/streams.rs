//! Sets of streams on the command line, and what the probes take of them.

use crate::commands::publish::Waveforms;
use crate::failure::Failure;
use probes::publish::StreamConfig;
use probes::subscribe::ExpectedStream;
use std::path::{Path, PathBuf};
use streamset::{Selection, SetError, StreamSpec, from_scl};

/// Where a set of streams comes from.
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
    /// Of the SCL file, only those of this IED; may be given again
    #[arg(long, value_name = "NAME", requires = "scl")]
    ied: Vec<String>,
    /// Frequency that an SCL file's samples in a period are counted at [default: what the file states, else 50]
    #[arg(long, value_name = "HZ", requires = "scl", value_parser = hertz)]
    nominal_frequency: Option<f64>,
}

impl SetArgs {
    /// The streams, with what should be known about them; `None` where no set was named.
    ///
    /// # Errors
    /// A file that cannot be read or used.
    pub(crate) fn read(&self) -> Result<Option<Selection>, Failure> {
        if let Some(path) = &self.set {
            let (name, octets) = read(path)?;
            let text = String::from_utf8(octets).map_err(|_| Failure::Usage(format!("{name}: not UTF-8 text")))?;
            let streams = streamset::parse(&text, &name)?;
            return Ok(Some(Selection {
                streams,
                notes: Vec::new(),
            }));
        }
        let Some(path) = &self.scl else { return Ok(None) };
        let (name, octets) = read(path)?;
        let document = scl::parse_bytes(&octets).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        Ok(Some(from_scl(&document, &name, &self.ied, self.nominal_frequency)?))
    }
}

fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(octets) => Ok((name, octets)),
        Err(error) => Err(Failure::Usage(format!("{name}: {error}"))),
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// The frequency of a power system.
fn hertz(text: &str) -> Result<f64, String> {
    let hz = text.parse::<f64>().ok().filter(|hz| (10.0..=100.0).contains(hz));
    hz.ok_or_else(|| "must be 10 to 100".into())
}

/// The streams as the publisher takes them, with what they measure.
///
/// # Errors
/// A stream that cannot be published.
pub(crate) fn published(streams: &[StreamSpec], waveforms: &mut Waveforms) -> Result<Vec<StreamConfig>, Failure> {
    let config = |(number, stream): (u64, &StreamSpec)| {
        let waveform = waveforms.of(stream.profile()?, stream.quality, stream.phase_deg, number)?;
        Ok(StreamConfig {
            sv_id: stream.sv_id.clone(),
            dat_set: stream.dat_set.clone(),
            destination: stream.destination,
            vlan: stream.vlan,
            appid: stream.appid,
            conf_rev: stream.conf_rev,
            smp_synch: stream.smp_synch,
            simulate: stream.simulate,
            rate: stream.rate,
            asdus: stream.asdus,
            smp_rate: stream.smp_rate.map(|rate| rate.value),
            smp_mod: stream.smp_rate.and_then(|rate| rate.smp_mod),
            waveform,
            ahead: 0,
        })
    };
    (0..).zip(streams).map(config).collect()
}

/// A stream as the subscriber expects it.
pub(crate) fn expected(stream: &StreamSpec) -> ExpectedStream {
    ExpectedStream {
        sv_id: stream.sv_id.clone(),
        destination: stream.destination,
        vlan: stream.vlan,
        appid: stream.appid,
        conf_rev: stream.conf_rev,
        rate: stream.rate,
        asdus: stream.asdus,
        octets: stream.content.octets(),
        origin: stream.origin.clone(),
    }
}
