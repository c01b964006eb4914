//! Records of a recording, packed into a run's segments as they come (`docs/formats/recording.md`).

use recording::{Record, SegmentError, SegmentWriter};
use store::{RunWriter, SealedSegment, StoreError};

/// Records of a segment: what a packed column holds best.
const RECORDS: usize = 1 << 18;

/// Adds a record; a segment that it fills is written.
///
/// # Errors
/// A record that does not fit the segment, or a file that cannot be written.
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

/// Writes what there is as a segment; nothing where there is nothing.
///
/// # Errors
/// As [`push`].
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
