//! A FAT32 volume with initial files (Microsoft's specification of FAT, version 1.03): the only file system that every firmware reads and every
//! desktop computer writes.

use super::directory::{Directory, DirectoryEntry};
use super::{DiskError, SECTOR};

/// Sectors before the first table: parameters, free space, copies of both, and as much reserved space as other programs leave.
const RESERVED: u64 = 32;
/// Sector of the copy of the parameters.
const AGAIN: usize = 6;
/// The first cluster, which is the root's.
const FIRST: u32 = 2;
/// Mark of the last cluster of a chain.
const END: u32 = 0x0fff_ffff;
/// Volumes up to this size have clusters of one sector; larger ones, of eight.
const SMALL: u64 = 260 << 20;

/// A file or folder.
#[derive(Debug)]
pub(super) struct Node<'a> {
    name: String,
    what: What<'a>,
}

#[derive(Debug)]
enum What<'a> {
    File(&'a [u8]),
    Folder(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    pub(super) fn file(name: &str, content: &'a [u8]) -> Self {
        let (name, what) = (name.to_owned(), What::File(content));
        Self { name, what }
    }

    pub(super) fn folder(name: &str, nodes: Vec<Self>) -> Self {
        let (name, what) = (name.to_owned(), What::Folder(nodes));
        Self { name, what }
    }
}

/// A volume without its files.
#[derive(Debug, Clone)]
pub(super) struct Volume<'a> {
    /// At most 11 letters.
    pub(super) label: &'a str,
    /// Its serial number.
    pub(super) number: u32,
    pub(super) sectors: u64,
    /// Sectors of the disk before the volume.
    pub(super) hidden: u64,
}

impl Volume<'_> {
    /// Contents of the volume with these files in its root, with their positions; zeros elsewhere.
    ///
    /// # Errors
    /// The files do not fit.
    pub(super) fn pieces(&self, root: &[Node<'_>]) -> Result<Vec<(u64, Vec<u8>)>, DiskError> {
        let mut clusters = Clusters {
            octets: self.per_cluster() * SECTOR,
            chains: vec![0x0fff_fff8, END],
            data: Vec::new(),
        };
        // The root starts at the first cluster. Its size is computed first, so that its files can be placed after it.
        let root_length = clusters.needed(Directory::octets(root.iter().map(|node| node.name.as_str()), true));
        clusters.reserve(root_length);
        let mut directory = Directory::root(self.label);
        clusters.fill(&mut directory, root, 0)?;
        clusters.put_at(FIRST, &directory.finish());
        let used = clusters.chains.len() as u64 - u64::from(FIRST);
        if used > self.clusters() {
            let octets = used * clusters.octets;
            return Err(DiskError::TooLarge { octets });
        }
        let next = clusters.chains.len() as u32;
        let table: Vec<u8> = clusters.chains.iter().flat_map(|next| next.to_le_bytes()).collect();
        let second = RESERVED + self.table_sectors();
        let data_at = second + self.table_sectors();
        Ok(vec![
            (0, self.parameters(self.clusters() - used, next)),
            (RESERVED * SECTOR, table.clone()),
            (second * SECTOR, table),
            (data_at * SECTOR, clusters.data),
        ])
    }

    fn per_cluster(&self) -> u64 {
        if self.sectors * SECTOR <= SMALL { 1 } else { 8 }
    }

    /// Sectors of a table, by the formula of the specification, which may give a few more than needed.
    fn table_sectors(&self) -> u64 {
        let described = (256 * self.per_cluster() + 2) / 2;
        (self.sectors - RESERVED).div_ceil(described)
    }

    fn clusters(&self) -> u64 {
        (self.sectors - RESERVED - 2 * self.table_sectors()) / self.per_cluster()
    }

    /// The reserved sectors.
    fn parameters(&self, free: u64, next: u32) -> Vec<u8> {
        let sector = SECTOR as usize;
        let mut octets = vec![0; RESERVED as usize * sector];
        let (boot, space) = (self.boot(), free_space(free as u32, next));
        for at in [0, AGAIN] {
            octets[at * sector..][..sector].copy_from_slice(&boot);
            octets[(at + 1) * sector..][..sector].copy_from_slice(&space);
        }
        octets
    }

    fn boot(&self) -> Vec<u8> {
        let mut octets = vec![0xeb, 0x58, 0x90];
        octets.extend(b"MSWIN4.1");
        octets.extend((SECTOR as u16).to_le_bytes());
        octets.push(self.per_cluster() as u8);
        octets.extend((RESERVED as u16).to_le_bytes());
        // Two tables; no root of the older kind; the number of sectors is in a later field; a fixed disk.
        octets.extend([2, 0, 0, 0, 0, 0xf8, 0, 0]);
        // Sectors per track, heads.
        octets.extend([63, 0, 255, 0]);
        octets.extend((self.hidden as u32).to_le_bytes());
        octets.extend((self.sectors as u32).to_le_bytes());
        octets.extend((self.table_sectors() as u32).to_le_bytes());
        octets.extend([0; 4]);
        octets.extend(FIRST.to_le_bytes());
        octets.extend([1, 0, AGAIN as u8, 0]);
        octets.extend([0; 12]);
        octets.extend([0x80, 0, 0x29]);
        octets.extend(self.number.to_le_bytes());
        octets.extend(format!("{:11}", self.label).as_bytes());
        octets.extend(b"FAT32   ");
        // No boot program: if firmware runs this sector, it is told to try another disk.
        octets.extend([0xcd, 0x18]);
        signed(octets)
    }
}

/// Free space, and the first free cluster (FSInfo).
fn free_space(free: u32, next: u32) -> Vec<u8> {
    let mut octets = b"RRaA".to_vec();
    octets.resize(484, 0);
    octets.extend(b"rrAa");
    octets.extend(free.to_le_bytes());
    octets.extend(next.to_le_bytes());
    signed(octets)
}

fn signed(mut octets: Vec<u8>) -> Vec<u8> {
    octets.resize(510, 0);
    octets.extend([0x55, 0xaa]);
    octets
}

/// The used clusters, each with its successor.
struct Clusters {
    octets: u64,
    chains: Vec<u32>,
    data: Vec<u8>,
}

impl Clusters {
    fn needed(&self, octets: u64) -> u64 {
        octets.div_ceil(self.octets)
    }

    /// Reserves this many in a row; returns the first, or 0 for none.
    fn reserve(&mut self, count: u64) -> u32 {
        let first = self.chains.len() as u32;
        for number in 1..=count {
            self.chains
                .push(if number == count { END } else { first + number as u32 });
        }
        self.data.resize(self.data.len() + (count * self.octets) as usize, 0);
        if count == 0 { 0 } else { first }
    }

    fn put_at(&mut self, first: u32, content: &[u8]) {
        let at = (u64::from(first - FIRST) * self.octets) as usize;
        self.data[at..][..content.len()].copy_from_slice(content);
    }

    /// Writes nodes into the clusters, and their names into the directory, which starts at cluster `own`; 0 for the root.
    fn fill(&mut self, directory: &mut Directory, nodes: &[Node<'_>], own: u32) -> Result<(), DiskError> {
        for node in nodes {
            let (first, size) = match &node.what {
                What::File(content) => self.file(content)?,
                What::Folder(nodes) => (self.folder(nodes, own)?, 0),
            };
            let is_folder = matches!(node.what, What::Folder(_));
            directory.add(&node.name, &DirectoryEntry { is_folder, first, size });
        }
        Ok(())
    }

    fn file(&mut self, content: &[u8]) -> Result<(u32, u32), DiskError> {
        let octets = content.len() as u64;
        let size = u32::try_from(octets).map_err(|_| DiskError::TooLarge { octets })?;
        let first = self.reserve(self.needed(octets));
        if first > 0 {
            self.put_at(first, content);
        }
        Ok((first, size))
    }

    fn folder(&mut self, nodes: &[Node<'_>], parent: u32) -> Result<u32, DiskError> {
        let octets = Directory::octets(nodes.iter().map(|node| node.name.as_str()), false);
        let first = self.reserve(self.needed(octets));
        let mut directory = Directory::inner(first, parent);
        self.fill(&mut directory, nodes, first)?;
        self.put_at(first, &directory.finish());
        Ok(first)
    }
}
