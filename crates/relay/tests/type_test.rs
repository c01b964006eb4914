//! Type tests of the program, through relays that are set for them: what the functions reach, where they stop, and how fast they are.

mod common;

use common::relay;
use model::{Cell, Outcome, Shot};
use relay::config::Config;
use relay::type_test;
use std::collections::BTreeMap;
use waveform::type_test::{TypeTest, find};

fn set(function: &str) -> Config {
    relay(&format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = 400\nvoltage-v = 110_000\n[[stream]]\nname = \"bay1\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n[[function]]\nname = \"F\"\nsettings.{function}\n[[trip]]\nname = \"Q0\"\n"
    ))
}

const ZONE1: &str = "pdis = { reach-ohm = 9.8955, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, least-current = 0.05 }";

#[test]
fn dump() {
    let test = find("zone1").expect("x");
    let t = std::time::Instant::now();
    let shots = type_test(&set(ZONE1), &test, 1).expect("shots");
    println!("{} shots in {:?}", shots.len(), t.elapsed());
    let mut cells: BTreeMap<(String, u64, u64), Vec<(Outcome, Option<i64>)>> = BTreeMap::new();
    for s in &shots {
        let Some(Cell::Distance { sir, fault, position }) = &s.cell else {
            panic!()
        };
        cells
            .entry((fault.clone(), (sir * 10.0) as u64, *position as u64))
            .or_default()
            .push((s.outcome, s.trip_ns));
    }
    for (k, v) in cells {
        let ns: Vec<f64> = v.iter().filter_map(|x| x.1).map(|n| n as f64 / 1e6).collect();
        println!("{k:?} {:?} {:?}", v.iter().map(|x| x.0.word()).collect::<Vec<_>>(), ns);
    }
    for (n, f) in [(
        "iec-normal-inverse",
        "ptoc = { pickup = 2, curve = \"iec-normal-inverse\", time-multiplier = 0.1 }",
    )] {
        let test = find(n).expect("x");
        let shots = type_test(&set(f), &test, 1).expect("shots");
        for s in &shots {
            println!("{s:?}");
        }
    }
}
