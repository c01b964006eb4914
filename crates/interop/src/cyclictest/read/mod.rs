//! Reading: detects the format of a file, and checks the rules that are common to all formats.

mod json;
mod lines;
mod repair;
mod status;
mod text;

use super::{Bucket, CyclictestError, Measurement, Thread};

/// Reads a file of cyclictest: histogram text of any version, complete standard output or `--histfile`; status lines; or `--json`, even as part of
/// standard output. `bucket` is the unit of a text, which does not state it; the default is microseconds.
///
/// # Errors
/// The text is not such a file, is cut off, or contradicts itself. The message has the line or the thread.
pub fn read(octets: &[u8], bucket: Option<Bucket>) -> Result<Measurement, CyclictestError> {
    // Command lines and host names may contain any bytes.
    let text = String::from_utf8_lossy(octets);
    if text.trim().is_empty() {
        return Err(CyclictestError::Empty);
    }
    let measurement = match json::find(&text) {
        Some(json) => json::read(json, bucket)?,
        None => text::read(&text, bucket.unwrap_or(Bucket::Microsecond))?,
    };
    for thread in &measurement.threads {
        check(&measurement, thread)?;
    }
    Ok(measurement)
}

/// Checks that the values of a thread can be those of one measurement.
fn check(measurement: &Measurement, thread: &Thread) -> Result<(), CyclictestError> {
    let wrong = |what: String| {
        Err(CyclictestError::Thread {
            thread: thread.number,
            what,
        })
    };
    let (Some(min), Some(max)) = (thread.min, thread.max) else {
        return match thread.buckets.first() {
            Some((k, count)) => wrong(format!("no cycles, but {count} samples in bucket {k}")),
            None => Ok(()),
        };
    };
    if min > max {
        return wrong(format!("the smallest latency, {min}, is above the largest, {max}"));
    }
    let (first, last) = (thread.buckets.first(), thread.buckets.last());
    if let Some((k, _)) = first.filter(|(k, _)| *k < min) {
        return wrong(format!("samples in bucket {k}, below the smallest latency, {min}"));
    }
    if let Some((k, _)) = last.filter(|(k, _)| *k > max) {
        return wrong(format!("samples in bucket {k}, above the largest latency, {max}"));
    }
    let (overflows, least) = (thread.overflows(), measurement.least_overflow(thread));
    if overflows > 0 && max < least {
        return wrong(format!(
            "{overflows} samples are in no bucket, but the largest latency, {max}, is below {least}, where the buckets end"
        ));
    }
    Ok(())
}
