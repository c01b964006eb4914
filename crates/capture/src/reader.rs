//! Recognises the format of a file, and reads its frames.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::pcap::Pcap;
use crate::pcapng::Pcapng;
use crate::source::Source;
use crate::{CaptureError, Frame, Stamps};

/// The beginning of a gzip file: magic number, and deflate as its method.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// The frames of a capture, in the order of the file.
pub struct Reader<'a> {
    source: Source<'a>,
    format: Format,
    ended: bool,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl<'a> Reader<'a> {
    /// Opens a file, compressed with gzip or not.
    ///
    /// # Errors
    /// The file cannot be read, or is not a capture.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let error = |source| CaptureError::Open {
            path: path.to_owned(),
            source,
        };
        Self::new(File::open(path).map_err(error)?)
    }

    /// Reads the head of a capture, compressed with gzip or not. The input needs no buffer.
    ///
    /// # Errors
    /// The input cannot be read, or is not a capture.
    pub fn new(input: impl Read + 'a) -> Result<Self, CaptureError> {
        Self::begin(Source::new(Box::new(input)))
    }

    fn begin(mut source: Source<'a>) -> Result<Self, CaptureError> {
        // Up to 16 bytes, for the error message about another kind of file.
        let mut enough = source.try_extend_to(16)?;
        if source.block().starts_with(&GZIP) {
            source = source.unpack();
            enough = source.try_extend_to(16)?;
        }
        let format = match source.block() {
            [] => return Err(CaptureError::Empty),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Format::Pcapng(Pcapng::new()),
            [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..] => Format::Pcap(Pcap::read_header(&mut source)?),
            other => return Err(not_a_capture(other)),
        };
        if !enough {
            // Always fails, with the error that the head is cut.
            source.extend_to(16)?;
        }
        Ok(Self {
            source,
            format,
            ended: false,
        })
    }

    /// Frames that the capturing program reports as dropped before they came into the file, in the part that was read. `None` if the capture does not
    /// state this (every pcap file, and pcapng without interface statistics).
    pub fn dropped(&self) -> Option<u64> {
        match &self.format {
            Format::Pcap(_) => None,
            Format::Pcapng(pcapng) => pcapng.dropped(),
        }
    }

    /// Names of the interfaces in the order of their numbers, in the section that is being read. A pcap file has one without a name.
    pub fn interfaces(&self) -> Vec<Option<&str>> {
        match &self.format {
            Format::Pcap(_) => vec![None],
            Format::Pcapng(pcapng) => pcapng.interfaces(),
        }
    }

    /// The origin of the stamps, from the part of the capture that was read.
    pub fn stamps(&self) -> Stamps {
        match &self.format {
            Format::Pcap(pcap) => Stamps {
                unit_ns: pcap.unit_ns(),
                made_by: None,
            },
            Format::Pcapng(pcapng) => pcapng.stamps(),
        }
    }

    /// The next frame; `None` at the end of the capture, and after an error.
    ///
    /// # Errors
    /// The capture is cut or damaged, or reading failed. The frames before that place have been returned.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        if self.ended {
            return Ok(None);
        }
        // Set while a block is read, so that an error ends the capture.
        self.ended = true;
        let frame = match &mut self.format {
            Format::Pcap(pcap) => pcap.next_frame(&mut self.source)?,
            Format::Pcapng(pcapng) => pcapng.next_frame(&mut self.source)?,
        };
        self.ended = frame.is_none();
        Ok(frame)
    }
}

fn not_a_capture(octets: &[u8]) -> CaptureError {
    let compressed = |with, how| CaptureError::Compressed { with, how };
    match octets {
        [0x1f, 0x8b, ..] => compressed("gzip, twice", "gunzip FILE"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => compressed("zstd", "unzstd FILE"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => compressed("xz", "unxz FILE"),
        [0x04, 0x22, 0x4d, 0x18, ..] => compressed("lz4", "unlz4 FILE"),
        [0x34, 0xcd, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xcd, 0x34, ..] => {
            CaptureError::Unsupported("the modified pcap format of Linux 2.2")
        }
        _ => {
            let hex: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            let text: String = octets
                .iter()
                .map(|&octet| {
                    if matches!(octet, 0x20..0x7f) {
                        char::from(octet)
                    } else {
                        '.'
                    }
                })
                .collect();
            CaptureError::NotACapture {
                begins: format!("{} \"{text}\"", hex.join(" ")),
            }
        }
    }
}
