//! Replays of records made by the tests.

use super::{Ending, Interpolation, Options, Side, describe, parse_assignments, table, values};
use crate::comtrade::{ComtradeRecord, parse};
use crate::sample::{Dataset, SampleTable, Sampling};
use std::f64::consts::TAU;
use std::fmt::Write;
use units::{Refusal, Refuse};
use wire::quality::SvQuality;

/// A record of 50 Hz, 100 A peak per phase (in mA by 0.1) and 10 kV peak, secondary voltages of ratio 100.
fn record(rates: &[(f64, usize)], value: impl Fn(usize, f64) -> f64) -> ComtradeRecord {
    let mut config = String::from("s,d,1999\n7,7A,0D\n");
    for (number, name) in ["IA", "IB", "IC"].iter().enumerate() {
        let _ = writeln!(config, "{},{name},,X,A,0.1,0,0,-32767,32767,1,1,P", number + 1);
    }
    for (number, phase) in ["L1", "L2", "L3"].iter().enumerate() {
        let _ = writeln!(
            config,
            "{},V{phase},{phase},X,kV,0.001,0,0,-32767,32767,100,1,S",
            number + 4
        );
    }
    config.push_str("7,Other,,Y,,1,0,0,-1,1,1,1,P\n50\n");
    let _ = writeln!(config, "{}", rates.len());
    let mut data = String::new();
    let (mut seconds, mut sample) = (0.0, 0);
    for (rate, last) in rates {
        let _ = writeln!(config, "{rate},{last}");
        while sample < *last {
            seconds += if sample == 0 { 0.0 } else { 1.0 / rate };
            sample += 1;
            let _ = write!(data, "{sample},0");
            for channel in 0..7 {
                let _ = write!(data, ",{}", value(channel, seconds));
            }
            data.push('\n');
        }
    }
    config.push_str("1/1/2024,0:0:0.0\n1/1/2024,0:0:0.1\nASCII\n1\n");
    parse((config.as_bytes(), "cfg"), (data.as_bytes(), "dat")).unwrap_or_else(|error| panic!("{error}"))
}

fn wave(channel: usize, seconds: f64) -> f64 {
    let phase = (channel % 3) as f64;
    1_000.0 * (TAU * (50.0 * seconds - phase / 3.0)).cos()
}

fn members(table: &SampleTable, sample: u64) -> Vec<(i32, u32)> {
    let word = |octets: &[u8]| u32::from_be_bytes(octets.try_into().expect("four octets"));
    let member = |member: &[u8]| (word(&member[..4]) as i32, word(&member[4..]));
    table.seq_data(sample).chunks_exact(8).map(member).collect()
}

fn replayed(record: &ComtradeRecord, options: &Options) -> SampleTable {
    table(record, &Sampling::new(4_800), options)
        .unwrap_or_else(|error| panic!("{error}"))
        .table
}

/// Largest distance of phase b's current from the wave over `samples`, in mA.
fn furthest(table: &SampleTable, samples: std::ops::Range<u64>) -> f64 {
    samples
        .map(|sample| {
            let expected = 100.0 * wave(1, sample as f64 / 4_800.0);
            (f64::from(members(table, sample)[1].0) - expected).abs()
        })
        .fold(0.0, f64::max)
}

#[test]
fn units_ratios_and_phases_are_found() {
    let record = record(&[(4_800.0, 960)], wave);
    let replay = table(&record, &Sampling::new(4_800), &Options::default()).expect("a table");
    let row = members(&replay.table, 0);
    // 1000 * 0.1 A = 100 A; 1000 * 0.001 kV * 100 = 100 kV, in 10 mV.
    assert_eq!((row[0].0, row[4].0), (100_000, 10_000_000));
    assert_eq!(replay.channels[3], "In from the sum of the phases");
    assert!(
        replay.channels[4].starts_with("Ua from VL1 [kV] times 100000"),
        "{:?}",
        replay.channels
    );
    let recorded = Options {
        side: Side::AsRecorded,
        ..Options::default()
    };
    assert_eq!(members(&replayed(&record, &recorded), 0)[4].0, 100_000);
}

#[test]
fn a_sinc_follows_the_wave_where_lines_cut_its_tops() {
    for rate in [1_200.0, 4_000.0, 5_760.0, 15_360.0] {
        let record = record(&[(rate, (rate * 0.4) as usize)], wave);
        let sinc = furthest(
            &replayed(
                &record,
                &Options {
                    ending: Ending::Once,
                    ..Options::default()
                },
            ),
            200..1_500,
        );
        let lines = Options {
            interpolation: Interpolation::Linear,
            ending: Ending::Once,
            ..Options::default()
        };
        let linear = furthest(&replayed(&record, &lines), 200..1_500);
        // A straight line misses the top of a sine by 1 - cos(pi f / rate); a sinc keeps within a few mA of 100 A.
        let bound = 100_000.0 * (1.0 - (TAU * 25.0 / rate).cos()) + 1.0;
        assert!(sinc < 20.0, "{rate}: {sinc} mA");
        assert!(
            linear <= bound && (linear > sinc || rate > 10_000.0),
            "{rate}: {linear} mA, at most {bound}"
        );
    }
}

#[test]
fn frequencies_above_the_new_rate_are_kept_out() {
    // 3000 Hz at 15360/s would become 1800 Hz at 4800/s.
    let record = record(&[(15_360.0, 6_000)], |channel, seconds| match channel {
        1 => 1_000.0 * (TAU * 3_000.0 * seconds).sin(),
        _ => 0.0,
    });
    let once = Options {
        ending: Ending::Once,
        ..Options::default()
    };
    let table = replayed(&record, &once);
    let largest = (200..1_600)
        .map(|sample| members(&table, sample)[1].0.abs())
        .max()
        .expect("samples");
    assert!(largest < 1_000, "{largest} mA of 100 A are left");
}

#[test]
fn several_rates_and_skew() {
    let record = record(&[(4_800.0, 480), (1_200.0, 720)], wave);
    let once = Options {
        ending: Ending::Once,
        ..Options::default()
    };
    let table = replayed(&record, &once);
    assert_eq!(table.once(), 480 + 240 * 4, "0.1 s, then 0.2 s");
    assert!(furthest(&table, 0..470) < 5.0);
    assert!(furthest(&table, 600..1_300) < 20.0);
    let mut skewed = record.clone();
    // Taken 100 us late: the wave at the sample's instant is that of 100 us before it.
    skewed.config.analog[1].skew_us = 100.0;
    let table = replayed(&skewed, &once);
    let expected = 100.0 * wave(1, 100.0 / 4_800.0 - 100e-6);
    assert!((f64::from(members(&table, 100)[1].0) - expected).abs() < 20.0);
}

#[test]
fn loops_have_no_jump() {
    // 50.3 Hz for 207 ms: the end is anywhere in the cycle.
    let record = record(&[(5_760.0, 1_192)], |channel, seconds| {
        wave(channel, seconds * 50.3 / 50.0)
    });
    let table = replayed(&record, &Options::default());
    assert_eq!(table.once(), 96, "the cycle that is faded into");
    let largest_step = f64::from(100_000) * TAU * 50.3 / 4_800.0;
    for sample in 0..3 * table.looped() {
        let (a, b) = (members(&table, sample)[1].0, members(&table, sample + 1)[1].0);
        let step = f64::from(b - a).abs();
        assert!(
            step < largest_step * 1.1,
            "{step} mA at sample {sample}, at most {largest_step}"
        );
    }
    let cycles = table.looped() as f64 * 50.3 / 4_800.0;
    assert!((cycles - cycles.round()).abs() < 0.02, "{cycles} cycles");
}

#[test]
fn a_nominal_frequency_that_is_none_does_not_choose_the_fade() {
    let mut record = record(&[(4_800.0, 960)], wave);
    for hz in [0.01, 1e9] {
        record.config.frequency_hz = Some(hz);
        assert_eq!(replayed(&record, &Options::default()).once(), 96, "a cycle of 50 Hz");
    }
}

#[test]
fn mute_and_once() {
    let record = record(&[(4_800.0, 480)], wave);
    let mute = replayed(
        &record,
        &Options {
            ending: Ending::Mute(50_000_000),
            ..Options::default()
        },
    );
    assert_eq!((mute.once(), mute.looped()), (0, 480 + 240));
    assert_eq!(members(&mute, 600), [(0, 0); 8]);
    assert_eq!(mute.seq_data(720), mute.seq_data(0));
    let names: Vec<&str> = mute.marks().iter().map(|mark| mark.name.as_str()).collect();
    assert_eq!(
        names,
        ["record", "mute"],
        "the trigger at 100 ms is behind the last sample"
    );
    let once = replayed(
        &record,
        &Options {
            ending: Ending::Once,
            ..Options::default()
        },
    );
    assert_eq!(members(&once, 1_000_000), [(0, 0); 8]);
    let short = self::record(&[(4_800.0, 100)], wave);
    let refused = table(&short, &Sampling::new(4_800), &Options::default()).expect_err("no three cycles");
    assert!(refused.to_string().contains("too short"), "{refused}");
}

#[test]
fn missing_values_are_invalid_and_stay_few() {
    let record = record(&[(4_800.0, 960)], |channel, seconds| match channel {
        1 if (seconds * 4_800.0).round() == 300.0 => 99_999.0,
        _ => wave(channel, seconds),
    });
    let replay = replayed(
        &record,
        &Options {
            ending: Ending::Once,
            ..Options::default()
        },
    );
    let invalid: Vec<u64> = (0..960).filter(|sample| members(&replay, *sample)[1].1 != 0).collect();
    assert_eq!(invalid, [300]);
    assert_eq!(members(&replay, 300)[3].1, SvQuality::INVALID.0, "so is the sum");
    assert_eq!(members(&replay, 300)[0].1, 0);
    assert_eq!(replay.missing(), 1);
    assert!(furthest(&replay, 301..900) < 5.0, "lines around it, on its samples");
}

#[test]
fn a_member_without_channel_is_invalid_in_the_record_and_after_it() {
    let record = record(&[(4_800.0, 480)], wave);
    let invalid = |ending, sample| {
        let options = Options {
            assignments: parse_assignments("Ib=none,Un=none").expect("assignments"),
            ending,
            ..Options::default()
        };
        let table = replayed(&record, &options);
        assert_eq!(table.missing(), 0, "nothing is missing in the record");
        let row = members(&table, sample);
        let invalid = row.iter().map(|(_, quality)| *quality == SvQuality::INVALID.0);
        assert!(
            row.iter()
                .all(|(_, quality)| [0, SvQuality::INVALID.0].contains(quality))
        );
        invalid.collect::<Vec<bool>>()
    };
    // Ib and, with it, the sum In; and Un.
    let expected = [false, true, false, true, false, false, false, true];
    for (ending, sample) in [
        (Ending::Once, 100),
        (Ending::Once, 10_000),
        (Ending::Mute(50_000_000), 600),
        (Ending::Cycles, 1_000),
    ] {
        assert_eq!(invalid(ending, sample), expected, "{ending:?}, sample {sample}");
    }
}

/// Description of a record of three samples with these channel lines.
fn described(channels: &[&str]) -> Result<Vec<String>, Refusal> {
    let count = channels.len();
    let lines = format!("s,d,1999\n{count},{count}A,0D\n{}\n", channels.join("\n"));
    let config = lines + "50\n1\n1000,3\n1/1/24,0:0:0\n1/1/24,0:0:0\nASCII\n1\n";
    let data: String = (1..=3)
        .map(|number| format!("{number},0{}\n", ",1".repeat(count)))
        .collect();
    let record = parse((config.as_bytes(), "cfg"), (data.as_bytes(), "dat")).expect("a record");
    describe(&record, &Dataset::default(), &Options::default()).refused()
}

#[test]
fn phase_fields_that_say_nothing_are_passed_over_and_it_is_said() {
    let channel = |number: usize, name: &str, unit: &str| format!("{number},{name},A,,{unit},1,0,0,-9,9,1,1,P");
    let names = ["IA: w1", "IB: w2", "IC: w3", "UA: w4", "UB: w5", "UC: w6"];
    let lines: Vec<String> = (1..)
        .zip(names)
        .map(|(number, name)| channel(number, name, if number < 4 { "kA" } else { "kV" }))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let said = described(&lines).expect("members");
    for expected in [
        "Ib from IB: w2 [kA] times 1000",
        "In from the sum of the phases",
        "Uc from UC: w6 [kV] times 1000",
        "the phase fields of the currents do not identify the phases: the names do",
        "the phase fields of the voltages do not identify the phases: the names do",
    ] {
        assert!(said.iter().any(|line| line == expected), "{expected}: {said:?}");
    }
}

#[test]
fn what_the_record_has_not_is_invalid_and_it_is_said() {
    let voltages = [
        "1,UA,,,V,1,0,0,-9,9,1,1,P",
        "2,UB,,,V,1,0,0,-9,9,1,1,P",
        "3,UC,,,V,1,0,0,-9,9,1,1,P",
        "4,3U0,,,V,1,0,0,-9,9,1,1,P",
    ];
    let said = described(&voltages).expect("members");
    assert_eq!(said[0], "Ia from nothing, quality invalid: the record has no current");
    assert_eq!(
        said[3],
        "In from the sum of the phases, with quality invalid, because theirs is"
    );
    assert_eq!(said[7], "Un from 3U0 [V] times 1");

    let between = [
        "1,I1,7,1,A,1,0,0,-9,9,1,1,P",
        "2,I2,8,2,A,1,0,0,-9,9,1,1,P",
        "3,I3,9,3,A,1,0,0,-9,9,1,1,P",
        "4,U21,0,105,V,1,0,0,-9,9,1,1,P",
        "5,U32,1,106,V,1,0,0,-9,9,1,1,P",
        "6,Vo,6,8,V,1,0,0,-9,9,1,1,P",
    ];
    let said = described(&between).expect("members");
    assert_eq!(said[2], "Ic from I3 [A] times 1");
    assert_eq!(
        said[4],
        "Ua from nothing, quality invalid: the record has no voltage of one phase (U21, U32 are between two)"
    );

    let unit = [
        "1,UA,,,V,1,0,0,-9,9,1,1,P",
        "2,UB,,,V,1,0,0,-9,9,1,1,P",
        "3,UC,,,V,1,0,0,-9,9,1,1,P",
        "4,IA,,,,1,0,0,-9,9,1,1,P",
    ];
    let refused = described(&unit).expect_err("a channel without unit may be a current");
    assert!(refused.to_string().starts_with("Ia: no analog channel"), "{refused}");
    let refused = described(&["7,f,,,Hz,1,0,0,-9,9,1,1,P"]).expect_err("no current and no voltage");
    assert!(
        refused
            .to_string()
            .contains("name channels, such as Ia=1 (have: 7 f [Hz])"),
        "{refused}"
    );
}

#[test]
fn channels_by_name_and_number() {
    let record = record(&[(4_800.0, 960)], wave);
    let with = |text: &str| Options {
        assignments: parse_assignments(text).expect("assignments"),
        ..Options::default()
    };
    let row = members(&replayed(&record, &with("Ia=-IA, In=2, Un=none, Ua = vl2")), 0);
    assert_eq!((row[0].0, row[3].0), (-100_000, -50_000));
    assert_eq!(row[7].1, SvQuality::INVALID.0);
    assert_eq!(row[4], row[5]);
    for (text, part) in [
        ("Ia=9", "no analog channel \"9\" (have: 1 IA [A]"),
        ("Ia=4", "has the unit \"kV\": expected A; if it is one, write Ia=4:A"),
        (
            "Ia=4:Hz",
            "\"Hz\" after the channel is no unit of it: expected A, or kA",
        ),
        ("Ia=9:A", "no analog channel \"9:A\""),
        ("Ix=1", "have: Ia"),
    ] {
        let refused = table(&record, &Sampling::new(4_800), &with(text))
            .expect_err(text)
            .to_string();
        assert!(refused.contains(part), "{refused}");
    }
    assert!(
        members(&replayed(&record, &with("In=Other")), 0)[3].0 != 0,
        "a channel without unit, on request"
    );
    let plain = members(&replayed(&record, &with("Ia=1")), 0)[0].0;
    for (text, times) in [("Ia=1:A", 1), ("Ia=-IA:kA", -1000), ("Ia = 1 : mA", 0)] {
        let found = members(&replayed(&record, &with(text)), 0)[0].0;
        let near = if times == 0 { plain / 1000 } else { plain * times };
        assert_eq!(found, near, "{text}");
    }
    assert!(parse_assignments("Ia").is_err() && parse_assignments("Ia=").is_err());
    let mut without = record.clone();
    without.config.analog[2].unit = "Hz".into();
    let refused = table(&without, &Sampling::new(4_800), &Options::default())
        .expect_err("no phase c")
        .to_string();
    assert!(
        refused.contains("Ic: no analog channel") && refused.contains("Ic=none"),
        "{refused}"
    );
    let mut ratio = record.clone();
    ratio.config.analog[3].secondary = 0.0;
    let refused = table(&ratio, &Sampling::new(4_800), &Options::default())
        .expect_err("ratio")
        .to_string();
    assert!(refused.contains("100 to 0"), "{refused}");
}

#[test]
fn values_sample_for_sample_or_at_a_rate() {
    let record = record(&[(4_800.0, 960)], wave);
    let options = Options::default();
    let own = values(&record, None, &Dataset::default(), &options).expect("values");
    assert_eq!(own.iter().map(Vec::len).collect::<Vec<_>>(), [960; 8]);
    assert_eq!(own[1][7], 0.1 * wave(1, 7.0 / 4_800.0));
    let sum = own[0][7] + own[1][7] + own[2][7];
    assert_eq!(own[3][7], sum, "the residual");
    let half = values(&record, Some(2_400.0), &Dataset::default(), &options).expect("values");
    assert_eq!(half[0].len(), 480);
    assert!((half[1][100] - own[1][200]).abs() < 0.01);
    let none = Options {
        assignments: parse_assignments("Ib=none").expect("assignments"),
        ..Options::default()
    };
    let own = values(&record, None, &Dataset::default(), &none).expect("values");
    assert!(own[1][7].is_nan() && own[3][7].is_nan() && !own[0][7].is_nan());
}
