//! Contents of one file: sampled values, and GOOSE control blocks.

use crate::goose::{self, ControlBlock, ExpectedBlock};
use crate::scl_streams::{Selection, from_scl};
use scl::{Document, Goose};
use units::{Refusal, Refuse, refusal};

/// Streams in a file, to be published or expected.
#[derive(Debug, Clone, Default)]
pub struct StreamSet {
    /// The sampled values, with remarks.
    pub selection: Selection,
    /// The file.
    pub file: String,
    /// The GOOSE control blocks, if it is an SCL file.
    pub gooses: Vec<Goose>,
}

/// A control block of an SCL file that can be neither published nor expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// True for a control block of sampled values.
    pub is_sampled_values: bool,
    /// svID, or reference of the GOOSE control block.
    pub name: String,
    /// File, line, and reason.
    pub why: String,
}

/// Selection of the contents of an SCL file.
#[derive(Debug, Clone, Copy)]
pub struct SclChoice<'a> {
    /// Only control blocks of these IEDs; empty: of all.
    pub ieds: &'a [String],
    /// Frequency in Hz for samples in a period; `None`: that of the file, else 50.
    pub frequency_hz: Option<f64>,
    /// True if a file with only GOOSE is accepted.
    pub goose_alone: bool,
}

impl SclChoice<'_> {
    pub(crate) fn is_wanted(&self, ied: &String) -> bool {
        self.ieds.is_empty() || self.ieds.contains(ied)
    }

    /// True if the file has usable GOOSE control blocks, which are enough.
    pub(crate) fn has_goose(&self, document: &Document) -> bool {
        self.goose_alone && document.gooses.iter().any(|goose| self.is_wanted(&goose.place.ied))
    }
}

impl StreamSet {
    /// Reads a stream-set file with the name `file`.
    ///
    /// # Errors
    /// Same as [`parse`](crate::parse), and bytes that are not text.
    pub fn of_toml(octets: Vec<u8>, file: String) -> Result<Self, Refusal> {
        let text = String::from_utf8(octets).map_err(|_| refusal!("not UTF-8 text").of(&file))?;
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

    /// Reads an SCL file with the name `file`.
    ///
    /// # Errors
    /// Same as [`from_scl`], and a file that is not SCL.
    pub fn of_scl(octets: &[u8], file: String, choice: SclChoice<'_>) -> Result<Self, Refusal> {
        let document = scl::parse_bytes(octets).refused_of(&file)?;
        let selection = from_scl(&document, &file, choice)?;
        let mut gooses = document.gooses;
        gooses.retain(|goose| choice.is_wanted(&goose.place.ied));
        Ok(Self {
            selection,
            file,
            gooses,
        })
    }

    /// The expected GOOSE control blocks.
    pub fn expected_blocks(&self) -> Vec<ExpectedBlock> {
        self.gooses.iter().map(goose::expected_block).collect()
    }

    /// The GOOSE control blocks that can be published, with the simulation bit if `simulate` is true, and the reasons for others to be left out.
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
