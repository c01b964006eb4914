//! Complete and damaged segments.

use crate::{Block, MAX_POINTS, Record, SegmentError, SegmentReader, SegmentWriter, StreamInfo, Survey, flag};
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

/// A repeatable source of noise.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % limit
    }
}

fn writer(streams: u16, rate: Option<u32>) -> SegmentWriter {
    let mut writer = SegmentWriter::new(&["kernel", "application"]);
    for number in 0..streams {
        let mut info = StreamInfo::named(number, format!("MU{number:02}"));
        info.rate = rate;
        writer.set_stream(info).unwrap();
    }
    writer
}

/// `instants` bursts of `streams` frames with noise: about 100 ns within a burst, and a few microseconds for the whole burst.
fn bursts(streams: u16, instants: u64) -> Vec<Record> {
    let mut noise = Noise(1);
    let mut records = Vec::new();
    for instant in 0..instants {
        let mut kernel = 1_790_000_000_000_000_000 + (instant * 1_000_000_000 / 4_800) as i64 + noise.below(4_000);
        let mut application = kernel + 3_000 + noise.below(2_000);
        for stream in 0..streams {
            kernel += 700 + noise.below(100);
            application = (application + 300 + noise.below(60)).max(kernel + 400 + noise.below(80));
            let stamps = crate::instants([Some(kernel), Some(application)]);
            records.push(Record {
                stream,
                samples: 1,
                flags: 0,
                number: instant,
                stamps,
            });
        }
    }
    records
}

fn sealed(writer: &mut SegmentWriter, records: &[Record]) -> Vec<u8> {
    records.iter().for_each(|record| writer.push(record).unwrap());
    writer.seal().unwrap()
}

#[test]
fn records_come_back_as_they_were_in_under_three_octets() {
    let records = bursts(30, 4_800);
    let octets = sealed(&mut writer(30, Some(4_800)), &records);
    let mut reader = SegmentReader::new();
    let segment = reader.read(&octets).unwrap();
    assert_eq!(segment.block.len(), records.len());
    assert!((0..records.len()).all(|index| segment.block.get(index) == records[index]));
    assert_eq!(segment.points, ["kernel", "application"]);
    let each = octets.len() as f64 / records.len() as f64;
    assert!(each < 2.5, "{each} octets a sample");
}

#[test]
fn an_unknown_rate_costs_little() {
    let records = bursts(3, 4_800);
    let known = sealed(&mut writer(3, Some(4_800)), &records).len();
    let unknown = sealed(&mut writer(3, None), &records).len();
    assert!(unknown < known + known / 20, "{unknown} against {known}");
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let octets = sealed(&mut writer(2, None), &bursts(2, 20));
    let mut reader = SegmentReader::new();
    for at in 0..octets.len() {
        for bit in 0..8 {
            let mut flipped = octets.clone();
            flipped[at] ^= 1 << bit;
            assert!(reader.read(&flipped).is_err(), "bit {bit} of octet {at}");
        }
        assert!(reader.read(&octets[..at]).is_err(), "cut at {at}");
    }
    assert!(reader.read(&octets).is_ok(), "a reader goes on after a bad segment");
}

#[test]
fn what_is_wrong_is_named() {
    let octets = sealed(&mut writer(1, None), &bursts(1, 5));
    let mut reader = SegmentReader::new();
    let mut newer = octets.clone();
    newer[4] = 9;
    assert_eq!(reader.read(&newer).err(), Some(SegmentError::Newer(9)));
    assert_eq!(reader.read(b"SQLite").err(), Some(SegmentError::NotASegment));
    let whole = octets.len();
    let cut = reader.read(&octets[..whole - 1]).err();
    assert_eq!(
        cut,
        Some(SegmentError::Torn {
            found: whole - 1,
            whole
        })
    );
    let mut flipped = octets;
    flipped[whole / 2] ^= 4;
    assert_eq!(reader.read(&flipped).err(), Some(SegmentError::Damaged));
}

#[test]
fn octets_with_a_right_checksum_and_wrong_content_are_no_crash() {
    let octets = sealed(&mut writer(2, None), &bursts(2, 50));
    let mut reader = SegmentReader::new();
    let body = octets.len() - 4;
    for at in 8..body {
        let mut forged = octets.clone();
        forged[at] = forged[at].wrapping_add(0x55);
        let check = crc32fast::hash(&forged[..body]).to_le_bytes();
        forged[body..].copy_from_slice(&check);
        let _ = reader.read(&forged);
    }
}

#[test]
fn records_of_unknown_streams_are_refused() {
    let mut writer = writer(1, None);
    let mut record = bursts(1, 1)[0];
    record.stream = 1;
    assert!(writer.push(&record).is_err());
    record.stream = 0;
    record.samples = 0;
    assert!(writer.push(&record).is_err());
}

#[test]
fn an_empty_segment_is_one() {
    let octets = writer(1, None).seal().unwrap();
    let mut reader = SegmentReader::new();
    assert!(reader.read(&octets).unwrap().block.is_empty());
}

#[test]
fn a_survey_finds_what_was_lost_and_what_was_late() {
    let mut records = bursts(2, 4_800);
    records[5_001].stamps[1] = records[5_001].stamps[0].map(|ns| ns + 900_000);
    let lost = records.remove(3_000);
    records.push(records[9_000]);
    let mut writer = writer(2, Some(4_800));
    let mut survey = Survey::new((records[0].stamps[0].unwrap(), records[9_598].stamps[1].unwrap()));
    let mut reader = SegmentReader::new();
    for part in records.chunks(1_000) {
        survey.take(reader.read(&sealed(&mut writer, part)).unwrap());
    }
    assert_eq!((survey.received(), survey.lost()), (9_599, 1));
    assert_eq!(survey.streams[usize::from(lost.stream)].counts.lost, 1);
    let doubles: u64 = survey.streams.iter().map(|stream| stream.counts.duplicate).sum();
    assert_eq!(doubles, 1);
    let worst = survey.latencies[0].worst()[0];
    assert_eq!((worst.value_ns, worst.number), (900_000, 2_500));
    assert_eq!(survey.histogram(0).count(), 9_599);
    let pacing = survey.streams[0].pacing[0].spacing.figures();
    assert!((pacing.mean.unwrap() / 208_333.0 - 1.0).abs() < 0.001);
}

fn any_record() -> impl Strategy<Value = Record> {
    let stamps = prop::array::uniform12(prop::option::of(
        any::<i64>().prop_filter("the sentinel", |ns| *ns != Block::NO_STAMP),
    ));
    (0_u16..5, 1_u16..=255, any::<u64>(), stamps, 0_u8..=flag::KNOWN).prop_map(
        |(stream, samples, number, stamps, flags)| Record {
            stream,
            samples,
            flags,
            number,
            stamps,
        },
    )
}

proptest! {
    #[test]
    fn anything_comes_back_as_it_was(records in prop::collection::vec(any_record(), 0..200), points in 0_usize..=MAX_POINTS) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let mut writer = SegmentWriter::new(&names[..points]);
        for number in 0..5 {
            writer.set_stream(StreamInfo::named(number, "x")).unwrap();
        }
        let octets = sealed(&mut writer, &records);
        let mut reader = SegmentReader::new();
        let segment = reader.read(&octets).unwrap();
        for (index, record) in records.iter().enumerate() {
            let mut kept = *record;
            kept.stamps[points..].fill(None);
            prop_assert_eq!(segment.block.get(index), kept);
        }
    }

    #[test]
    fn noise_is_no_crash(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = SegmentReader::new().read(&octets);
    }
}
