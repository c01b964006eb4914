//! The configuration file.

use super::channel::Range;
use super::{Analog, Digital, FileType, Header, Revision, WriteError};
use crate::comtrade::config::Values;
use crate::comtrade::instant;
use std::io;

/// Writes the configuration. Lines end with carriage return and line feed, as in every edition of the standard.
pub(super) fn write(
    header: &Header,
    ranges: &[Range],
    factor: f64,
    config: &mut impl io::Write,
) -> Result<(), WriteError> {
    let (analog, digital) = (header.analog.len(), header.digital.len());
    let year = match header.revision {
        Revision::Y1999 => 1999,
        Revision::Y2013 => 2013,
    };
    write!(config, "{},{},{year}\r\n", header.station, header.device)?;
    write!(config, "{},{analog}A,{digital}D\r\n", analog + digital)?;
    for ((channel, range), number) in header.analog.iter().zip(ranges).zip(1..) {
        analog_line(number, channel, range, config)?;
    }
    for (channel, number) in header.digital.iter().zip(1..) {
        digital_line(number, channel, config)?;
    }
    write!(config, "{}\r\n{}\r\n", header.frequency_hz, header.rates.len())?;
    for rate in &header.rates {
        write!(config, "{},{}\r\n", rate.per_second, rate.last)?;
    }
    let digits = if header.revision == Revision::Y2013 { 9 } else { 6 };
    for instant in [header.start, header.trigger] {
        write!(config, "{}\r\n", instant::text(instant, digits))?;
    }
    write!(config, "{}\r\n{factor}\r\n", name(header.file_type))?;
    if header.revision == Revision::Y2013 {
        // Times are UTC, and so is the recorder's time zone. It is unknown whether the record has a leap second (3).
        write!(config, "0,0\r\n{:X},3\r\n", header.time_quality)?;
    }
    Ok(())
}

fn analog_line(number: usize, channel: &Analog, range: &Range, config: &mut impl io::Write) -> io::Result<()> {
    let Analog {
        name,
        phase,
        component,
        unit,
        primary,
        secondary,
        values,
        ..
    } = channel;
    let side = match values {
        Values::Primary => 'P',
        Values::Secondary => 'S',
    };
    let [gain, offset, most] = [range.gain, range.offset, range.most].map(real);
    write!(
        config,
        "{number},{name},{phase},{component},{unit},{gain},{offset},0,-{most},{most},{primary},{secondary},{side}\r\n"
    )
}

fn digital_line(number: usize, channel: &Digital, config: &mut impl io::Write) -> io::Result<()> {
    let Digital {
        name,
        phase,
        component,
        normal,
    } = channel;
    write!(config, "{number},{name},{phase},{component},{}\r\n", u8::from(*normal))
}

/// The shortest text that parses to the same number; with an exponent instead of many zeros.
fn real(number: f64) -> String {
    if number == 0.0 || (1e-4..1e10).contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

fn name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Ascii => "ASCII",
        FileType::Binary => "BINARY",
        FileType::Binary32 => "BINARY32",
        FileType::Float32 => "FLOAT32",
    }
}
