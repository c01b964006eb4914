//! Contents of one file: sampled values, and GOOSE control blocks.

use crate::error::SetError;
use crate::goose::{self, ControlBlock, ExpectedBlock};
use crate::scl_streams::{Selection, from_scl};
use scl::{Document, Goose};

/// Streams that are published or expected, as a file names them.
#[derive(Debug, Clone, Default)]
pub struct StreamSet {
    /// The sampled values, with what should be known about them.
    pub selection: Selection,
    /// The file.
    pub file: String,
    /// The GOOSE control blocks, where it is an SCL file.
    pub gooses: Vec<Goose>,
}

/// A control block of an SCL file that can be neither published nor expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// True where it is one of sampled values.
    pub is_sampled_values: bool,
    /// svID, or reference of the GOOSE control block.
    pub name: String,
    /// File, line, and why.
    pub why: String,
}

/// Choice of what is taken of an SCL file.
#[derive(Debug, Clone, Copy)]
pub struct SclChoice<'a> {
    /// Only what these IEDs send; empty: what all do.
    pub ieds: &'a [String],
    /// Frequency in Hz that samples in a period are counted in; `None`: what the file states, else 50.
    pub frequency_hz: Option<f64>,
    /// A file that has GOOSE alone will do.
    pub goose_alone: bool,
}

impl SclChoice<'_> {
    pub(crate) fn is_wanted(&self, ied: &String) -> bool {
        self.ieds.is_empty() || self.ieds.contains(ied)
    }

    /// True where the file has GOOSE that will do.
    pub(crate) fn has_goose(&self, document: &Document) -> bool {
        self.goose_alone && document.gooses.iter().any(|goose| self.is_wanted(&goose.place.ied))
    }
}

impl StreamSet {
    /// Of a stream-set file, called `file`.
    ///
    /// # Errors
    /// As [`parse`](crate::parse), and octets that are no text.
    pub fn of_toml(octets: Vec<u8>, file: String) -> Result<Self, SetError> {
        let text = String::from_utf8(octets).map_err(|_| SetError::File {
            file: file.clone(),
            problem: "not UTF-8 text".into(),
        })?;
        let selection = Selection {
            streams: crate::parse(&text, &file)?,
            ..Selection::default()
        };
        Ok(Self {
            selection,
            file,
            gooses: Vec::new(),
        })
    }

    /// Of an SCL file, called `file`.
    ///
    /// # Errors
    /// As [`from_scl`], and what is no SCL file.
    pub fn of_scl(octets: &[u8], file: String, choice: SclChoice<'_>) -> Result<Self, SetError> {
        let document = scl::parse_bytes(octets).map_err(|error| SetError::File {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        let selection = from_scl(&document, &file, choice)?;
        let mut gooses = document.gooses;
        gooses.retain(|goose| choice.is_wanted(&goose.place.ied));
        Ok(Self {
            selection,
            file,
            gooses,
        })
    }

    /// The GOOSE control blocks, as they are to come.
    pub fn expected_blocks(&self) -> Vec<ExpectedBlock> {
        self.gooses.iter().map(goose::expected_block).collect()
    }

    /// The GOOSE control blocks that can be published, with the simulation bit where `simulate` says so, and why others are
    /// left out.
    pub fn published_blocks(&self, simulate: bool) -> (Vec<ControlBlock>, Vec<String>) {
        let unread = self.selection.left_out.iter().filter(|left| !left.is_sampled_values);
        let mut notes: Vec<String> = unread.map(|left| format!("{}: left out", left.why)).collect();
        let mut blocks = Vec::new();
        for goose in &self.gooses {
            match goose::control_block(goose, simulate) {
                Ok(block) => blocks.push(block),
                Err(why) => notes.push(format!("{}: {why}: left out", self.file)),
            }
        }
        (blocks, notes)
    }
}
