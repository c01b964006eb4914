//! Packs the records of a recording into a run's segments as they arrive (`docs/formats/recording.md`).

use recording::{Record, SegmentError, SegmentWriter};
use store::{RunWriter, SealedSegment, StoreError};

/// Records of a segment: the number that a packed column compresses best.
const RECORDS: usize = 1 << 18;

/// Adds a record, and writes the segment if it is full.
///
/// # Errors
/// The record does not fit the segment, or the file cannot be written.
pub fn push<E>(segment: &mut SegmentWriter, record: &Record, run: &mut RunWriter) -> Result<(), E>
where
    E: From<SegmentError> + From<StoreError>,
{
    segment.push(record)?;
    match segment.records() >= RECORDS {
        true => seal(segment, run),
        false => Ok(()),
    }
}

/// Writes the present records as a segment, if there are any.
///
/// # Errors
/// Same as [`push`].
pub fn seal<E>(segment: &mut SegmentWriter, run: &mut RunWriter) -> Result<(), E>
where
    E: From<SegmentError> + From<StoreError>,
{
    if segment.records() == 0 {
        return Ok(());
    }
    let (first_ns, last_ns) = segment.span_ns().unwrap_or_default();
    let samples = segment.samples();
    let octets = segment.seal()?;
    Ok(run.add_segment(&SealedSegment {
        first_ns,
        last_ns,
        samples,
        octets,
    })?)
}
