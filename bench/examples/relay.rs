//! Speed of a complete relay with samples of one stream: `cargo run --release -p triptime-bench --example relay -- [SECONDS]`.
//!
//! The stream has 4800 samples a second at 60 Hz; the relay has every kind of function that needs one stream, trip logic, breaker
//! failure and a GOOSE output. A fault of 100 ms comes each second. Aligning, measuring and deciding are also timed separately, as is the cost of a
//! disturbance record for the task: passing on its samples and states.
//!
//! Target on one core if nothing else runs: 1000 times real time.

#![allow(clippy::print_stdout, reason = "it is what it is for")]

use relay::config::{Config, parse};
use relay::disturbance::RowTap;
use relay::events::Change;
use relay::{Engine, Sample};
use rtrb::RingBuffer;
use std::f64::consts::{SQRT_2, TAU};
use std::time::Instant;
use wire::quality::SvQuality;

const RATE: usize = 4800;

fn config() -> Result<Config, units::Refusal> {
    let functions = [
        "pioc = {}",
        "ptoc = { curve = 'iec-normal-inverse' }",
        "ptoc = { quantity = 'residual', pickup = 0.2, curve = 'iec-normal-inverse' }",
        "ptoc = { quantity = 'negative-sequence', pickup = 0.2, curve = 'iec-normal-inverse' }",
        "ptoc = { pickup = 2, direction.phase = {} }",
        "ptoc = { quantity = 'residual', pickup = 0.05, direction.earth = {} }",
        "ptuv = {}",
        "ptov = {}",
        "ptov = { quantity = 'residual', pickup = 0.3 }",
        "frequency = { limit.under = 58.5 }",
        "frequency = { limit.over = 61.5 }",
        "frequency = { limit.falling = 1.0 }",
        "pdis = { zone = 1, reach-ohm = 3.2 }",
        "pdis = { zone = 2, reach-ohm = 4.8, phase-delay-ms = 300, earth-delay-ms = 300 }",
        "pdis = { zone = 3, reach-ohm = 8, phase-delay-ms = 800, earth-delay-ms = 800 }",
        "psde = {}",
    ];
    let mut text = String::from(
        "[relay]\nname = 'BENCH'\nfrequency = 60\n[[stream]]\nname = 'bay'\nsv = { svID = 'MU01', profile = 'F4800S2I4U4' }\n",
    );
    for (number, settings) in functions.iter().enumerate() {
        text.push_str(&format!("[[function]]\nname = 'F{number}'\nsettings.{settings}\n"));
    }
    text.push_str("[[trip]]\nname = 'Q0'\nbreaker-failure = {}\n");
    text.push_str("[[goose]]\ngocb_ref = 'A/LLN0$GO$g'\ndat_set = 'A/LLN0$d'\ndst = '01:0c:cd:01:00:01'\nappid = 1\n");
    text.push_str(
        "member = [{ name = 'trip:Q0.general', type = 'boolean' }, { name = 'quality', type = 'quality' }]\n",
    );
    parse(&text, "bench")
}

/// One second: load, and a fault of 100 ms in phase A to earth. The load is below the threshold of breaker failure for a closed breaker.
fn second() -> Vec<Sample> {
    let value = |rms: f64, degrees: f64, n: usize| {
        SQRT_2 * rms * (TAU * (60 * n % RATE) as f64 / RATE as f64 + degrees.to_radians()).cos()
    };
    let sample = |n: usize| {
        let mut values = [0.0; 8];
        for phase in 0..3 {
            let turn = -120.0 * phase as f64;
            let is_fault = phase == 0 && (2400..2880).contains(&n);
            let (current, lag, volt) = if is_fault {
                (8000.0, -75.0, 3500.0)
            } else {
                (250.0, -20.0, 11_547.0)
            };
            values[phase] = value(current, turn + lag, n);
            values[4 + phase] = value(volt, turn, n);
        }
        values[3] = values[0] + values[1] + values[2];
        values[7] = values[4] + values[5] + values[6];
        Sample {
            smp_cnt: n as u16,
            values,
            quality: [SvQuality::GOOD; 8],
            smp_synch: 2,
            simulated: false,
            conflicting: false,
        }
    };
    (0..RATE).map(sample).collect()
}

/// Time in each stage in ns over `seconds`, the pushing of samples first, and the number of trips. With a tap the task passes on the data for a
/// record.
fn run(
    engine: &mut Engine,
    samples: &[Sample],
    seconds: usize,
    is_apart: bool,
    tap: Option<&RowTap>,
) -> ([u64; 5], u64) {
    let (mut spent, mut trips) = ([0; 5], 0);
    let (mut ring, mut source) = RingBuffer::new(1 << 14);
    let mut first = 0;
    for task in 1..=seconds * 1000 {
        let next = task * RATE / 1000;
        let mut begun = Instant::now();
        let mut took = |stage: usize| {
            if is_apart {
                let now = Instant::now();
                spent[stage] += now.duration_since(begun).as_nanos() as u64;
                begun = now;
            }
        };
        for number in first..next {
            engine.push(0, &samples[number % RATE]);
        }
        took(0);
        engine.align(next as u64);
        took(1);
        engine.measure();
        took(2);
        let decision = engine.decide();
        let operates = decision
            .events
            .iter()
            .filter(|event| matches!(event.change, Change::Operate(_)));
        trips += operates.count() as u64;
        took(3);
        if let Some(tap) = tap {
            let numbers = first as u64..next as u64;
            let rows = tap.samples(engine, numbers.clone());
            let rows = rows.chain(tap.decided(engine, numbers.clone(), None));
            if let Ok(room) = ring.write_chunk_uninit(tap.most(&numbers)) {
                room.fill_from_iter(rows);
            }
        }
        took(4);
        // Work of the other thread, whose time does not belong to the task.
        if let Ok(rows) = source.read_chunk(source.slots()) {
            rows.commit_all();
        }
        first = next;
    }
    (spent, trips)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(60);
    let config = config()?;
    let samples = second();
    let mut engine = Engine::new(&config)?;
    let begun = Instant::now();
    let (_, operates) = run(&mut engine, &samples, seconds, false, None);
    let whole = begun.elapsed().as_secs_f64();
    let tap = RowTap::new(&config);
    let (spent, _) = run(&mut Engine::new(&config)?, &samples, seconds, true, Some(&tap));
    let tasks = (seconds * 1000) as f64;
    let [push, align, measure, decide, record] = spent.map(|ns| ns as f64 / tasks);
    println!(
        "{seconds} s in {:.1} ms: {:.0} times real time; {operates} operations",
        whole * 1e3,
        seconds as f64 / whole
    );
    println!(
        "ns a task: push {push:.0}, align {align:.0}, measure {measure:.0}, decide {decide:.0}, record {record:.0} (with the clock's own)"
    );
    Ok(())
}
