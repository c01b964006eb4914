//! A disk that boots under UEFI: a GUID partition table, an EFI system partition with one program, and a partition that every system reads, for the
//! task's files and its results.
//!
//! ```text
//! | table | EFI system partition      | data: words.txt, ... | table |
//! |       | \EFI\BOOT\BOOTX64.EFI     |                      | again |
//! ```
//!
//! Identifiers are computed from the contents and time stamps are constants: the same input gives the same bytes.

mod directory;
mod fat;
mod form;
mod gpt;
#[cfg(test)]
mod tests;
mod unified;

pub use form::{vhd_footer, vmdk};
pub use unified::{Parts, unified};

use fat::{Node, Volume};
use gpt::{Partition, PartitionKind};
use sha2::{Digest, Sha256};

/// Bytes of a sector.
pub const SECTOR: u64 = 512;
/// Partitions start and end at multiples of this.
const ALIGNED: u64 = 1 << 20;
/// The smallest volume with enough clusters for FAT32 (65 525 of one sector), including its tables.
const SMALLEST: u64 = 34 << 20;
/// The largest volume: above it larger clusters would be needed.
const LARGEST: u64 = 8 << 30;

/// Label of the data's file system, visible to users.
pub const LABEL: &str = "TRIPTIME";
/// The file with the words of the command, on that file system.
pub const WORDS: &str = "words.txt";

/// Reasons why a disk cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiskError {
    /// The contents do not fit.
    #[error("{octets} bytes do not fit onto a partition of the disk; the maximum is {LARGEST}")]
    TooLarge {
        /// Size of the contents in bytes.
        octets: u64,
    },
    /// Not a valid file name.
    #[error(
        "\"{0}\" is not a valid file name on the disk: use letters, digits, and . _ - between them, at most 60 characters, and each name once"
    )]
    Name(String),
    /// The stub is not usable.
    #[error("the stub of a unified kernel image: {0}")]
    Stub(&'static str),
    /// The kernel is not usable.
    #[error("the kernel: {0}")]
    Kernel(&'static str),
}

/// Digest of a disk's contents, from which its identifiers are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity([u8; 32]);

impl Identity {
    /// The digest of these contents.
    pub fn of<'a>(contents: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut digest = Sha256::new();
        for content in contents {
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        }
        Self(digest.finalize().into())
    }

    /// Name of the data partition, which the guest uses to find its boot disk.
    pub fn partition(&self) -> String {
        let digits: String = self.0[..4].iter().map(|octet| format!("{octet:02x}")).collect();
        format!("triptime-{digits}")
    }

    /// An identifier in the form of RFC 9562, version 8, for this use.
    fn uuid(&self, of: &str) -> [u8; 16] {
        let Self(digest) = Self::of([self.0.as_slice(), of.as_bytes()]);
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&digest[..16]);
        // Partition tables store the first half in little-endian order.
        uuid[7] = (uuid[7] & 0x0f) | 0x80;
        uuid[8] = (uuid[8] & 0x3f) | 0x80;
        uuid
    }

    fn number(&self, of: &str) -> u32 {
        let [a, b, c, d, ..] = self.uuid(of);
        u32::from_le_bytes([a, b, c, d])
    }
}

/// Contents of a disk.
#[derive(Debug, Clone)]
pub struct DiskSpec<'a> {
    /// Source of its identifiers.
    pub identity: Identity,
    /// The EFI program to start.
    pub program: &'a [u8],
    /// Names and contents of the data's files.
    pub files: &'a [(String, Vec<u8>)],
    /// Size of the data partition in bytes; at least 34 MiB.
    pub room: u64,
}

/// A disk: contents with positions, and zeros elsewhere.
#[derive(Debug, Clone)]
pub struct Disk {
    /// Total size in bytes.
    pub size: u64,
    /// Contents with their offsets from the start of the disk.
    pub pieces: Vec<(u64, Vec<u8>)>,
}

/// Makes the disk.
///
/// # Errors
/// The contents do not fit, or a file has an invalid name.
pub fn disk(spec: &DiskSpec<'_>) -> Result<Disk, DiskError> {
    let program = Node::file("BOOTX64.EFI", spec.program);
    let system = [Node::folder("EFI", vec![Node::folder("BOOT", vec![program])])];
    let mut names: Vec<String> = spec.files.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    if let Some(name) = names.iter().find(|name| !is_name(name)).or(twice.map(|pair| &pair[0])) {
        return Err(DiskError::Name(name.clone()));
    }
    let files: Vec<Node<'_>> = spec
        .files
        .iter()
        .map(|(name, content)| Node::file(name, content))
        .collect();
    let content: u64 = spec.files.iter().map(|(_, content)| content.len() as u64).sum();

    // Room for two programs, so that a newer one can replace the old one.
    let system_size = size_for(spec.program.len() as u64 + (8 << 20))?;
    let data_size = size_for(spec.room.max(content + (8 << 20)))?;
    let system_at = ALIGNED;
    let data_at = system_at + system_size;
    let size = data_at + data_size + ALIGNED;

    let identity = &spec.identity;
    let partition = |kind, name: &str, first: u64, length: u64| Partition {
        kind,
        uuid: identity.uuid(name),
        name: name.to_owned(),
        first: first / SECTOR,
        last: (first + length) / SECTOR - 1,
    };
    let partitions = [
        partition(PartitionKind::System, "EFI system partition", system_at, system_size),
        partition(PartitionKind::Data, &identity.partition(), data_at, data_size),
    ];
    let mut pieces = gpt::table(size / SECTOR, identity.uuid("disk"), &partitions);
    for (name, at, size, nodes) in [
        ("TRIPTIMEEFI", system_at, system_size, system.as_slice()),
        (LABEL, data_at, data_size, &files),
    ] {
        let volume = Volume {
            label: name,
            number: identity.number(name),
            sectors: size / SECTOR,
            hidden: at / SECTOR,
        };
        let found = volume.pieces(nodes)?;
        pieces.extend(found.into_iter().map(|(place, octets)| (at + place, octets)));
    }
    Ok(Disk { size, pieces })
}

/// Size of a partition for this many bytes, including its tables.
fn size_for(octets: u64) -> Result<u64, DiskError> {
    let tables = octets / 32;
    let size = (octets.saturating_add(tables))
        .max(SMALLEST)
        .checked_next_multiple_of(ALIGNED);
    size.filter(|size| *size <= LARGEST)
        .ok_or(DiskError::TooLarge { octets })
}

fn is_name(name: &str) -> bool {
    let is_inner = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
    (1..=60).contains(&name.len()) && name.bytes().all(is_inner) && !name.starts_with('.') && !name.ends_with('.')
}
