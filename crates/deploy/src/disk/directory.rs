//! Directories of FAT: entries of 32 bytes; entries before a file's own entry have its long name.

use std::collections::BTreeSet;

/// Bytes of an entry.
const ENTRY: u64 = 32;
/// Letters of a long name in one entry.
const LETTERS: usize = 13;
/// 1 January 1980, the first possible date: a constant, so that output is reproducible.
const DAY: u16 = 0x0021;

const FOLDER: u8 = 0x10;
const VOLUME: u8 = 0x08;
const LONG: u8 = 0x0f;

/// Properties of a file in its entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct DirectoryEntry {
    pub(super) is_folder: bool,
    /// Its first cluster; 0 for an empty file.
    pub(super) first: u32,
    pub(super) size: u32,
}

/// A directory under construction.
#[derive(Debug, Default)]
pub(super) struct Directory {
    octets: Vec<u8>,
    short: BTreeSet<[u8; 11]>,
}

impl Directory {
    /// Size in bytes of a directory with files of these names.
    pub(super) fn octets<'a>(names: impl Iterator<Item = &'a str>, is_root: bool) -> u64 {
        // Entries of the label, or of the folder itself and its parent; plus the end mark, which is a zero.
        let own = if is_root { 1 } else { 2 };
        let long = |name: &str| {
            if short(name).is_some() {
                0
            } else {
                name.len().div_ceil(LETTERS) as u64
            }
        };
        ENTRY * (own + 1 + names.map(|name| 1 + long(name)).sum::<u64>())
    }

    /// The root of a volume with this label.
    pub(super) fn root(label: &str) -> Self {
        let mut this = Self::default();
        let mut name = [b' '; 11];
        let letters = label.len().min(name.len());
        name[..letters].copy_from_slice(&label.as_bytes()[..letters]);
        this.entry(name, VOLUME, 0, 0);
        this
    }

    /// A directory that starts at cluster `own`, in the one that starts at `parent`; 0 for the root.
    pub(super) fn inner(own: u32, parent: u32) -> Self {
        let mut this = Self::default();
        this.entry(*b".          ", FOLDER, own, 0);
        this.entry(*b"..         ", FOLDER, parent, 0);
        this
    }

    /// Adds a file. Its name may have letters, digits, dots and hyphens.
    pub(super) fn add(&mut self, name: &str, entry: &DirectoryEntry) {
        let found = short(name).unwrap_or_else(|| {
            let short = self.free(name);
            self.long(name, &short);
            short
        });
        self.short.insert(found);
        let attributes = if entry.is_folder { FOLDER } else { 0 };
        self.entry(found, attributes, entry.first, entry.size);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.octets.resize(self.octets.len() + ENTRY as usize, 0);
        self.octets
    }

    fn entry(&mut self, name: [u8; 11], attributes: u8, first: u32, size: u32) {
        let [low, high] = [first as u16, (first >> 16) as u16];
        self.octets.extend(name);
        // Created, accessed and written on the first day at midnight.
        self.octets.extend([attributes, 0, 0, 0, 0]);
        self.octets
            .extend([DAY, DAY, high, 0, DAY, low].iter().flat_map(|word| word.to_le_bytes()));
        self.octets.extend(size.to_le_bytes());
    }

    /// An unused short name for a long one: `LIMITS~1.TOM`.
    fn free(&self, name: &str) -> [u8; 11] {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let upper = |text: &str, most: usize| -> Vec<u8> {
            let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
            letters.take(most).map(|c| c.to_ascii_uppercase()).collect()
        };
        let made = |number: usize| {
            let tail = format!("~{number}");
            let mut found = [b' '; 11];
            let stem = upper(stem, 8 - tail.len());
            found[..stem.len()].copy_from_slice(&stem);
            found[stem.len()..][..tail.len()].copy_from_slice(tail.as_bytes());
            let ending = upper(ending, 3);
            found[8..][..ending.len()].copy_from_slice(&ending);
            found
        };
        // There are enough numbers: our directories have a few files.
        let mut numbers = 1..=999_999;
        let free = numbers.find(|number| !self.short.contains(&made(*number)));
        made(free.unwrap_or(1))
    }

    /// The entries of a long name, with its last letters first.
    fn long(&mut self, name: &str, short: &[u8; 11]) {
        let sum = short.iter().fold(0_u8, |sum, c| sum.rotate_right(1).wrapping_add(*c));
        let letters: Vec<u16> = name.encode_utf16().collect();
        let pieces: Vec<&[u16]> = letters.chunks(LETTERS).collect();
        for (number, piece) in pieces.iter().enumerate().rev() {
            let last = if number + 1 == pieces.len() { 0x40 } else { 0 };
            let mut padded = piece.to_vec();
            if padded.len() < LETTERS {
                padded.push(0);
            }
            padded.resize(LETTERS, 0xffff);
            let octets: Vec<u8> = padded.iter().flat_map(|letter| letter.to_le_bytes()).collect();
            self.octets.push((number as u8 + 1) | last);
            self.octets.extend(&octets[..10]);
            self.octets.extend([LONG, 0, sum]);
            self.octets.extend(&octets[10..22]);
            self.octets.extend([0, 0]);
            self.octets.extend(&octets[22..]);
        }
    }
}

/// The short form of a name, if it needs no long one: eight capital letters or digits, and three after a dot.
fn short(name: &str) -> Option<[u8; 11]> {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_part = |part: &str, most: usize| {
        part.len() <= most
            && part
                .bytes()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || b"_-".contains(&c))
    };
    let fits = !stem.is_empty() && is_part(stem, 8) && is_part(ending, 3);
    fits.then(|| {
        let mut found = [b' '; 11];
        found[..stem.len()].copy_from_slice(stem.as_bytes());
        found[8..][..ending.len()].copy_from_slice(ending.as_bytes());
        found
    })
}
