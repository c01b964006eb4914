//! Cost of decoding and publishing one frame: `cargo bench -p triptime-bench --bench wire`.
//!
//! Targets on one core of the development machine: full parse of a 2-ASDU frame at most 60 ns, fast path at most 20 ns.
#![allow(missing_docs, reason = "criterion's macros generate public functions")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::goose::{self, Value};
use wire::quality::{GooseQuality, SvQuality};
use wire::sv::{self, OwnedAsdu};
use wire::time::UtcTime;

const SRC: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// F4800S2I4U4: 217 bytes with its VLAN tag.
fn sv_message() -> sv::Message {
    let asdu = OwnedAsdu::new("MU01_SV1", 1, 2, &[(489_898, SvQuality::GOOD); 8]);
    sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: SRC,
        tags: vec![VlanTag::new(4, false, 100)],
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu.clone(), OwnedAsdu { smp_cnt: 1, ..asdu }],
    }
}

fn goose_message() -> goose::Message {
    goose::Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: SRC,
        tags: vec![VlanTag::new(4, false, 0)],
        appid: 1,
        simulate: false,
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        time_allowed_to_live: 2000,
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        go_id: Some(b"IED1_TRIP".to_vec()),
        t: UtcTime::default(),
        st_num: 2,
        sq_num: 0,
        simulation: false,
        conf_rev: 1,
        nds_com: false,
        all_data: vec![
            Value::Boolean(true),
            Value::quality(GooseQuality::default()),
            Value::UtcTime(UtcTime::default()),
        ],
    }
}

/// Parse with every check, then reads the counters and the place of the samples of each ASDU.
fn full_parse(frame: &[u8]) -> usize {
    let Ok(parsed) = EthernetView::parse(frame).and_then(|ethernet| sv::Frame::parse(&ethernet)) else {
        return 0;
    };
    parsed
        .asdus()
        .map(|a| usize::from(a.smp_cnt()) + usize::from(a.smp_synch().unwrap_or(0)) + a.seq_data().len())
        .sum()
}

fn fast_path(fast: &sv::FastPath, frame: &[u8]) -> usize {
    let Some(asdus) = fast.accept(frame) else { return 0 };
    asdus
        .map(|a| usize::from(a.smp_cnt) + usize::from(a.smp_synch.unwrap_or(0)) + a.seq_data.len())
        .sum()
}

fn sampled_values(criterion: &mut Criterion) {
    let message = sv_message();
    let frame = message.encode().expect("the message keeps the limits");
    assert_ne!(full_parse(&frame), 0);
    criterion.bench_function("sv/full parse, 2 ASDU", |b| b.iter(|| full_parse(black_box(&frame))));

    let ethernet = EthernetView::parse(&frame).expect("own frame");
    let mut fast = sv::FastPath::new();
    fast.learn(&sv::Frame::parse(&ethernet).expect("own frame"));
    assert_eq!(fast_path(&fast, &frame), full_parse(&frame));
    criterion.bench_function("sv/fast path, 2 ASDU", |b| {
        b.iter(|| fast_path(black_box(&fast), black_box(&frame)));
    });

    let mut template = sv::Template::new(&message).expect("the message keeps the limits");
    let mut smp_cnt = 0u16;
    criterion.bench_function("sv/template patch, 2 ASDU of 8 members", |b| {
        b.iter(|| {
            for index in 0..2 {
                smp_cnt = smp_cnt.wrapping_add(1);
                let Some(mut asdu) = template.asdu_mut(index) else {
                    return;
                };
                asdu.set_smp_cnt(smp_cnt);
                for member in 0..8 {
                    asdu.set_member(member, i32::from(smp_cnt), SvQuality::GOOD);
                }
            }
            black_box(template.bytes());
        });
    });
}

fn goose_messages(criterion: &mut Criterion) {
    let message = goose_message();
    let frame = message.encode().expect("the message keeps the limits");
    criterion.bench_function("goose/full parse, 3 entries", |b| {
        b.iter(|| {
            let ethernet = EthernetView::parse(black_box(&frame)).expect("own frame");
            goose::Frame::parse(&ethernet).map_or(0, |parsed| parsed.st_num())
        });
    });
    let mut template = goose::Template::new(&message).expect("the message keeps the limits");
    let mut sq_num = 0u32;
    criterion.bench_function("goose/template patch", |b| {
        b.iter(|| {
            sq_num = sq_num.wrapping_add(1);
            template.set_sq_num(sq_num);
            template.set_entry(0, &Value::Boolean(sq_num.is_multiple_of(2)));
            black_box(template.bytes());
        });
    });
}

criterion_group!(benches, sampled_values, goose_messages);
criterion_main!(benches);
