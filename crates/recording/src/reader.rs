//! Unpacking a segment.

use crate::block::{Block, MAX_POINTS, MAX_RECORDS, MAX_SAMPLES, flag};
use crate::bytes::Bytes;
use crate::column;
use crate::error::SegmentError;
use crate::predict::{COLUMNS, Model, Order, Stamps};
use crate::stream::{MAX_STREAMS, StreamInfo};
use crate::writer::{CHECK_BYTES, FORMAT, HEAD_BYTES, LENGTH_AT, MAGIC, NO_STAMP_BIT, OLDEST};

const COLUMN_LENGTHS: SegmentError = SegmentError::Contradiction("its columns are of the wrong length");

/// Contents of a segment.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    /// Number of its format.
    pub format: u16,
    /// Names of the points.
    pub points: Vec<String>,
    /// The streams that were known when the segment was sealed.
    pub streams: Vec<StreamInfo>,
    /// The records.
    pub block: Block,
}

/// Unpacks segments one after the other, reusing its memory.
#[derive(Debug, Default)]
pub struct SegmentReader {
    segment: Segment,
    periods: Vec<i64>,
    streams: Vec<u32>,
    samples: Vec<i32>,
    flags: Vec<u32>,
    numbers: Vec<i64>,
    residuals: [Vec<i64>; COLUMNS],
}

impl SegmentReader {
    /// A reader.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last segment that was read.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Checks and unpacks a segment.
    ///
    /// # Errors
    /// Defect of the segment.
    pub fn read(&mut self, octets: &[u8]) -> Result<&Segment, SegmentError> {
        let body = checked(octets)?;
        let records = usize::try_from(u32::from_le_bytes(field(body, 12)?)).unwrap_or(usize::MAX);
        let samples = u64::from_le_bytes(field(body, 16)?);
        if records > MAX_RECORDS {
            return Err(SegmentError::Contradiction("more records than a segment can have"));
        }
        let mut bytes = Bytes(&body[HEAD_BYTES..]);
        self.segment.format = u16::from_le_bytes(field(body, 4)?);
        self.head(&mut bytes)?;
        self.order(&mut bytes, records)?;
        if self.segment.block.samples.iter().map(|n| u64::from(*n)).sum::<u64>() != samples {
            return Err(SegmentError::Contradiction(
                "its number of samples differs from its head",
            ));
        }
        for point in 0..self.segment.points.len() {
            self.stamps(&mut bytes, point)?;
        }
        if bytes.0.is_empty() {
            Ok(&self.segment)
        } else {
            Err(SegmentError::Contradiction("more columns than points"))
        }
    }

    /// Checks a segment and reads its points and streams, without its records.
    ///
    /// # Errors
    /// Defect of the segment.
    pub fn read_head(&mut self, octets: &[u8]) -> Result<&Segment, SegmentError> {
        let body = checked(octets)?;
        self.segment.format = u16::from_le_bytes(field(body, 4)?);
        self.head(&mut Bytes(&body[HEAD_BYTES..]))?;
        Ok(&self.segment)
    }

    fn head(&mut self, bytes: &mut Bytes<'_>) -> Result<(), SegmentError> {
        let segment = &mut self.segment;
        let points = usize::from(bytes.u8()?);
        if points > MAX_POINTS {
            return Err(SegmentError::Contradiction("more points than a recording can have"));
        }
        segment.points.clear();
        for _ in 0..points {
            segment.points.push(bytes.name()?);
        }
        segment.streams.clear();
        self.periods.clear();
        for _ in 0..bytes.u16()? {
            let stream = StreamInfo::read(bytes)?;
            let index = usize::from(stream.number);
            if index >= MAX_STREAMS {
                return Err(SegmentError::Contradiction("a stream number beyond the highest"));
            }
            if self.periods.len() <= index {
                self.periods.resize(index + 1, 0);
            }
            self.periods[index] = bytes.i64()?;
            segment.streams.push(stream);
        }
        segment.block.reset(points);
        Ok(())
    }

    fn order(&mut self, bytes: &mut Bytes<'_>, records: usize) -> Result<(), SegmentError> {
        column::read(bytes, records, &mut self.streams)?;
        column::read(bytes, records, &mut self.samples)?;
        column::read(bytes, records, &mut self.flags)?;
        column::read(bytes, records, &mut self.numbers)?;
        let mut order = Order::new();
        let block = &mut self.segment.block;
        let columns = self
            .streams
            .iter()
            .zip(&self.samples)
            .zip(&self.flags)
            .zip(&self.numbers);
        for (((stream, samples), flags), number) in columns {
            let stream = match *stream {
                0 => order.stream(),
                other => u16::try_from(other - 1).unwrap_or(u16::MAX),
            };
            if usize::from(stream) >= self.periods.len() {
                return Err(SegmentError::Contradiction("a record of an unknown stream"));
            }
            let (next, usual) = order.next(stream);
            let samples = u16::try_from(i32::from(usual).wrapping_add(*samples)).unwrap_or(0);
            if !(1..=MAX_SAMPLES).contains(&samples) {
                return Err(SegmentError::Contradiction(
                    "a record without samples, or with too many",
                ));
            }
            let number = next.wrapping_add(*number as u64);
            order.observe(stream, number, samples);
            block.stream.push(stream);
            block.samples.push(samples);
            block.flags.push(*flags as u8 & flag::KNOWN);
            block.number.push(number);
        }
        Ok(())
    }

    fn stamps(&mut self, bytes: &mut Bytes<'_>, point: usize) -> Result<(), SegmentError> {
        let model = Model::of_code(bytes.u8()?, point).ok_or(SegmentError::Contradiction("an unknown model"))?;
        let base = bytes.i64()?;
        let missing = 1 << (NO_STAMP_BIT + point as u32);
        let count = self.flags.iter().filter(|flags| **flags & missing == 0).count();
        let mut left = count;
        for column in &mut self.residuals {
            let values = bytes.u32()? as usize;
            left = left.checked_sub(values).ok_or(COLUMN_LENGTHS)?;
            column::read(bytes, values, column)?;
        }
        if left > 0 {
            return Err(COLUMN_LENGTHS);
        }
        let mut stamps = Stamps::new(model, base, &self.periods);
        let block = &mut self.segment.block;
        let (before, rest) = block.stamps.split_at_mut(point);
        let below = before.last().map(Vec::as_slice);
        let out = &mut rest[0];
        let mut residuals = self.residuals.each_ref().map(|column| column.iter());
        for (index, flags) in self.flags.iter().enumerate() {
            if flags & missing != 0 {
                out.push(Block::NO_STAMP);
                continue;
            }
            let (stream, number) = (block.stream[index], block.number[index]);
            let below = below.map_or(Block::NO_STAMP, |column| column[index]);
            let expected = stamps.expected(stream, number, below);
            let residual = *residuals[expected.column].next().ok_or(COLUMN_LENGTHS)?;
            let stamp = expected.stamp.wrapping_add(residual);
            stamps.observe(stream, number, stamp);
            out.push(stamp);
        }
        Ok(())
    }
}

/// The segment without its checksum, which is checked first.
fn checked(octets: &[u8]) -> Result<&[u8], SegmentError> {
    if !octets.starts_with(&MAGIC) {
        return Err(SegmentError::NotASegment);
    }
    match u16::from_le_bytes(field(octets, 4)?) {
        OLDEST..=FORMAT => {}
        other => return Err(SegmentError::Newer(other)),
    }
    let whole = u32::from_le_bytes(field(octets, LENGTH_AT)?) as usize;
    if octets.len() != whole || whole < HEAD_BYTES + CHECK_BYTES {
        let found = octets.len();
        return Err(SegmentError::Torn { found, whole });
    }
    let (body, check) = octets.split_at(whole - CHECK_BYTES);
    if check == crc32fast::hash(body).to_le_bytes() {
        Ok(body)
    } else {
        Err(SegmentError::Damaged)
    }
}

/// Reads a number of the head.
fn field<const N: usize>(octets: &[u8], at: usize) -> Result<[u8; N], SegmentError> {
    let torn = SegmentError::Torn {
        found: octets.len(),
        whole: HEAD_BYTES,
    };
    octets.get(at..at + N).and_then(|part| part.try_into().ok()).ok_or(torn)
}
