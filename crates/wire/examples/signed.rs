//! Price of a signature: time to make a datagram of a sampled value or a GOOSE message, to sign it, and to check it.
//!
//! `cargo run --release -p triptime-wire --example signed`

#![allow(clippy::print_stdout, reason = "the output of an example")]

use std::hint::black_box;
use std::time::Instant;
use wire::ether::{EthernetView, Mac};
use wire::goose::{self, Value};
use wire::quality::SvQuality;
use wire::routed::{Algorithm, Datagram, Key, Proof, Route, Wrapper};
use wire::sv;

const ROUNDS: u32 = 200_000;

fn main() {
    let key = Key::new(1, Algorithm::HmacSha256_256, &[0x5a; 32]);
    let frames = [("R-SV", sampled_value()), ("R-GOOSE", message())];
    for (name, frame) in frames.iter().filter_map(|(name, frame)| Some((name, frame.as_ref()?))) {
        for key in [None, key.clone()] {
            let keys: Vec<Key> = key.iter().cloned().collect();
            let mut wrapper = Wrapper::new(Route {
                source: [10, 0, 0, 1].into(),
                group: [239, 192, 0, 1].into(),
                ttl: 64,
                dscp: Route::EXPEDITED,
                key,
            });
            let made = per_round(|| wrapper.wrap(black_box(frame)).is_ok());
            let octets = wrapper
                .wrap(frame)
                .ok()
                .flatten()
                .map(<[u8]>::to_vec)
                .unwrap_or_default();
            let read = per_round(|| proof(black_box(&octets), &keys).is_some_and(|proof| !proof.is_refused()));
            let words = if keys.is_empty() { "plain" } else { "signed" };
            println!(
                "{name} {words}, {} octets: made in {made:.0} ns, read and checked in {read:.0} ns",
                octets.len()
            );
        }
    }
}

/// Shortest of ten means, in ns.
fn per_round(mut work: impl FnMut() -> bool) -> f64 {
    let mean = |_| {
        let begin = Instant::now();
        let good = (0..ROUNDS).filter(|_| black_box(work())).count();
        assert_eq!(good, ROUNDS as usize);
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    };
    (0..10).map(mean).fold(f64::INFINITY, f64::min)
}

fn proof(octets: &[u8], keys: &[Key]) -> Option<Proof> {
    let ethernet = EthernetView::parse(octets).ok()?;
    Some(Proof::of(&Datagram::within(&ethernet)?.ok()?, keys))
}

fn sampled_value() -> Option<Vec<u8>> {
    let message = sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![sv::OwnedAsdu::new("MU01", 1, 2, &[(5, SvQuality(0)); 8])],
    };
    message.encode().ok()
}

fn message() -> Option<Vec<u8>> {
    let message = goose::Message {
        src: Mac([2, 0, 0, 0, 0, 1]),
        appid: 0x3001,
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        all_data: vec![
            Value::Boolean(true),
            Value::BitString {
                unused: 3,
                bits: vec![0, 0],
            },
        ],
        ..goose::Message::default()
    };
    message.encode().ok()
}
