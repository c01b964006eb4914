//! Packing records into a segment.

use crate::block::{Block, MAX_POINTS, MAX_RECORDS, MAX_SAMPLES, Record, flag};
use crate::bytes::put_name;
use crate::column;
use crate::error::SegmentError;
use crate::predict::{COLUMNS, Model, Order, Stamps};
use crate::stream::{MAX_STREAMS, StreamInfo};

/// First bytes of a segment.
pub(crate) const MAGIC: [u8; 4] = *b"TTSG";

/// Number of the format that this version writes.
pub const FORMAT: u16 = 2;

/// The oldest format that is read. It knows neither source nor svID of a stream, nor counts of streams whose rate was not known.
pub(crate) const OLDEST: u16 = 1;

/// Position of the length of the whole segment, after magic, format number and two octets of zeros.
pub(crate) const LENGTH_AT: usize = 8;

/// Number of octets of the head: magic, format, zeros, length, records, samples.
pub(crate) const HEAD_BYTES: usize = 24;

/// Number of octets of the checksum at the end.
pub(crate) const CHECK_BYTES: usize = 4;

/// Number of the bit in the flags' column for a missing stamp at the first point; the point's number is added to it.
pub(crate) const NO_STAMP_BIT: u32 = 8;

/// Number of records on which the models are tried.
const TRIED: usize = 8_192;

/// Residuals of a model, column by column.
type Residuals = [Vec<i64>; COLUMNS];

/// Collects records and packs them.
#[derive(Debug)]
pub struct SegmentWriter {
    points: Vec<String>,
    streams: Vec<Option<StreamInfo>>,
    block: Block,
    samples: u64,
}

impl SegmentWriter {
    /// A writer for recordings at these points, in the order a frame passes them; those beyond [`MAX_POINTS`] are left out.
    pub fn new(points: &[&str]) -> Self {
        let points: Vec<String> = points.iter().take(MAX_POINTS).map(|name| (*name).to_owned()).collect();
        Self {
            block: Block::new(points.len()),
            points,
            streams: Vec::new(),
            samples: 0,
        }
    }

    /// Adds a stream, or adds facts about it.
    ///
    /// # Errors
    /// Errors if its number is beyond [`MAX_STREAMS`].
    pub fn set_stream(&mut self, stream: StreamInfo) -> Result<(), SegmentError> {
        let index = usize::from(stream.number);
        if index >= MAX_STREAMS {
            return Err(SegmentError::NotPacked(format!("stream number {index}")));
        }
        if self.streams.len() <= index {
            self.streams.resize(index + 1, None);
        }
        self.streams[index] = Some(stream);
        Ok(())
    }

    /// Adds a record to the open segment.
    ///
    /// # Errors
    /// Errors if its stream is not known, it has no samples or more than [`MAX_SAMPLES`], or the segment is full ([`MAX_RECORDS`]).
    pub fn push(&mut self, record: &Record) -> Result<(), SegmentError> {
        if !self.knows(record.stream) {
            return Err(SegmentError::NotPacked(format!("stream number {}", record.stream)));
        }
        if self.block.len() >= MAX_RECORDS {
            return Err(SegmentError::NotPacked("the segment is full".into()));
        }
        if !(1..=MAX_SAMPLES).contains(&record.samples) || record.flags & !flag::KNOWN != 0 {
            return Err(SegmentError::NotPacked("an impossible record".into()));
        }
        self.block.push(record);
        self.samples += u64::from(record.samples);
        Ok(())
    }

    /// True if a stream was added.
    pub fn knows(&self, stream: u16) -> bool {
        matches!(self.streams.get(usize::from(stream)), Some(Some(_)))
    }

    /// Number of records in the open segment.
    pub fn records(&self) -> usize {
        self.block.len()
    }

    /// Number of samples in the open segment.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Earliest and latest stamp of the first point that has stamps, in the order of the records: those of the first and the last record.
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        let stamps = self.block.stamps.iter().flatten().filter(|ns| **ns != Block::NO_STAMP);
        stamps.fold(None, |span, ns| match span {
            None => Some((*ns, *ns)),
            Some((first, last)) => Some((first.min(*ns), last.max(*ns))),
        })
    }

    /// Packs and seals the segment, and begins the next one.
    ///
    /// # Errors
    /// Errors if the packer refuses; the records are then lost.
    pub fn seal(&mut self) -> Result<Vec<u8>, SegmentError> {
        let sealed = self.pack();
        self.block.reset(self.points.len());
        self.samples = 0;
        sealed
    }

    fn pack(&self) -> Result<Vec<u8>, SegmentError> {
        let periods = self.periods();
        let mut out = Vec::with_capacity(HEAD_BYTES + self.block.len() * 4);
        self.head(&mut out)?;
        self.order(&mut out)?;
        let mut residuals = [Vec::new(), Vec::new()];
        for point in 0..self.points.len() {
            let base = self.base(point);
            let model = self.best_model(point, base, &periods, &mut residuals);
            self.residuals(point, model, base, &periods, self.block.len(), &mut residuals);
            out.push(model.code());
            out.extend_from_slice(&base.to_le_bytes());
            for column in &residuals {
                // At most as many as records, whose number fits.
                out.extend_from_slice(&(column.len() as u32).to_le_bytes());
                column::write(&mut out, column)?;
            }
        }
        let whole =
            u32::try_from(out.len() + CHECK_BYTES).map_err(|_| SegmentError::NotPacked("longer than 4 GiB".into()))?;
        out[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&whole.to_le_bytes());
        let check = crc32fast::hash(&out);
        out.extend_from_slice(&check.to_le_bytes());
        Ok(out)
    }

    /// Head, names of the points, and the streams with their periods.
    fn head(&self, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let records =
            u32::try_from(self.block.len()).map_err(|_| SegmentError::NotPacked("too many records".into()))?;
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&[0; 2 + 4]);
        out.extend_from_slice(&records.to_le_bytes());
        out.extend_from_slice(&self.samples.to_le_bytes());
        out.push(self.points.len() as u8);
        for name in &self.points {
            put_name(out, name);
        }
        let periods = self.periods();
        let known = self.streams.iter().flatten();
        out.extend_from_slice(&(known.clone().count() as u16).to_le_bytes());
        for stream in known {
            stream.write(out);
            out.extend_from_slice(&periods[usize::from(stream.number)].to_le_bytes());
        }
        Ok(())
    }

    /// Streams, samples, flags and numbers.
    fn order(&self, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let block = &self.block;
        let mut order = Order::new();
        let (mut streams, mut samples) = (Vec::with_capacity(block.len()), Vec::with_capacity(block.len()));
        let (mut flags, mut numbers) = (Vec::with_capacity(block.len()), Vec::with_capacity(block.len()));
        for index in 0..block.len() {
            let (stream, number, count) = (block.stream[index], block.number[index], block.samples[index]);
            let (next, usual) = order.next(stream);
            let is_expected = stream == order.stream();
            streams.push(if is_expected { 0 } else { u32::from(stream) + 1 });
            samples.push(i32::from(count) - i32::from(usual));
            flags.push(u32::from(block.flags[index]) | self.missing(index));
            numbers.push(number.wrapping_sub(next) as i64);
            order.observe(stream, number, count);
        }
        column::write(out, &streams)?;
        column::write(out, &samples)?;
        column::write(out, &flags)?;
        column::write(out, &numbers)
    }

    fn missing(&self, index: usize) -> u32 {
        let columns = self.block.stamps.iter().enumerate();
        columns
            .filter(|(_, column)| column[index] == Block::NO_STAMP)
            .fold(0, |bits, (point, _)| bits | 1 << (NO_STAMP_BIT + point as u32))
    }

    /// Time between two samples of each stream in 2^-32 ns: from its rate, or from its own first and last stamp.
    fn periods(&self) -> Vec<i64> {
        let mut periods = vec![0; self.streams.len()];
        for stream in self.streams.iter().flatten() {
            if let Some(rate) = stream.rate.filter(|rate| *rate > 0) {
                periods[usize::from(stream.number)] = (1_000_000_000_i64 << 32) / i64::from(rate);
            }
        }
        let unknown = |stream: &u16| self.rate_of(*stream).is_none();
        let Some(stamps) = self.block.stamps.first() else {
            return periods;
        };
        let mut first: Vec<Option<(u64, i64)>> = vec![None; self.streams.len()];
        let mut last = first.clone();
        for (index, stream) in self
            .block
            .stream
            .iter()
            .enumerate()
            .filter(|(_, stream)| unknown(stream))
        {
            if stamps[index] != Block::NO_STAMP {
                let here = Some((self.block.number[index], stamps[index]));
                first[usize::from(*stream)] = first[usize::from(*stream)].or(here);
                last[usize::from(*stream)] = here;
            }
        }
        for (period, ends) in periods.iter_mut().zip(first.iter().zip(&last)) {
            if let (Some((from, begin)), Some((to, end))) = ends
                && to > from
            {
                let ns = (i128::from(*end) - i128::from(*begin)) << 32;
                *period = i64::try_from(ns / i128::from(to - from)).unwrap_or(0);
            }
        }
        periods
    }

    fn rate_of(&self, stream: u16) -> Option<u32> {
        self.streams
            .get(usize::from(stream))?
            .as_ref()?
            .rate
            .filter(|rate| *rate > 0)
    }

    fn base(&self, point: usize) -> i64 {
        let mut stamps = self.block.stamps[point].iter();
        stamps.find(|ns| **ns != Block::NO_STAMP).copied().unwrap_or(0)
    }

    /// The model with the fewest bits for the first records.
    fn best_model(&self, point: usize, base: i64, periods: &[i64], residuals: &mut Residuals) -> Model {
        let tried = self.block.len().min(TRIED);
        let mut best = (u64::MAX, Model::Grid(0));
        for model in Model::candidates(point) {
            self.residuals(point, model, base, periods, tried, residuals);
            let cost = residuals.iter().map(|column| spread_bits(column)).sum();
            if cost < best.0 {
                best = (cost, model);
            }
        }
        best.1
    }

    /// Computes the model's residuals of the first `count` records' stamps; records without a stamp are left out.
    fn residuals(&self, point: usize, model: Model, base: i64, periods: &[i64], count: usize, out: &mut Residuals) {
        let block = &self.block;
        let mut stamps = Stamps::new(model, base, periods);
        out.iter_mut().for_each(Vec::clear);
        for index in 0..count {
            let (stream, number, stamp) = (block.stream[index], block.number[index], block.stamps[point][index]);
            if stamp == Block::NO_STAMP {
                continue;
            }
            let below = match point {
                0 => Block::NO_STAMP,
                _ => block.stamps[point - 1][index],
            };
            let expected = stamps.expected(stream, number, below);
            out[expected.column].push(stamp.wrapping_sub(expected.stamp));
            stamps.observe(stream, number, stamp);
        }
    }
}

/// Estimated number of bits of the packed values: the entropy of their ranges, eight in an octave, and the bits within them.
fn spread_bits(values: &[i64]) -> u64 {
    let mut counts = vec![0_u32; 2 * 64 * 8];
    let mut within = 0_u64;
    for value in values {
        let size = value.unsigned_abs();
        let octave = 64 - size.leading_zeros();
        let inner = octave.saturating_sub(4);
        within += u64::from(inner);
        let part = (size >> inner) as usize & 7;
        let sign = usize::from(*value < 0) * 512;
        counts[sign + (octave as usize).min(63) * 8 + part] += 1;
    }
    let total = values.len().max(1) as f64;
    let ranges = counts.iter().filter(|count| **count > 0);
    let entropy: f64 = ranges
        .map(|count| f64::from(*count) * (total / f64::from(*count)).log2())
        .sum();
    within + entropy as u64
}
