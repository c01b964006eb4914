//! Reasons why a capture cannot be read, or not to its end.

use std::io;
use std::path::PathBuf;

/// A capture that cannot be read, or not to its end. Frames before the place of the error were delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Reading failed.
    #[error("reading failed at octet {offset}: {source}")]
    Read {
        /// Position in the file, in bytes.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The compressed data cannot be decompressed any further.
    #[error(
        "the gzip file is cut or damaged: it unpacks to {offset} bytes, and frame {frame} is incomplete ({source})"
    )]
    Unpack {
        /// Number of the frame that is missing.
        frame: u64,
        /// Number of bytes that could be decompressed.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// An empty file.
    #[error("the file is empty: not a capture")]
    Empty,
    /// Another kind of file.
    #[error("not a capture: it begins with {begins}, where a pcap or pcapng file has its magic number")]
    NotACapture {
        /// The first bytes, in hexadecimal and as text.
        begins: String,
    },
    /// A file that is compressed, but not by gzip.
    #[error("compressed with {with}: unpack it first ({how})")]
    Compressed {
        /// The program.
        with: &'static str,
        /// The command.
        how: &'static str,
    },
    /// A pcap dialect that is not read.
    #[error("{0} is not supported: convert it first (editcap IN OUT, which comes with Wireshark)")]
    Unsupported(&'static str),
    /// The file ends inside a block.
    #[error(
        "the capture is cut: it ends at octet {end}, inside the block that begins at octet {offset}, before frame {frame} is \
         whole"
    )]
    Truncated {
        /// Number of the frame that is missing.
        frame: u64,
        /// Octet of the file at which the block begins.
        offset: u64,
        /// Length of the file in bytes.
        end: u64,
    },
    /// A block that contradicts itself.
    #[error("the capture is damaged at octet {offset}, before or in frame {frame}: {why}")]
    Damaged {
        /// Number of the frame that is missing.
        frame: u64,
        /// Octet of the file at which the block begins.
        offset: u64,
        /// The reason.
        why: String,
    },
}
