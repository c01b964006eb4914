//! The data file.

use super::channel::Range;
use super::raw::{put, put_states, raw};
use super::{FileType, Header, Revision, Sample, WriteError, Written, refuse};
use crate::comtrade::record::instants_s;
use std::io;

/// The unit of the time stamps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Counts per second before the factor.
    per_second: f64,
    /// The factor by which the configuration multiplies a count.
    pub(super) factor: f64,
}

/// The largest time stamp; the next larger number means missing.
const MOST_STAMP: f64 = u32::MAX as f64 - 1.0;

impl Clock {
    /// Microseconds, in the 2013 revision nanoseconds; for a long record multiplied by a power of
    /// ten, so that stamps fit.
    pub(super) fn of(header: &Header) -> Self {
        let per_second = match header.revision {
            Revision::Y1999 => 1e6,
            Revision::Y2013 => 1e9,
        };
        let last = usize::try_from(header.samples() - 1).unwrap_or(usize::MAX);
        let length = instants_s(&header.rates).nth(last).unwrap_or(0.0) * per_second;
        let mut factor = 1.0;
        while length / factor > MOST_STAMP {
            factor *= 10.0;
        }
        Self { per_second, factor }
    }

    fn stamp(self, seconds: f64) -> u32 {
        (seconds * self.per_second / self.factor).round() as u32
    }
}

pub(super) fn write<'a>(
    header: &Header,
    ranges: &[Range],
    clock: Clock,
    samples: impl Iterator<Item = Sample<'a>>,
    data: &mut impl io::Write,
) -> Result<Written, WriteError> {
    let mut written = Written::default();
    let mut octets = Vec::new();
    for (sample, seconds) in samples.zip(instants_s(&header.rates)) {
        written.samples += 1;
        check(header, &sample, written.samples)?;
        octets.clear();
        let head = (written.samples as u32, clock.stamp(seconds));
        match header.file_type {
            FileType::Ascii => ascii(head, &sample, ranges, &mut octets, &mut written),
            file_type => binary(head, &sample, ranges, file_type, &mut octets, &mut written),
        }
        data.write_all(&octets)?;
    }
    if written.samples != header.samples() {
        return refuse(format!(
            "{} samples came, but the rates describe {}: correct the last sample of the last rate",
            written.samples,
            header.samples()
        ));
    }
    Ok(written)
}

fn check(header: &Header, sample: &Sample<'_>, number: u64) -> Result<(), WriteError> {
    let (analog, digital) = (sample.analog.len(), sample.digital.len());
    if (analog, digital) != (header.analog.len(), header.digital.len()) {
        return refuse(format!(
            "sample {number} has {analog} values and {digital} states: the header has {} and {} channels",
            header.analog.len(),
            header.digital.len()
        ));
    }
    if number > header.samples() {
        return refuse(format!("more samples came than the {} of the rates", header.samples()));
    }
    Ok(())
}

fn ascii(head: (u32, u32), sample: &Sample<'_>, ranges: &[Range], octets: &mut Vec<u8>, written: &mut Written) {
    octets.extend(format!("{},{}", head.0, head.1).into_bytes());
    for (value, range) in sample.analog.iter().zip(ranges) {
        octets.push(b',');
        put(raw(*value, range, FileType::Ascii, written), FileType::Ascii, octets);
    }
    for state in sample.digital {
        octets.extend([b',', b'0' + u8::from(*state)]);
    }
    octets.extend(b"\r\n");
}

fn binary(
    head: (u32, u32),
    sample: &Sample<'_>,
    ranges: &[Range],
    file_type: FileType,
    octets: &mut Vec<u8>,
    written: &mut Written,
) {
    octets.extend(head.0.to_le_bytes());
    octets.extend(head.1.to_le_bytes());
    for (value, range) in sample.analog.iter().zip(ranges) {
        put(raw(*value, range, file_type, written), file_type, octets);
    }
    put_states(sample.digital, octets);
}
