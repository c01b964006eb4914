//! COMTRADE records: a single file, or a configuration, an octet 0 and the data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use units::Realtime;
use waveform::comtrade::{
    Analog, ComtradeRecord, Digital, FileType, Header, Rate, Revision, Sample, Scale, parse, parse_cff, write,
};
use waveform::replay::{Ending, Options, table};
use waveform::sample::Sampling;

/// Longest record that is replayed, in seconds: time stamps can stretch two samples over an hour.
const LONGEST_S: f64 = 1.0;

fuzz_target!(|octets: &[u8]| {
    if let Ok(record) = parse_cff(octets, "cff") {
        check(&record, octets.len());
    }
    if let Some(at) = octets.iter().position(|octet| *octet == 0) {
        if let Ok(record) = parse((&octets[..at], "cfg"), (&octets[at + 1..], "dat")) {
            check(&record, octets.len());
        }
    }
});

fn check(record: &ComtradeRecord, octets: usize) {
    let times = record.times_s();
    assert!(!times.is_empty() && times.len() <= octets);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    for channel in 0..record.config.analog.len() {
        assert_eq!(record.analog(channel).len(), times.len());
    }
    let covered: usize = record.uniform().iter().map(|(range, _)| range.len()).sum();
    assert!(covered == 0 || covered == times.len());
    for file_type in [FileType::Ascii, FileType::Binary, FileType::Binary32, FileType::Float32] {
        written_again(record, file_type);
    }
    if times[times.len() - 1] - times[0] > LONGEST_S {
        return;
    }
    for ending in [Ending::Cycles, Ending::Mute(1_000_000), Ending::Once] {
        let options = Options {
            ending,
            ..Options::default()
        };
        if let Ok(replay) = table(record, &Sampling::new(1_000), &options) {
            assert_eq!(replay.table.seq_data(u64::MAX).len(), replay.table.stride());
        }
    }
}

fn written_again(record: &ComtradeRecord, file_type: FileType) {
    let (config, samples) = (&record.config, record.times_s().len());
    let row = |sample: usize| {
        let analog: Vec<f64> = (0..config.analog.len())
            .map(|channel| record.analog(channel)[sample])
            .collect();
        let digital: Vec<bool> = (0..config.digital.len())
            .map(|channel| record.digital(channel, sample) == Some(true))
            .collect();
        (analog, digital)
    };
    let rows: Vec<(Vec<f64>, Vec<bool>)> = (0..samples).map(row).collect();
    let header = header(record, file_type);
    let (mut cfg, mut dat) = (Vec::new(), Vec::new());
    let ring = rows.iter().map(|(analog, digital)| Sample { analog, digital });
    // Some names and ratios can be read but not written.
    if write(&header, ring, &mut cfg, &mut dat).is_err() {
        return;
    }
    let again = parse((&cfg, "cfg"), (&dat, "dat")).expect("what is written is read");
    for (channel, written) in again.config.analog.iter().enumerate() {
        let values = record.analog(channel).iter().zip(again.analog(channel));
        let step = |value: f64| match file_type {
            FileType::Float32 => value.abs() * f64::from(f32::EPSILON) + f64::from(f32::MIN_POSITIVE),
            _ => written.gain,
        };
        for (value, read) in values.filter(|(value, _)| value.abs() <= f64::from(f32::MAX)) {
            assert!(
                (value - read).abs() <= step(*value) * 0.500_001,
                "{value} became {read}"
            );
        }
    }
    for (sample, (_, states)) in rows.iter().enumerate() {
        for (channel, state) in states.iter().enumerate() {
            assert_eq!(again.digital(channel, sample), Some(*state));
        }
    }
}

fn header(record: &ComtradeRecord, file_type: FileType) -> Header {
    let config = &record.config;
    let analog = config.analog.iter().map(|channel| Analog {
        name: channel.name.clone(),
        phase: channel.phase.clone(),
        component: channel.component.clone(),
        unit: channel.unit.clone(),
        scale: Scale::Automatic,
        primary: channel.primary,
        secondary: channel.secondary,
        values: channel.values,
    });
    let digital = config.digital.iter().map(|channel| Digital {
        name: channel.name.clone(),
        phase: String::new(),
        component: String::new(),
        normal: channel.normal,
    });
    Header {
        station: config.station.clone(),
        device: config.device.clone(),
        revision: Revision::Y2013,
        file_type,
        analog: analog.collect(),
        digital: digital.collect(),
        frequency_hz: config.frequency_hz.unwrap_or(50.0),
        rates: vec![Rate {
            per_second: 4_000.0,
            last: record.times_s().len() as u64,
        }],
        start: Realtime::from_ns(0),
        trigger: Realtime::from_ns(config.trigger_ns.unwrap_or(0)),
        time_quality: 0,
    }
}
