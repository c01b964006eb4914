//! The partition table (UEFI specification 2.10, chapter 5): a protective record for programs that only know the older table, the table at the start
//! of the disk, and a copy at its end.

use super::SECTOR;

/// Number of entries of a table, and bytes of each: the minimum of the specification.
const ENTRIES: u32 = 128;
const ENTRY: u32 = 128;
/// Sectors of all entries.
const ENTRY_SECTORS: u64 = (ENTRIES * ENTRY) as u64 / SECTOR;
/// Octets of a header.
const HEADER: u32 = 92;

/// Purposes of partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartitionKind {
    /// A program that the firmware starts: C12A7328-F81F-11D2-BA4B-00A0C93EC93B.
    System,
    /// Files for all systems: EBD0A0A2-B9E5-4433-87C0-68B6B72699C7. Windows gives a drive letter to no other kind.
    Data,
}

impl PartitionKind {
    fn uuid(self) -> [u8; 16] {
        let (first, second) = match self {
            Self::System => (0xc12a_7328_f81f_11d2, 0xba4b_00a0_c93e_c93b),
            Self::Data => (0xebd0_a0a2_b9e5_4433, 0x87c0_68b6_b726_99c7),
        };
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&u64::to_be_bytes(first));
        octets[8..].copy_from_slice(&u64::to_be_bytes(second));
        // The first three groups are little-endian numbers.
        octets[..4].reverse();
        octets[4..6].reverse();
        octets[6..8].reverse();
        octets
    }
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) kind: PartitionKind,
    pub(super) uuid: [u8; 16],
    /// At most 36 letters.
    pub(super) name: String,
    /// Its first sector.
    pub(super) first: u64,
    /// Its last sector.
    pub(super) last: u64,
}

/// The tables of a disk with this many sectors, with their positions in bytes.
pub(super) fn table(sectors: u64, uuid: [u8; 16], partitions: &[Partition]) -> Vec<(u64, Vec<u8>)> {
    let mut entries: Vec<u8> = partitions.iter().flat_map(entry).collect();
    entries.resize((ENTRIES * ENTRY) as usize, 0);
    let last = sectors - 1;
    let header = |own: u64, other: u64, entries_at: u64| {
        let mut octets = b"EFI PART".to_vec();
        let put = |octets: &mut Vec<u8>, value: u64| octets.extend(value.to_le_bytes());
        octets.extend([0, 0, 1, 0]);
        octets.extend(HEADER.to_le_bytes());
        // Its own checksum, which is computed with this field as zero, and a reserved word.
        octets.extend([0; 8]);
        put(&mut octets, own);
        put(&mut octets, other);
        put(&mut octets, 2 + ENTRY_SECTORS);
        put(&mut octets, last - 1 - ENTRY_SECTORS);
        octets.extend(uuid);
        put(&mut octets, entries_at);
        octets.extend(ENTRIES.to_le_bytes());
        octets.extend(ENTRY.to_le_bytes());
        octets.extend(crc32fast::hash(&entries).to_le_bytes());
        let sum = crc32fast::hash(&octets);
        octets[16..20].copy_from_slice(&sum.to_le_bytes());
        octets.resize(SECTOR as usize, 0);
        octets
    };
    let second_entries = last - ENTRY_SECTORS;
    let mut begin = protective(sectors);
    begin.extend(header(1, last, 2));
    begin.extend(&entries);
    let second = header(last, 1, second_entries);
    entries.extend(second);
    vec![(0, begin), (second_entries * SECTOR, entries)]
}

fn entry(partition: &Partition) -> Vec<u8> {
    let mut octets = partition.kind.uuid().to_vec();
    octets.extend(partition.uuid);
    octets.extend(partition.first.to_le_bytes());
    octets.extend(partition.last.to_le_bytes());
    octets.extend([0; 8]);
    octets.extend(partition.name.encode_utf16().take(36).flat_map(u16::to_le_bytes));
    octets.resize(ENTRY as usize, 0);
    octets
}

/// A table of the older kind that marks the whole disk as used (5.2.3).
fn protective(sectors: u64) -> Vec<u8> {
    let mut octets = vec![0; 446];
    let length = u32::try_from(sectors - 1).unwrap_or(u32::MAX);
    // Not bootable; from cylinder 0, head 0, sector 2; type 0xee; to the largest position that cylinders can express.
    octets.extend([0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff]);
    octets.extend(1_u32.to_le_bytes());
    octets.extend(length.to_le_bytes());
    octets.resize(510, 0);
    octets.extend([0x55, 0xaa]);
    octets
}
