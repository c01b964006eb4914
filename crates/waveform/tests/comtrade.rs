//! Every form of COMTRADE, from small files: the same six samples of three analog and seventeen digital channels.

use std::path::{Path, PathBuf};
use waveform::comtrade::{ComtradeRecord, FileType, Values, open};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(name: &str) -> ComtradeRecord {
    open(&data(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// The numbers in the files; the value 99998 fits into 32 bits only, 16-bit files have 9999.
const RAW: [[f64; 3]; 6] = [
    [0.0, 100.0, -200.0],
    [1_000.0, -100.0, 32_767.0],
    [-1_000.0, 7.0, -32_767.0],
    [5.0, 9_999.0, 0.0],
    [6.0, -6.0, 1.0],
    [7.0, -7.0, 2.0],
];
const GAIN: [f64; 3] = [0.5, 0.01, 0.002];
const OFFSET: [f64; 3] = [1.5, 0.0, -1.0];

fn state(channel: usize, sample: usize) -> bool {
    (sample + channel).is_multiple_of(5) || (channel == 16 && sample == 3)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// The values are those of the files, each raw number `plus` something, except where `missing`.
fn assert_values(record: &ComtradeRecord, name: &str, plus: f64, missing: &[(usize, usize)]) {
    let wide = record.config.file_type == FileType::Binary32;
    for channel in 0..3 {
        let values = record.analog(channel);
        assert_eq!(values.len(), 6, "{name}");
        for (sample, value) in values.iter().enumerate() {
            let raw = match RAW[sample][channel] {
                9_999.0 if wide => 99_998.0,
                raw => raw + plus,
            };
            let expected = GAIN[channel] * raw + OFFSET[channel];
            if missing.contains(&(sample, channel)) {
                assert!(
                    value.is_nan(),
                    "{name}: sample {sample} of channel {channel} is {value}"
                );
            } else {
                assert!(
                    close(*value, expected),
                    "{name}: sample {sample} of channel {channel}: {value}, not {expected}"
                );
            }
        }
    }
    for channel in 0..17 {
        for sample in 0..6 {
            assert_eq!(
                record.digital(channel, sample),
                Some(state(channel, sample)),
                "{name}: D{}",
                channel + 1
            );
        }
    }
    assert_eq!(record.digital(0, 6), None);
    assert_eq!(record.digital(17, 0), None);
    assert!(record.analog(3).is_empty());
}

#[test]
fn every_form_has_the_same_values() {
    for (name, file_type, revision, plus) in [
        ("ascii_1991.cfg", FileType::Ascii, 1991, 0.0),
        ("ascii_1999.cfg", FileType::Ascii, 1999, 0.0),
        ("binary_1999.cfg", FileType::Binary, 1999, 0.0),
        ("binary32_2013.cfg", FileType::Binary32, 2013, 0.0),
        ("float32_2013.cfg", FileType::Float32, 2013, 0.5),
        ("ascii.cff", FileType::Ascii, 2013, 0.0),
        ("binary.cff", FileType::Binary, 2013, 0.0),
        ("binary32.cff", FileType::Binary32, 2013, 0.0),
        ("float32.cff", FileType::Float32, 2013, 0.5),
    ] {
        let record = read(name);
        assert_eq!(
            (record.config.file_type, record.config.revision),
            (file_type, revision),
            "{name}"
        );
        assert_eq!(record.warnings, Vec::<String>::new(), "{name}");
        assert_eq!(record.config.trigger_ns, Some(1_000_000), "{name}");
        assert_eq!(record.config.frequency_hz, Some(50.0), "{name}");
        assert_values(&record, name, plus, &[]);
        let times: Vec<f64> = (0..6).map(|sample| f64::from(sample) / 4_000.0).collect();
        assert_eq!(record.times_s(), times, "{name}");
        assert_eq!(record.uniform(), [(0..6, 4_000.0)], "{name}");
    }
}

#[test]
fn channels_say_what_they_are() {
    let config = read("binary_1999.cfg").config;
    let [ia, ib, ua] = &config.analog[..] else {
        panic!("three channels")
    };
    assert_eq!(
        (ua.name.as_str(), ua.unit.as_str(), ua.phase.as_str()),
        ("UA", "kV", "A")
    );
    assert_eq!(
        (ia.values, ib.values, ua.values),
        (Values::Primary, Values::Secondary, Values::Primary)
    );
    assert_eq!((ib.primary, ib.secondary, ib.skew_us), (400.0, 1.0, 100.0));
    assert_eq!(config.digital[1].name, "D2");
    assert!(config.digital[1].normal && !config.digital[0].normal);
    assert_eq!(read("ascii_1991.cfg").config.digital[1], config.digital[1]);
}

#[test]
fn missing_values_are_not_numbers() {
    for (name, missing) in [
        ("missing_ascii.cfg", &[(1, 0), (2, 0)][..]),
        ("missing_binary.cfg", &[(1, 0)]),
        ("missing_binary32.cfg", &[(1, 0)]),
        ("missing_float32.cfg", &[(1, 0)]),
    ] {
        assert_values(&read(name), name, 0.0, missing);
    }
}

#[test]
fn time_stamps_rule_where_there_is_no_rate() {
    let ticks = [0.0, 100.0, 300.0, 600.0, 1_000.0, 1_500.0];
    for (name, seconds) in [("stamps.cfg", 2e-6), ("nanoseconds.cfg", 10e-9)] {
        let record = read(name);
        assert!(record.uniform().is_empty(), "{name}");
        for (time, tick) in record.times_s().iter().zip(ticks) {
            assert!(close(*time * 1e9, tick * seconds * 1e9), "{name}: {time}");
        }
    }
}

#[test]
fn several_rates_follow_one_another() {
    let record = read("rates.cfg");
    let expected = [0.0, 0.25e-3, 0.5e-3, 1.5e-3, 2.5e-3, 3.5e-3];
    for (time, expected) in record.times_s().iter().zip(expected) {
        assert!(close(*time, expected), "{time}, not {expected}");
    }
    assert_eq!(record.uniform(), [(0..3, 4_000.0), (3..6, 1_000.0)]);
}

#[test]
fn names_in_other_encodings() {
    assert_eq!(read("iso8859_1.cfg").config.station, "\u{dc}berlandwerk");
    assert_eq!(read("utf8_bom.cfg").config.device, "Sch\u{fc}tz");
    // GBK is not known, but its names do no harm to the numbers.
    assert_values(&read("gbk.cfg"), "gbk.cfg", 0.0, &[]);
}

#[test]
fn a_record_goes_by_either_file_and_says_what_is_not_there() {
    assert_values(&read("binary_1999.DAT"), "DAT", 0.0, &[]);
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("x.cfg");
    std::fs::copy(data("ascii_1999.cfg"), &config).expect("copied");
    for (path, part) in [
        (config.clone(), "no .dat file"),
        (directory.path().join("y.cff"), "No such file"),
        (directory.path().join("y.txt"), "use .cfg (with .dat) or .cff"),
    ] {
        let error = open(&path).expect_err(part).to_string();
        assert!(
            error.contains(part) && error.contains(directory.path().to_str().expect("UTF-8")),
            "{error}"
        );
    }
}

/// Text of a file with one change, parsed with the data of another.
fn changed(file: &str, from: &str, to: &str) -> Result<ComtradeRecord, String> {
    let text = std::fs::read_to_string(data(&format!("{file}.cfg"))).expect("a file");
    assert!(text.contains(from), "{from} is not in {file}");
    let dat = std::fs::read(data(&format!("{file}.dat"))).expect("a file");
    waveform::comtrade::parse((text.replacen(from, to, 1).as_bytes(), "x.cfg"), (&dat, "x.dat"))
        .map_err(|error| error.to_string())
}

#[test]
fn states_that_are_neither_0_nor_1_are_not_known() {
    let config = std::fs::read(data("ascii_1999.cfg")).expect("a file");
    let text = std::fs::read_to_string(data("ascii_1999.dat")).expect("a file");
    let lines = text.lines().zip(0..).map(|(line, sample)| match sample {
        2 | 4 => format!("{},2\n", line.rsplit_once(',').expect("fields").0),
        _ => format!("{line}\n"),
    });
    let octets: String = lines.collect();
    let record =
        waveform::comtrade::parse((&config, "x.cfg"), (octets.as_bytes(), "x.dat")).expect("read all the same");
    let states: Vec<Option<bool>> = (0..6).map(|sample| record.digital(16, sample)).collect();
    let expected = [0, 1, 2, 3, 4, 5].map(|sample| (![2, 4].contains(&sample)).then(|| state(16, sample)));
    assert_eq!(states, expected);
    assert_eq!(record.digital(15, 2), Some(state(15, 2)));
    assert_eq!(
        record.warnings,
        ["2 states of digital channels are neither 0 nor 1 (the first: D17 is \"2\" in line 3): they are not known"]
    );
}

#[test]
fn channels_go_by_the_numbers_of_the_file() {
    let record = changed("ascii_1999", "\r\n2,", "\r\n12,").expect("a record");
    let numbers = record.config.analog.iter().map(|channel| channel.number);
    assert_eq!(numbers.collect::<Vec<u64>>(), [1, 12, 3]);
}

#[test]
fn what_is_wrong_is_named_with_file_and_line() {
    for (file, from, to, expected) in [
        (
            "ascii_1999",
            "20,3A,17D",
            "20,3A,x",
            "x.cfg, line 2: \"x\" is not a number of channels",
        ),
        ("ascii_1999", "20,3A,17D", "20,4A,17D", "x.cfg, line 6:"),
        ("ascii_1999", "20,3A,17D", "999999,999982A,17D", "x.cfg, line 6:"),
        (
            "ascii_1999",
            "A,0.5,1.5",
            "A,half,1.5",
            "x.cfg, line 3: the multiplier a is \"half\"",
        ),
        ("ascii_1999", "400,1,S", "400,1,X", "x.cfg, line 4: \"X\" is neither P"),
        (
            "ascii_1999",
            "4000,6",
            "fast,6",
            "x.cfg, line 25: the sampling rate is \"fast\"",
        ),
        ("ascii_1999", "ASCII", "MATLAB", "x.cfg, line 28: file type \"MATLAB\""),
        ("ascii_1999", "ASCII", "BINARY", "x.dat"),
        ("ascii_1999", "1\r\n4000,6", "99999999\r\n4000,6", "x.cfg, line 26:"),
    ] {
        match changed(file, from, to) {
            Err(error) => assert!(error.starts_with(expected), "{error}, not {expected}"),
            // Text read as binary has some records.
            Ok(record) => assert!(expected == "x.dat" && !record.warnings.is_empty(), "{to} was accepted"),
        }
    }
}
