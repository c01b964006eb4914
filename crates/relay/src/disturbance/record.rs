//! A complete record, and the way it is written.

use super::board::watched;
use crate::config::{CHANNELS, Config};
use std::io::Write;
use units::Realtime;
use waveform::comtrade::{
    Analog, Digital, FileType, Header, Revision, Sample, Scale, Values, WriteError, Written, write,
};

/// All channels and states at one sampling instant.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    /// Values; NaN if the sample is missing.
    pub(super) analog: Box<[f64]>,
    pub(super) digital: Box<[bool]>,
}

/// A disturbance record.
#[derive(Debug, Clone)]
pub struct Disturbance {
    pub(super) header: Header,
    pub(super) moments: Vec<Moment>,
    /// Its cause, by name: `trip:Q0`.
    pub trigger: String,
    /// Number of samples of streams that did not come in time.
    pub missing: u64,
    /// Number of sampling instants that were lost because the ring was full.
    pub unrecorded: u64,
}

impl Disturbance {
    /// Instant of the trip decision, UTC: that of the last sample that the task processed.
    #[must_use]
    pub fn at(&self) -> Realtime {
        self.header.trigger
    }

    /// Instant of the first sample, UTC.
    #[must_use]
    pub fn start(&self) -> Realtime {
        self.header.start
    }

    /// Number of sampling instants.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.header.samples()
    }

    /// Writes a COMTRADE record of 2013: the configuration and the data, for buffered writers.
    ///
    /// # Errors
    /// A writer reports an error.
    pub fn write(&self, config: &mut impl Write, data: &mut impl Write) -> Result<Written, WriteError> {
        let samples = self.moments.iter().map(|moment| Sample {
            analog: &moment.analog,
            digital: &moment.digital,
        });
        write(&self.header, samples, config, data)
    }
}

/// The recorded channels, in the order of the record: each with its stream and channel.
pub(super) fn channels(config: &Config) -> Vec<(usize, usize)> {
    let streams = config.streams.iter().enumerate();
    let of = |(number, stream): (usize, &crate::config::Stream)| {
        let order = stream.order;
        (0..CHANNELS.len())
            .filter(move |channel| order.has(*channel))
            .map(move |channel| (number, channel))
    };
    streams.flat_map(of).collect()
}

/// Header of a relay's records, still without instants and samples.
pub(super) fn header(config: &Config) -> Header {
    let epoch = Realtime::from_ns(0);
    Header {
        station: field(&config.name),
        device: "triptime relay".to_owned(),
        // This revision, unlike the others, has instants in ns, the quality of the clock, and 32-bit whole numbers.
        revision: Revision::Y2013,
        file_type: FileType::Binary32,
        analog: channels(config)
            .into_iter()
            .map(|(stream, channel)| analog(&config.streams[stream].name, channel))
            .collect(),
        digital: digital(config),
        frequency_hz: config.frequency_hz,
        rates: Vec::new(),
        start: epoch,
        trigger: epoch,
        time_quality: 15,
    }
}

/// A channel with the resolution of IEC 61850-9-2LE, so that the record has the same numbers as the samples.
fn analog(stream: &str, channel: usize) -> Analog {
    let (unit, gain) = if channel < 4 { ("A", 0.001) } else { ("V", 0.01) };
    Analog {
        name: field(&format!("{stream} {}", CHANNELS[channel])),
        phase: ["A", "B", "C", "N"][channel % 4].to_owned(),
        component: field(stream),
        unit: unit.to_owned(),
        scale: Scale::Given { gain, offset: 0.0 },
        primary: 1.0,
        secondary: 1.0,
        values: Values::Primary,
    }
}

/// Names of the digital channels: states of tasks, then states of samples (missing, unused because of their quality, not
/// recorded).
fn digital(config: &Config) -> Vec<Digital> {
    let states = watched(config).into_iter().map(|(_, name)| name);
    let each = |what: &'static str| {
        config
            .streams
            .iter()
            .map(move |stream| format!("{what}:{}", stream.name))
    };
    let names = states.chain(each("missing")).chain(each("bad"));
    let names = names.chain(std::iter::once("unrecorded".to_owned()));
    let channel = |name: String| Digital {
        name: field(&name),
        phase: String::new(),
        component: String::new(),
        normal: false,
    };
    names.map(channel).collect()
}

/// Maximum length of a field, in bytes.
const MOST: usize = 64;

/// Makes a text valid as a field of a configuration: without commas and control characters, and not too long.
fn field(text: &str) -> String {
    let allowed = |letter: char| {
        if letter == ',' || letter.is_control() {
            ' '
        } else {
            letter
        }
    };
    let text: String = text.chars().map(allowed).collect();
    text[..text.floor_char_boundary(MOST)].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn any_name_becomes_a_field() {
        assert_eq!(field("Bay 1"), "Bay 1");
        assert_eq!(field(" a,b\nc "), "a b c");
        let long = "ä".repeat(40);
        assert_eq!(field(&long), "ä".repeat(32));
    }
}
