//! HdrHistogram's V2 encoding, and the checks that make damaged bytes harmless.

use super::{Counts, DIGITS, Histogram, index_of};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// First four bytes of an uncompressed V2 histogram.
const COOKIE: u32 = 0x1c84_9313;

/// Bytes before the counts: cookie, length of the counts, normalising offset, digits, lowest, highest, conversion ratio.
pub(super) const HEADER_BYTES: usize = 40;

/// More samples than any run can take (a thousand million a second for two years): a larger count means damage, and sums of it
/// would overflow.
const MOST_SAMPLES: u64 = 1 << 56;

/// Buckets that HdrHistogram has for these bounds: those below 2048 ns, and 1024 for each doubling until 60 s are covered.
const BUCKETS: usize = 27 * 1024;

/// Why bytes are not one of our histograms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// The bytes do not begin as an uncompressed HdrHistogram V2.
    #[error("not an HdrHistogram V2 encoding")]
    NotV2,
    /// An HdrHistogram with other bounds or another resolution.
    #[error("a histogram with other bounds than 1 ns to 60 s at 3 digits")]
    OtherBounds,
    /// The counts end early, are too long, or are not valid.
    #[error("a histogram whose counts are damaged: {0}")]
    Damaged(&'static str),
}

impl Histogram {
    /// The buckets as HdrHistogram V2, uncompressed: about two bytes for each bucket in use, so 1 to 6 KB. Exact, except that the
    /// smallest and largest sample are known only to their buckets.
    ///
    /// Uncompressed, because the header can then be checked before anything is allocated for it, and because it takes
    /// microseconds. Every HdrHistogram library reads it (cookie `0x1c849313`).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend(COOKIE.to_be_bytes());
        // Length of the counts, written at the end; normalising offset.
        bytes.extend([0; 8]);
        bytes.extend(u32::from(DIGITS).to_be_bytes());
        bytes.extend(Self::LOWEST_NS.to_be_bytes());
        bytes.extend(Self::HIGHEST_NS.to_be_bytes());
        bytes.extend(1f64.to_be_bytes());
        let mut next = 0;
        for (index, count) in self.counts.in_use() {
            push_empty(&mut bytes, index - next);
            push_zig_zag(&mut bytes, i64::try_from(count).expect("no run takes 2^63 samples"));
            next = index + 1;
        }
        if next == 0 {
            // HdrHistogram ends with the bucket of the maximum, which is 0 if there is none.
            push_empty(&mut bytes, 1);
        }
        let length = u32::try_from(bytes.len() - HEADER_BYTES).expect("no more than 9 octets for each bucket");
        bytes[4..8].copy_from_slice(&length.to_be_bytes());
        bytes
    }

    /// The buckets as HdrHistogram V2, compressed with deflate (cookie `0x1c849314`): the form that interval logs (`.hlog`)
    /// carry in base64.
    pub fn to_compressed_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let hdr: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut &self.to_bytes()[..])
            .expect("own bytes are HdrHistogram's");
        V2DeflateSerializer::new()
            .serialize(&hdr, &mut bytes)
            .expect("no run takes 2^63 samples, and a vector takes every octet");
        bytes
    }

    /// Reads the bytes that [`Histogram::to_bytes`] wrote. The extremes are then known only to their buckets' edges; see
    /// [`Histogram::with_extremes`].
    ///
    /// # Errors
    /// The bytes are not a complete uncompressed V2 histogram with these bounds. Damaged bytes are refused or give other counts;
    /// they never cause a panic, or an allocation larger than a histogram.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        Ok(Self::around(decoded(checked_header(bytes)?)?))
    }
}

/// The encoded counts of a histogram with these bounds.
fn checked_header(bytes: &[u8]) -> Result<&[u8], HistogramError> {
    let (header, counts) = bytes.split_at_checked(HEADER_BYTES).ok_or(HistogramError::NotV2)?;
    if u32_at(header, 0) != COOKIE {
        return Err(HistogramError::NotV2);
    }
    if u32_at(header, 4) as usize != counts.len() {
        return Err(HistogramError::Damaged("not as long as its header says"));
    }
    let bounds = (u32_at(header, 12), u64_at(header, 16), u64_at(header, 24));
    if bounds != (u32::from(DIGITS), Histogram::LOWEST_NS, Histogram::HIGHEST_NS) {
        return Err(HistogramError::OtherBounds);
    }
    Ok(counts)
}

/// Decodes the variable-length numbers, each a count or minus the number of empty buckets to skip.
fn decoded(mut octets: &[u8]) -> Result<Counts, HistogramError> {
    let mut counts = Counts::default();
    let mut index = 0;
    while !octets.is_empty() {
        let (number, rest) = zig_zag(octets).ok_or(HistogramError::Damaged("a number is cut off"))?;
        octets = rest;
        let skipped = match u64::try_from(number) {
            Ok(count) => {
                if count > 0 {
                    counts.add(kept_index(index), count);
                }
                1
            }
            Err(_) => usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX),
        };
        index = index.saturating_add(skipped);
        if index > BUCKETS {
            return Err(HistogramError::Damaged("the counts do not fit the bounds"));
        }
        if counts.total() > MOST_SAMPLES {
            return Err(HistogramError::Damaged("more samples than can be measured"));
        }
    }
    Ok(counts)
}

/// The bucket in which the samples of a bucket are kept: 0 as 1 ns, values above 60 s as 60 s.
fn kept_index(index: usize) -> usize {
    index.clamp(index_of(Histogram::LOWEST_NS), index_of(Histogram::HIGHEST_NS))
}

/// Writes the number of empty buckets, if any: one as the count 0, more as a negative number.
fn push_empty(bytes: &mut Vec<u8>, buckets: usize) {
    match buckets {
        0 => {}
        1 => push_zig_zag(bytes, 0),
        more => push_zig_zag(bytes, -i64::try_from(more).unwrap_or(i64::MAX)),
    }
}

/// Writes a number in the form that [`zig_zag`] reads.
fn push_zig_zag(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Reads one signed number in HdrHistogram's LEB128 of at most nine octets, and returns the bytes after it.
fn zig_zag(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut value = 0u64;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        let last = index == 8 || byte & 0x80 == 0;
        let bits = if index == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * index);
        if last {
            let magnitude = (value >> 1) as i64;
            return Some((magnitude ^ -((value & 1) as i64), &bytes[index + 1..]));
        }
    }
    None
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8]
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}
