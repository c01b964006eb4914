//! Sets of streams on the command line, and what the probes take of them.

use crate::commands::publish::Waveforms;
use crate::failure::Failure;
use probes::goose::ExpectedBlock;
use probes::publish::StreamConfig;
use probes::subscribe::ExpectedStream;
use scl::{Document, Goose};
use std::path::{Path, PathBuf};
use streamset::{Selection, SetError, StreamSpec, from_scl};
use wire::goose::Expectation;

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
    /// Take only what this IED of the SCL file sends; may be given again
    #[arg(long, value_name = "NAME", requires = "scl")]
    ied: Vec<String>,
    /// Frequency in Hz, for an SCL file that counts its samples in a period [default: what the file states, else 50]
    #[arg(long, value_name = "HZ", requires = "scl", value_parser = hertz)]
    nominal_frequency: Option<f64>,
}

/// A set of streams, as it was read.
#[derive(Default)]
pub(crate) struct NamedSet {
    /// The sampled values, with what should be known about them.
    pub(crate) selection: Selection,
    /// The file.
    pub(crate) file: String,
    /// The GOOSE control blocks, where it is an SCL file.
    pub(crate) gooses: Vec<Goose>,
}

impl NamedSet {
    /// The GOOSE control blocks, as they are to come.
    pub(crate) fn control_blocks(&self) -> Vec<ExpectedBlock> {
        self.gooses.iter().map(expected_block).collect()
    }
}

impl SetArgs {
    /// The streams; `None` where no set was named. With `goose_too` an SCL file may have GOOSE alone.
    ///
    /// # Errors
    /// A file that cannot be read or used.
    pub(crate) fn read(&self, goose_too: bool) -> Result<Option<NamedSet>, Failure> {
        if let Some(path) = &self.set {
            let (file, octets) = read(path)?;
            let text = String::from_utf8(octets).map_err(|_| Failure::Usage(format!("{file}: not UTF-8 text")))?;
            let selection = Selection {
                streams: streamset::parse(&text, &file)?,
                notes: Vec::new(),
            };
            return Ok(Some(NamedSet {
                selection,
                file,
                gooses: Vec::new(),
            }));
        }
        let Some(path) = &self.scl else { return Ok(None) };
        let (file, octets) = read(path)?;
        let document = scl::parse_bytes(&octets).map_err(|error| Failure::Usage(format!("{file}: {error}")))?;
        let selection = match goose_too && self.is_goose_alone(&document) {
            true => Selection::default(),
            false => from_scl(&document, &file, &self.ied, self.nominal_frequency)?,
        };
        let mut gooses = document.gooses;
        gooses.retain(|goose| self.is_wanted(&goose.place.ied));
        Ok(Some(NamedSet {
            selection,
            file,
            gooses,
        }))
    }

    fn is_goose_alone(&self, document: &Document) -> bool {
        let mut sampled_values = document.sampled_values.iter().map(|block| &block.place.ied);
        let mut left_out = document.left_out.iter().filter(|left| left.is_sampled_values);
        let has_any = sampled_values.any(|ied| self.is_wanted(ied)) || left_out.any(|left| self.is_wanted(&left.ied));
        !has_any && document.gooses.iter().any(|goose| self.is_wanted(&goose.place.ied))
    }

    fn is_wanted(&self, ied: &String) -> bool {
        self.ied.is_empty() || self.ied.contains(ied)
    }
}

fn expected_block(goose: &Goose) -> ExpectedBlock {
    ExpectedBlock {
        destination: goose.address.mac,
        appid: goose.address.appid,
        gocb_ref: goose.gocb_ref.clone().into_bytes(),
        expectation: Expectation {
            conf_rev: Some(goose.conf_rev),
            dat_set: Some(goose.data_set.reference.clone().into_bytes()),
            go_id: Some(goose.go_id.clone().into_bytes()),
            entries: u32::try_from(goose.data_set.members.len()).ok(),
        },
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
