//! The data: numbers, time stamps and states of every sample.

use super::config::{Config, FileType};
use super::error::Problem;
use super::lines::decode;
use super::states::States;
use units::{Refusal, refusal};

/// The samples as written.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// Time stamps in counts; `None` where missing.
    pub(super) stamps: Vec<Option<f64>>,
    /// Raw numbers of each analog channel; NaN if missing.
    pub(super) analog: Vec<Vec<f64>>,
    /// States of each digital channel.
    pub(super) digital: Vec<States>,
    /// Parts that were skipped.
    pub(super) warnings: Vec<String>,
}

impl Data {
    pub(super) fn parse(config: &Config, octets: &[u8]) -> Result<Self, Problem> {
        let mut data = Self {
            analog: vec![Vec::new(); config.analog.len()],
            digital: vec![States::default(); config.digital.len()],
            ..Self::default()
        };
        match config.file_type {
            FileType::Ascii => data.ascii(config, octets)?,
            FileType::Binary => data.binary(config, octets, 2, |raw| {
                let number = i16::from_le_bytes([raw[0], raw[1]]);
                // A missing value is 0x8000; in the 1991 standard 0xffff.
                let missing = if config.revision == 1991 { -1 } else { i16::MIN };
                (number != missing).then_some(f64::from(number))
            }),
            FileType::Binary32 => data.binary(config, octets, 4, |raw| {
                let number = i32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
                (number != i32::MIN).then_some(f64::from(number))
            }),
            FileType::Float32 => data.binary(config, octets, 4, |raw| {
                let number = f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
                number.is_finite().then_some(f64::from(number))
            }),
        }
        if data.stamps.is_empty() {
            return Err(Problem::whole("no sample in it: it is empty or of another record"));
        }
        let announced = config.rates.last().map_or(0, |rate| rate.last);
        if announced != data.stamps.len() as u64 {
            data.warnings.push(format!(
                "the file announces {announced} samples and contains {}",
                data.stamps.len()
            ));
        }
        Ok(data)
    }

    fn ascii(&mut self, config: &Config, octets: &[u8]) -> Result<(), Problem> {
        let text = decode(octets);
        let fields = 2 + self.analog.len() + self.digital.len();
        let mut odd = OddStates::default();
        for (line, number) in text.lines().zip(1u64..) {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{1a}');
            if line.is_empty() {
                continue;
            }
            let found = line.split(',').count();
            // An extra comma at the end is accepted.
            if found != fields && !(found == fields + 1 && line.ends_with(',')) {
                return Err(Problem::at(
                    number,
                    format!(
                        "{found} fields instead of {fields} (number, time, {} analog, {} digital)",
                        self.analog.len(),
                        self.digital.len()
                    ),
                ));
            }
            let mut fields = line.split(',').map(str::trim);
            let _sample_number = fields.next();
            self.ascii_sample(config, &mut fields)
                .map_err(|text| Problem::at(number, text))?;
            self.ascii_states(config, fields, number, &mut odd);
        }
        self.warnings.extend(odd.warning());
        Ok(())
    }

    fn ascii_sample<'a>(&mut self, config: &Config, fields: &mut impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
        let stamp = fields.next().unwrap_or_default();
        self.stamps.push(number(stamp, "the time stamp", false)?);
        for (values, channel) in self.analog.iter_mut().zip(&config.analog) {
            let field = fields.next().unwrap_or_default();
            let value = number(field, &channel.name, config.revision != 1991)?;
            values.push(value.unwrap_or(f64::NAN));
        }
        Ok(())
    }

    fn ascii_states<'a>(
        &mut self,
        config: &Config,
        fields: impl Iterator<Item = &'a str>,
        line: u64,
        odd: &mut OddStates,
    ) {
        let channels = self.digital.iter_mut().zip(&config.digital);
        for ((states, channel), field) in channels.zip(fields) {
            let state = match field {
                "1" => Some(true),
                "0" | "" => Some(false),
                other => {
                    odd.note(line, &channel.name, other);
                    None
                }
            };
            states.push(state);
        }
    }

    fn binary(&mut self, config: &Config, octets: &[u8], width: usize, value: impl Fn(&[u8]) -> Option<f64>) {
        let analog_octets = width * config.analog.len();
        let record = 8 + analog_octets + 2 * config.digital.len().div_ceil(16);
        for octets in octets.chunks_exact(record) {
            let (head, rest) = octets.split_at(8);
            let stamp = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
            self.stamps.push((stamp != u32::MAX).then_some(f64::from(stamp)));
            let (analog, states) = rest.split_at(analog_octets);
            for (values, raw) in self.analog.iter_mut().zip(analog.chunks_exact(width)) {
                values.push(value(raw).unwrap_or(f64::NAN));
            }
            // Little-endian words with the first channel in the lowest bit, which is the same order byte by byte.
            for (channel, place) in self.digital.iter_mut().enumerate() {
                place.push(Some(states[channel / 8] >> (channel % 8) & 1 == 1));
            }
        }
        let left = octets.len() % record;
        if left != 0 {
            self.warnings.push(format!(
                "the last {left} octets are less than a record of {record} octets; left out"
            ));
        }
    }
}

/// The number of a field; `None` if it is missing: empty or, if `marked`, 99999.
fn number(field: &str, what: &str, marked: bool) -> Result<Option<f64>, Refusal> {
    if field.is_empty() || (marked && field == "99999") {
        return Ok(None);
    }
    match field.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number)),
        Ok(_) => Ok(None),
        Err(_) => Err(refusal!("{what} is \"{field}\": expected a number")),
    }
}

/// States other than 0 and 1.
#[derive(Debug, Default)]
struct OddStates {
    count: u64,
    first: String,
}

impl OddStates {
    fn note(&mut self, line: u64, channel: &str, state: &str) {
        if self.count == 0 {
            self.first = format!("{channel} is \"{state}\" in line {line}");
        }
        self.count += 1;
    }

    fn warning(self) -> Option<String> {
        (self.count > 0).then(|| {
            format!(
                "{} states of digital channels are neither 0 nor 1 (the first: {}): they are not known",
                self.count, self.first
            )
        })
    }
}
