//! Datasets, rounding, saturation, loops.

use super::{Dataset, MemberRole, Quantity, Sampling, Source, Writer};
use wire::quality::SvQuality;

fn decoded(octets: &[u8]) -> Vec<(i32, u32)> {
    let word = |octets: &[u8]| u32::from_be_bytes(octets.try_into().expect("four octets"));
    octets
        .chunks_exact(8)
        .map(|member| (word(&member[..4]) as i32, word(&member[4..])))
        .collect()
}

fn one(sampling: &Sampling, values: &[f64]) -> Vec<(i32, u32)> {
    let mut writer = Writer::new(sampling, Source::of_phases(&sampling.dataset), 1).expect("small");
    writer.push(values, SvQuality::GOOD);
    decoded(writer.finish(1, None).expect("one sample").seq_data(0))
}

#[test]
fn datasets_as_people_write_them() {
    for (text, names) in [
        ("4I4U", "Ia, Ib, Ic, In, Ua, Ub, Uc, Un"),
        ("I4U4", "Ia, Ib, Ic, In, Ua, Ub, Uc, Un"),
        ("6I3U", "Ia, Ib, Ic, Ires, In, Ih, Ua, Ub, Uc"),
        ("i3u0", "Ia, Ib, Ic"),
        ("I0U5", "Ua, Ub, Uc, Un, U5"),
    ] {
        let dataset: Dataset = text.parse().expect(text);
        assert_eq!(dataset.names(), names, "{text}");
    }
    assert_eq!("6I3U".parse::<Dataset>().expect("RTE").to_string(), "I6U3");
    assert_eq!("6I3U".parse::<Dataset>().expect("RTE").octets(), 72);
    for text in ["", "I0U0", "I20U5", "4U4I", "IU", "I4", "I-1U4"] {
        assert!(text.parse::<Dataset>().is_err(), "{text}");
    }
    let dataset = Dataset::default();
    assert_eq!(dataset.find("UN"), Ok(7));
    assert!(
        dataset
            .find("Ih")
            .expect_err("not in 4I4U")
            .to_string()
            .contains("have: Ia")
    );
    assert_eq!(dataset.members()[3].place, MemberRole::Residual);
    assert_eq!(dataset.members()[4].quantity, Quantity::Voltage);
}

#[test]
fn half_goes_to_even_and_sums_are_of_what_is_published() {
    let sampling = Sampling::new(4_800);
    let row = one(&sampling, &[0.000_5, 0.001_5, -0.002_5, 9.0, 0.005, 0.015, -0.025, 9.0]);
    let numbers: Vec<i32> = row.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 2, -2, 0, 0, 2, -2, 0], "mA, then 10 mV");
    assert!(row.iter().all(|(_, quality)| *quality == 0));
}

#[test]
fn what_int32_cannot_hold_saturates_and_says_so() {
    let sampling = Sampling::new(4_800);
    let bad = SvQuality::OVERFLOW | SvQuality::INVALID.0;
    let row = one(&sampling, &[3e6, 0.0, -3e6, 0.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(row[0], (i32::MAX, bad));
    assert_eq!(row[2], (i32::MIN, bad));
    assert_eq!(row[3], (-1, bad), "a sum of such values cannot be good");
    assert_eq!(row[7], (300, 0));
    let row = one(&sampling, &[2e6, 2e6, 0.0]);
    assert_eq!(row[3], (i32::MAX, bad), "the sum itself is too large");
}

#[test]
fn what_is_missing_is_invalid_and_so_is_its_sum() {
    let row = one(&Sampling::new(4_800), &[1.0, f64::NAN, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(row[0], (1_000, 0));
    assert_eq!(row[1], (0, SvQuality::INVALID.0));
    assert_eq!(row[3].1, SvQuality::INVALID.0);
    assert_eq!(row[7], (300, 0));
}

#[test]
fn quality_is_added() {
    let mut sampling = Sampling::new(4_800);
    sampling.quality = SvQuality(SvQuality::TEST);
    sampling.derived = true;
    let row = one(&sampling, &[0.0; 8]);
    assert_eq!(row[0].1, SvQuality::TEST);
    assert_eq!(row[3].1, SvQuality::TEST | SvQuality::DERIVED);
}

#[test]
fn once_then_again_and_again() {
    let sampling = Sampling {
        dataset: "I1U0".parse().expect("a dataset"),
        ..Sampling::new(1_000)
    };
    let mut writer = Writer::new(&sampling, vec![Source::Given], 5).expect("small");
    for value in 0..5u8 {
        if value == 2 {
            writer.mark("loop");
        }
        writer.push(&[f64::from(value) / 1_000.0], SvQuality::GOOD);
    }
    let table = writer.finish(3, None).expect("a table");
    let numbers: Vec<i32> = (0..11).map(|sample| decoded(table.seq_data(sample))[0].0).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4]);
    assert_eq!((table.once(), table.looped(), table.octets()), (2, 3, 40));
    assert_eq!(decoded(table.seq_data(u64::MAX))[0].0, 2 + ((u64::MAX - 2) % 3) as i32);
    assert_eq!(table.marks()[0].sample, 2);
}

#[test]
fn too_much_is_refused() {
    let refused = Writer::new(&Sampling::new(4_800), Vec::new(), 1 << 40).expect_err("64 TiB");
    assert!(refused.to_string().contains("512 MiB"), "{refused}");
    for rate in [0, 65_537, u32::MAX] {
        assert!(Writer::new(&Sampling::new(rate), Vec::new(), 1).is_err());
    }
}
