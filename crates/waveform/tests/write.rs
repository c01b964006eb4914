//! Written records are read back: by our reader, and by the Python package `comtrade`.

use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use units::Realtime;
use waveform::comtrade::{
    Analog, ComtradeRecord, Digital, FileType, Header, Rate, Revision, Sample, Scale, Values, Written, parse, write,
};

/// Every form that can be written.
const FORMS: [(Revision, FileType); 6] = [
    (Revision::Y1999, FileType::Ascii),
    (Revision::Y1999, FileType::Binary),
    (Revision::Y2013, FileType::Ascii),
    (Revision::Y2013, FileType::Binary),
    (Revision::Y2013, FileType::Binary32),
    (Revision::Y2013, FileType::Float32),
];

/// 2024-02-29, 23:59:59.987654321.
const START: Realtime = Realtime::from_ns(1_709_251_199_987_654_321);

fn analog(name: &str, scale: Scale) -> Analog {
    Analog {
        name: name.into(),
        phase: "A".into(),
        component: "Bay 1".into(),
        unit: "kA".into(),
        scale,
        primary: 400.0,
        secondary: 1.0,
        values: Values::Secondary,
    }
}

fn digital(name: &str, normal: bool) -> Digital {
    Digital {
        name: name.into(),
        phase: String::new(),
        component: "Bay 1".into(),
        normal,
    }
}

fn rate(per_second: f64, last: u64) -> Rate {
    Rate { per_second, last }
}

/// A header of two analog and seventeen digital channels.
fn header((revision, file_type): (Revision, FileType), rates: Vec<Rate>) -> Header {
    let given = Scale::Given {
        gain: 0.5,
        offset: -3.0,
    };
    Header {
        station: "Station".into(),
        device: "Relay 7".into(),
        revision,
        file_type,
        analog: vec![analog("IA", Scale::Automatic), analog("IB", given)],
        digital: (1..=17)
            .map(|number| digital(&format!("D{number}"), number == 2))
            .collect(),
        frequency_hz: 50.0,
        rates,
        start: START,
        trigger: START + 1_234_567,
        time_quality: 11,
    }
}

/// Samples in memory, as a ring has them.
#[derive(Debug, Clone, Default)]
struct Ring(Vec<(Vec<f64>, Vec<bool>)>);

impl Ring {
    /// `count` samples for [`header`]: a sine, and a line; one value is missing.
    fn of(count: usize) -> Self {
        let sample = |index: usize| {
            let sine = if index == 3 {
                f64::NAN
            } else {
                7.25 * (index as f64 / 9.0).sin()
            };
            let states = (0..17).map(|channel: usize| (index + channel).is_multiple_of(5));
            (vec![sine, index as f64 * 0.7], states.collect())
        };
        Self((0..count).map(sample).collect())
    }

    fn samples(&self) -> impl Iterator<Item = Sample<'_>> + Clone {
        self.0.iter().map(|(analog, digital)| Sample { analog, digital })
    }
}

fn written(header: &Header, ring: &Ring) -> (Vec<u8>, Vec<u8>, Written) {
    let (mut config, mut data) = (Vec::new(), Vec::new());
    let written = write(header, ring.samples(), &mut config, &mut data).unwrap_or_else(|error| panic!("{error}"));
    (config, data, written)
}

fn read(config: &[u8], data: &[u8]) -> ComtradeRecord {
    let record = parse((config, "x.cfg"), (data, "x.dat")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(record.warnings, Vec::<String>::new());
    record
}

/// Half a step of the file's numbers, and what `f64` cannot hold.
fn tolerance(record: &ComtradeRecord, channel: usize, value: f64) -> f64 {
    let (gain, offset) = (record.config.analog[channel].gain, record.config.analog[channel].offset);
    let half_a_step = match record.config.file_type {
        // Half a step of an f32 is at most half its epsilon of the number.
        FileType::Float32 => (value - offset).abs() * f64::from(f32::EPSILON) / 2.0,
        _ => gain / 2.0,
    };
    half_a_step * (1.0 + 1e-6) + (value.abs() + offset.abs()) * 4.0 * f64::EPSILON
}

/// Checks that the record equals the content of the ring, except for values beyond the range of
/// their scale.
fn assert_same(record: &ComtradeRecord, header: &Header, ring: &Ring) -> u64 {
    let mut clipped = 0;
    for (index, (values, states)) in ring.0.iter().enumerate() {
        for (channel, value) in values.iter().enumerate() {
            let read = record.analog(channel)[index];
            let tolerance = tolerance(record, channel, *value);
            if value.is_nan() {
                assert!(read.is_nan(), "sample {index} of channel {channel}: {read}");
            } else if (read - value).abs() > tolerance {
                assert_ne!(header.analog[channel].scale, Scale::Automatic, "{read}, not {value}");
                clipped += 1;
            }
        }
        for (channel, state) in states.iter().enumerate() {
            assert_eq!(
                record.digital(channel, index),
                Some(*state),
                "sample {index} of D{channel}"
            );
        }
    }
    clipped
}

#[test]
fn every_form_is_read_back() {
    for form in FORMS {
        let header = header(form, vec![rate(4_800.0, 60), rate(1_200.0, 100)]);
        let ring = Ring::of(100);
        let (config, data, written) = written(&header, &ring);
        assert_eq!(
            (written.samples, written.clipped, written.missing),
            (100, 0, 1),
            "{form:?}"
        );
        let record = read(&config, &data);
        assert_eq!(assert_same(&record, &header, &ring), 0, "{form:?}");
        let read = &record.config;
        assert_eq!((read.station.as_str(), read.device.as_str()), ("Station", "Relay 7"));
        assert_eq!(
            (read.revision, read.file_type),
            (if form.0 == Revision::Y1999 { 1999 } else { 2013 }, form.1)
        );
        assert_eq!((read.frequency_hz, &read.rates), (Some(50.0), &header.rates));
        // Microseconds are cut off on both: 987654 and 988888.
        let expected_ns = if form.0 == Revision::Y1999 {
            1_234_000
        } else {
            1_234_567
        };
        assert_eq!(read.trigger_ns, Some(expected_ns), "{form:?}");
        let [ia, ib] = &read.analog[..] else {
            panic!("two channels")
        };
        assert_eq!((ia.number, ia.name.as_str(), ia.phase.as_str()), (1, "IA", "A"));
        assert_eq!((ia.component.as_str(), ia.unit.as_str()), ("Bay 1", "kA"));
        assert_eq!((ib.gain, ib.offset), (0.5, -3.0), "as given");
        assert_eq!((ib.primary, ib.secondary, ib.values), (400.0, 1.0, Values::Secondary));
        assert!(read.digital[1].normal && !read.digital[0].normal);
    }
}

/// The configuration with no rate, so that the time stamps of the data decide.
fn without_rates(config: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(config.to_vec()).expect("UTF-8");
    let rates = text.find("\r\n2\r\n").expect("two rates");
    let dates = text.find("\r\n29/02/2024").expect("a date");
    format!("{}\r\n0\r\n0,100{}", &text[..rates], &text[dates..]).into_bytes()
}

#[test]
fn the_time_stamps_say_what_the_rates_say_however_long_the_record_is() {
    for (form, slow, step_s) in [
        (FORMS[0], 1_200.0, 1e-6),
        (FORMS[0], 0.005, 1e-5),
        (FORMS[2], 1_200.0, 1e-9),
        (FORMS[3], 1.0, 1e-7),
        (FORMS[5], 0.005, 1e-5),
    ] {
        let header = header(form, vec![rate(4_800.0, 60), rate(slow, 100)]);
        let (config, data, _) = written(&header, &Ring::of(100));
        let by_rate = read(&config, &data);
        let by_stamp = read(&without_rates(&config), &data);
        assert!(by_stamp.uniform().is_empty());
        for (rate, stamp) in by_rate.times_s().iter().zip(by_stamp.times_s()) {
            assert!(
                (rate - stamp).abs() <= step_s * 0.500_001,
                "{form:?}, {slow}: {rate} and {stamp}"
            );
        }
    }
}

#[test]
fn what_is_beyond_a_given_scale_is_clipped_and_counted() {
    let mut header = header(FORMS[1], vec![rate(1_000.0, 4)]);
    header.digital.clear();
    let rows = [
        [1.0, 16_380.5],
        [-2.0, 16_380.8],
        [0.0, -16_386.5],
        [f64::INFINITY, -20_000.0],
    ];
    let ring = Ring(rows.map(|row| (row.to_vec(), Vec::new())).to_vec());
    let (config, data, written) = written(&header, &ring);
    let record = read(&config, &data);
    assert_eq!((written.clipped, written.missing), (2, 1));
    assert_eq!(record.analog(1), [16_380.5, 16_380.5, -16_386.5, -16_386.5]);
    assert!(record.analog(0)[3].is_nan());
    assert_eq!(record.analog(0)[1], -2.0, "the largest value has the whole range");
    assert_eq!(record.config.analog[0].gain, 2.0 / 32_767.0);
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is() {
    let good = header(FORMS[0], vec![rate(1_000.0, 10)]);
    let changed = |change: fn(&mut Header)| {
        let mut header = good.clone();
        change(&mut header);
        let (mut config, mut data) = (Vec::new(), Vec::new());
        let error = write(&header, Ring::of(10).samples(), &mut config, &mut data).expect_err("refused");
        assert!(config.is_empty() && data.is_empty(), "{error}");
        error.to_string()
    };
    for (change, part) in [
        (
            (|header| header.file_type = FileType::Float32) as fn(&mut Header),
            "the revision of 1999 has no Float32: use that of 2013",
        ),
        (|header| header.station = "a,b".into(), "the station `a,b` has a comma"),
        (
            |header| header.analog[0].name = "I\nA".into(),
            "`I\\nA` has a comma, a control",
        ),
        (
            |header| header.digital[3].name = "x".repeat(65),
            "has 65 octets: 64 are possible",
        ),
        (|header| header.rates.clear(), "0 samples: a record has 1 to"),
        (
            |header| header.rates[0].per_second = 0.0,
            "the sampling rate is 0: it must be above 0",
        ),
        (
            |header| header.rates.push(rate(5.0, 10)),
            "ends with sample 10, after sample 10",
        ),
        (|header| header.frequency_hz = f64::NAN, "the nominal frequency is NaN"),
        (
            |header| header.analog[1].secondary = 0.0,
            "the secondary side of IB is 0",
        ),
        (|header| header.time_quality = 16, "time quality 16"),
        (
            |header| {
                header.analog[1].scale = Scale::Given {
                    gain: -1.0,
                    offset: 0.0,
                }
            },
            "the multiplier of IB is -1",
        ),
    ] {
        let error = changed(change);
        assert!(error.contains(part), "{error}");
    }
    let refused = |ring: &Ring| {
        let error = write(&good, ring.samples(), &mut Vec::new(), &mut Vec::new()).expect_err("refused");
        error.to_string()
    };
    assert!(refused(&Ring::of(9)).contains("9 samples came, but the rates describe 10"));
    assert!(refused(&Ring::of(11)).contains("more samples came than the 10 of the rates"));
    let mut short = Ring::of(10);
    short.0[4].1.pop();
    let error = refused(&short);
    assert!(
        error.contains("sample 5 has 2 values and 16 states: the header has 2 and 17"),
        "{error}"
    );
}

/// The record as parsed by Python; `None` if the test is skipped.
fn python(test: &str, directory: &Path, record: (&[u8], &[u8])) -> Option<Value> {
    let python = testing::python(test)?;
    let files = ["x.cfg", "x.dat"].map(|name| directory.join(name));
    std::fs::write(&files[0], record.0).expect("written");
    std::fs::write(&files[1], record.1).expect("written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    let output = Command::new(python)
        .arg(script)
        .args(&files)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn python_reads_what_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    for form in FORMS {
        let header = header(form, vec![rate(4_800.0, 100)]);
        let ring = Ring::of(100);
        let (config, data, _) = written(&header, &ring);
        let Some(answer) = python("python_reads_what_is_written", directory.path(), (&config, &data)) else {
            return;
        };
        let record = read(&config, &data);
        assert_eq!(answer["station"], "Station", "{form:?}");
        assert_eq!(
            answer["channels"],
            serde_json::json!([["IA", "A", "kA", 400.0, 1.0, "S"], ["IB", "A", "kA", 400.0, 1.0, "S"]])
        );
        assert_eq!(answer["samples"], 100);
        // Python keeps microseconds.
        assert_eq!(answer["start"], "2024-02-29T23:59:59.987654", "{form:?}");
        for channel in 0..2 {
            for (index, ours) in record.analog(channel).iter().enumerate() {
                let theirs = &answer["analog"][channel][index];
                let is_same = theirs.as_f64().is_some_and(|theirs| (theirs - ours).abs() < 1e-9);
                assert!(
                    is_same || theirs.is_null() && ours.is_nan(),
                    "{form:?}: {theirs} and {ours}"
                );
            }
        }
        for (channel, states) in answer["digital"].as_array().expect("channels").iter().enumerate() {
            let ours: Vec<u64> = ring.0.iter().map(|(_, states)| u64::from(states[channel])).collect();
            assert_eq!(*states, serde_json::json!(ours), "{form:?}: D{channel}");
        }
        for (theirs, ours) in answer["times"].as_array().expect("times").iter().zip(record.times_s()) {
            assert!((theirs.as_f64().expect("a time") - ours).abs() < 1e-9, "{form:?}");
        }
    }
}

/// Channels with scales, and samples that fit them.
fn records() -> impl Strategy<Value = (Header, Ring)> {
    let scale = (any::<bool>(), 1e-3..1e3, -1e3..1e3).prop_map(|(automatic, gain, offset)| match automatic {
        true => Scale::Automatic,
        false => Scale::Given { gain, offset },
    });
    let channels = prop::collection::vec((scale, -8..12), 0..5);
    let shape = (
        0..FORMS.len(),
        channels,
        0..40usize,
        prop::collection::vec((1.0..20_000.0, 1..20u64), 1..4),
    );
    shape.prop_flat_map(|(form, channels, digital_count, stretches)| {
        let mut header = header(FORMS[form], Vec::new());
        for (per_second, samples) in stretches {
            header.rates.push(rate(per_second, header.samples() + samples));
        }
        let named = |((scale, _), number): (&(Scale, i32), usize)| analog(&format!("A{number}"), *scale);
        header.analog = channels.iter().zip(1..).map(named).collect();
        header.digital = (0..digital_count)
            .map(|number| digital(&number.to_string(), false))
            .collect();
        let value = |exponent: i32| {
            let value = -1.0..1.0f64;
            (value, 0..20).prop_map(move |(value, missing)| match missing {
                0 => f64::NAN,
                _ => value * 10f64.powi(exponent),
            })
        };
        let values: Vec<_> = channels.iter().map(|(_, exponent)| value(*exponent)).collect();
        let samples = (values, prop::collection::vec(any::<bool>(), digital_count));
        let count = usize::try_from(header.samples()).expect("few");
        (
            proptest::prelude::Just(header),
            prop::collection::vec(samples, count).prop_map(Ring),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_read_back_is_within_half_a_step((header, ring) in records()) {
        let (config, data, written) = written(&header, &ring);
        let record = read(&config, &data);
        let clipped = assert_same(&record, &header, &ring);
        assert!(clipped <= written.clipped, "{clipped} values differ, {} were clipped", written.clipped);
        let missing = ring.0.iter().flat_map(|(values, _)| values).filter(|value| value.is_nan()).count();
        assert_eq!((written.samples, written.missing), (ring.0.len() as u64, missing as u64));
        assert_eq!(record.times_s().len(), ring.0.len());
        assert_eq!(record.config.rates, header.rates);
    }
}
