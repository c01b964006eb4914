//! The configuration: the recorded channels, and the layout of the data.

use super::error::Problem;
use super::instant::{self, Instant};
use super::lines::{Lines, TextLine};
use units::Realtime;

/// Format of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// Text, one line a sample.
    Ascii,
    /// 16-bit integers.
    Binary,
    /// 32-bit integers (2013).
    Binary32,
    /// 32-bit floating point (2013).
    Float32,
}

/// Side of the transformer that a channel's values refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Primary.
    Primary,
    /// Secondary.
    Secondary,
}

/// An analog channel.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalogChannel {
    /// Number as written; some recorders leave it empty. Otherwise the position in the record, from 1.
    pub number: u64,
    /// Name.
    pub name: String,
    /// Phase, as written: often `A`, `B`, `C`, `N` or nothing.
    pub phase: String,
    /// Monitored component.
    pub component: String,
    /// Unit, as written: `A`, `kV`, …
    pub unit: String,
    /// A value in `unit` is `gain` times the raw number plus `offset`.
    pub gain: f64,
    /// See `gain`; in `unit`.
    pub offset: f64,
    /// The channel was sampled this much after the sample's instant, in microseconds.
    pub skew_us: f64,
    /// Primary side of the transformer's ratio.
    pub primary: f64,
    /// Secondary side of the transformer's ratio.
    pub secondary: f64,
    /// Side that the values refer to.
    pub values: Values,
}

/// A digital channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigitalChannel {
    /// Name.
    pub name: String,
    /// Normal state.
    pub normal: bool,
}

/// A range of samples at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Samples per second; 0 if the time stamps determine the times.
    pub per_second: f64,
    /// Number of the range's last sample, from 1.
    pub last: u64,
}

/// A whole configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Station.
    pub station: String,
    /// Recording device.
    pub device: String,
    /// Year of the standard: 1991, 1999 or 2013.
    pub revision: u16,
    /// Analog channels, in the order of the data.
    pub analog: Vec<AnalogChannel>,
    /// Digital channels, in the order of the data.
    pub digital: Vec<DigitalChannel>,
    /// Nominal frequency in Hz, as written: it may be wrong. `None` if it is missing.
    pub frequency_hz: Option<f64>,
    /// Rates; at least one.
    pub rates: Vec<Rate>,
    /// Time of the first sample by the recorder's clock, without its time zone; `None` if unreadable.
    pub start: Option<Realtime>,
    /// Time of the trigger in nanoseconds after the first sample; `None` if either time is unreadable.
    pub trigger_ns: Option<i64>,
    /// Format of the data.
    pub file_type: FileType,
    /// Nanoseconds of one count of a time stamp.
    pub stamp_ns: f64,
    /// Parts that were skipped.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the text of a configuration.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let mut lines = Lines::new(text);
        let mut warnings = Vec::new();
        let head = lines.expect("the station's line")?;
        let revision = revision(&head, &mut warnings);
        let (analog_count, digital_count) = counts(&lines.expect("the number of channels")?, &mut warnings)?;
        let analog = channels(&mut lines, analog_count, "an analog channel", analog)?;
        let digital = channels(&mut lines, digital_count, "a digital channel", |line, _| digital(line))?;
        let frequency_hz = frequency(&lines.expect("the nominal frequency")?)?;
        let rates = rates(&mut lines)?;
        let start = time(&mut lines, "the start time", revision, &mut warnings)?;
        let trigger = time(&mut lines, "the trigger time", revision, &mut warnings)?;
        let file_type = file_type(&lines.expect("the file type")?)?;
        let multiplier = multiplier(lines.next())?;
        let nanoseconds = [start, trigger].iter().flatten().any(|instant| instant.nanoseconds);
        Ok(Self {
            station: head.text(0).to_owned(),
            device: head.text(1).to_owned(),
            revision,
            analog,
            digital,
            frequency_hz,
            rates,
            start: start.and_then(Instant::realtime),
            trigger_ns: start
                .zip(trigger)
                .and_then(|(start, trigger)| i64::try_from(trigger.ns - start.ns).ok()),
            file_type,
            stamp_ns: multiplier * if nanoseconds { 1.0 } else { 1_000.0 },
            warnings,
        })
    }
}

fn revision(head: &TextLine<'_>, warnings: &mut Vec<String>) -> u16 {
    match head.text(2) {
        "" | "1991" => 1991,
        "1999" | "2001" => 1999,
        "2013" => 2013,
        other => {
            warnings.push(format!("revision \"{other}\" is not known; read as 1999"));
            1999
        }
    }
}

/// Numbers of analog and digital channels from `39,26A,13D`.
fn counts(line: &TextLine<'_>, warnings: &mut Vec<String>) -> Result<(u64, u64), Problem> {
    let (mut analog, mut digital) = (0, 0);
    for field in line.fields.iter().skip(1).filter(|field| !field.is_empty()) {
        let lower = field.to_ascii_lowercase();
        let (count, place) = match (lower.strip_suffix('a'), lower.strip_suffix('d')) {
            (Some(count), _) => (count, &mut analog),
            (_, Some(count)) => (count, &mut digital),
            _ => {
                return Err(line.problem(format!(
                    "\"{field}\" is not a number of channels: write it as 26A or 13D"
                )));
            }
        };
        *place = count.trim().parse().map_err(|_| {
            line.problem(format!(
                "\"{field}\" is not a number of channels: write it as 26A or 13D"
            ))
        })?;
    }
    let total = line.count(0, "the number of channels")?;
    if Some(total) != u64::checked_add(analog, digital) {
        warnings.push(format!(
            "{total} channels are announced, {analog} analog and {digital} digital ones described"
        ));
    }
    Ok((analog, digital))
}

fn channels<T>(
    lines: &mut Lines<'_>,
    count: u64,
    what: &str,
    read: impl Fn(&TextLine<'_>, u64) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    // The length of the file limits the number: no memory is reserved for an unchecked count.
    let mut channels = Vec::new();
    for number in 1..=count {
        let line = lines.expect(&format!("{what}, number {number} of {count}"))?;
        channels.push(read(&line, number)?);
    }
    Ok(channels)
}

/// Number of fields of an analog channel up to its multiplier and offset: a shorter line is not an analog channel.
const FEWEST_FIELDS: usize = 7;

fn analog(line: &TextLine<'_>, place: u64) -> Result<AnalogChannel, Problem> {
    if line.fields.len() < FEWEST_FIELDS {
        return Err(line.problem(format!(
            "{} fields: an analog channel has 10 (1991) or 13: is the number of channels in line 2 right?",
            line.fields.len()
        )));
    }
    Ok(AnalogChannel {
        number: line.text(0).parse().unwrap_or(place),
        name: line.text(1).to_owned(),
        phase: line.text(2).to_owned(),
        component: line.text(3).to_owned(),
        unit: line.text(4).to_owned(),
        gain: line.number_or(5, "the multiplier a", 1.0)?,
        offset: line.number_or(6, "the offset b", 0.0)?,
        skew_us: line.number_or(7, "the skew", 0.0)?,
        primary: line.number_or(10, "the primary side of the ratio", 1.0)?,
        secondary: line.number_or(11, "the secondary side of the ratio", 1.0)?,
        values: match line.text(12) {
            "S" | "s" => Values::Secondary,
            // Files of 1991 do not have the side; their values count as primary.
            "P" | "p" | "" => Values::Primary,
            other => return Err(line.problem(format!("\"{other}\" is neither P (primary) nor S (secondary)"))),
        },
    })
}

fn digital(line: &TextLine<'_>) -> Result<DigitalChannel, Problem> {
    Ok(DigitalChannel {
        name: line.text(1).to_owned(),
        // The last field in every revision; in 1991 without phase and component before it.
        normal: line.fields.len() > 2 && line.fields.last() == Some(&"1"),
    })
}

fn frequency(line: &TextLine<'_>) -> Result<Option<f64>, Problem> {
    if line.text(0).is_empty() {
        return Ok(None);
    }
    let hz = line.required(0, "the nominal frequency")?;
    Ok(Some(hz).filter(|hz| *hz > 0.0))
}

fn rates(lines: &mut Lines<'_>) -> Result<Vec<Rate>, Problem> {
    let count = lines.expect("the number of rates")?.count(0, "the number of rates")?;
    let mut rates = Vec::new();
    for number in 1..=count.max(1) {
        let line = lines.expect(&format!("rate {number}"))?;
        let per_second = line.required(0, "the sampling rate")?;
        let last = line.count(1, "the number of the last sample")?;
        let before = rates.last().map_or(0, |rate: &Rate| rate.last);
        if per_second < 0.0 || last < before {
            return Err(line.problem(format!(
                "{per_second} samples a second up to sample {last}, after sample {before}: neither may go backwards"
            )));
        }
        // In the standard, a number of rates of 0 means that the time stamps determine the times.
        let per_second = if count == 0 { 0.0 } else { per_second };
        rates.push(Rate { per_second, last });
    }
    Ok(rates)
}

fn time(
    lines: &mut Lines<'_>,
    what: &str,
    revision: u16,
    warnings: &mut Vec<String>,
) -> Result<Option<Instant>, Problem> {
    let line = lines.expect(what)?;
    let instant = instant::parse(line.text(0), line.text(1), revision == 1991);
    if instant.is_none() {
        warnings.push(format!(
            "line {}: {what} \"{}\" is not readable",
            line.number,
            line.fields.join(",")
        ));
    }
    Ok(instant)
}

fn file_type(line: &TextLine<'_>) -> Result<FileType, Problem> {
    file_type_named(line.text(0)).ok_or_else(|| {
        line.problem(format!(
            "file type \"{}\" is not known: expected ASCII, BINARY, BINARY32 or FLOAT32",
            line.text(0)
        ))
    })
}

pub(super) fn file_type_named(name: &str) -> Option<FileType> {
    match name.to_ascii_uppercase().as_str() {
        "ASCII" => Some(FileType::Ascii),
        "BINARY" => Some(FileType::Binary),
        "BINARY32" => Some(FileType::Binary32),
        "FLOAT32" => Some(FileType::Float32),
        _ => None,
    }
}

/// The factor of the time stamps; files of 1991, and some later ones, lack it.
fn multiplier(line: Option<TextLine<'_>>) -> Result<f64, Problem> {
    match line.filter(|line| !line.is_empty()) {
        None => Ok(1.0),
        Some(line) => {
            let factor = line.required(0, "the factor of the time stamps")?;
            if factor > 0.0 {
                return Ok(factor);
            }
            Err(line.problem(format!("the factor of the time stamps is {factor}: it must be above 0")))
        }
    }
}
