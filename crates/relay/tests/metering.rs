//! Measured values in control blocks: MMXU and MSQI.

mod common;

use common::{RATE, Wave, load, relay, sample};
use protection::Complex;
use relay::Engine;
use relay::config::{Feed, parse};
use relay::engine::State;

const NAMES: [&str; 7] = [
    "mmxu:bay1.A.phsA",
    "mmxu:bay1.PhV.phsB",
    "mmxu:bay1.TotW",
    "mmxu:bay1.TotVAr",
    "mmxu:bay1.Hz",
    "msqi:bay1.SeqA.c1",
    "msqi:bay1.SeqV.c2",
];

fn text(metering: &str, member: &str) -> String {
    format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = 400\nvoltage-v = 20000\n[[stream]]\nname = \"bay1\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n{metering}\n[[function]]\nname = \"I>>\"\n\
         settings.pioc = {{ pickup = 25 }}\n[[trip]]\nname = \"Q0\"\n[[goose]]\ngocb_ref = \"RLD0/LLN0$GO$gcbMeasured\"\n\
         dat_set = \"RLD0/LLN0$dsMeasured\"\ndst = \"01:0c:cd:01:00:02\"\nappid = 2\nmin_time = \"4ms\"\nmax_time = \"1s\"\n\
         member = [{member}]\n"
    )
}

fn members() -> String {
    NAMES
        .map(|name| format!("{{ name = \"{name}\", type = \"float32\" }}"))
        .join(", ")
}

/// A relay, its members, and the tasks in which its control block changed.
struct Meter {
    engine: Engine,
    feeds: Vec<Feed>,
    changes: Vec<u64>,
    next: u64,
}

impl Meter {
    fn new(metering: &str) -> Self {
        let config = relay(&text(metering, &members()));
        Self {
            engine: Engine::new(&config).expect("an engine"),
            feeds: config.gooses[0].feeds.iter().map(|(_, feed)| *feed).collect(),
            changes: Vec::new(),
            next: 0,
        }
    }

    /// Plays a wave for some milliseconds; with `None` no samples come.
    fn play(&mut self, ms: u64, wave: Option<&Wave>) {
        for _ in 0..ms {
            for n in self.next..self.next + 4 {
                if let Some(wave) = wave {
                    self.engine.push(0, &sample(wave, n));
                }
            }
            self.next += 4;
            if self.engine.task(self.next).gooses != 0 {
                self.changes.push(self.next * 1000 / RATE);
            }
        }
    }

    fn values(&self) -> Vec<f64> {
        let value = |feed: &Feed| match self.engine.output(*feed) {
            State::Float(bits) => f64::from(f32::from_bits(bits)),
            other => panic!("{other:?}"),
        };
        self.feeds.iter().map(value).collect()
    }
}

/// The load, larger by this factor.
fn loaded(times: f64) -> Wave {
    let mut wave = Wave {
        load: load(),
        ..Wave::default()
    };
    for current in &mut wave.load[..3] {
        *current = *current * Complex::new(times, 0.0);
    }
    wave
}

#[test]
fn values_are_those_of_the_load() {
    let mut meter = Meter::new("metering = { average-ms = 200 }");
    meter.play(100, Some(&loaded(1.0)));
    assert!(meter.values().iter().all(|value| value.is_nan()), "no mean yet");
    meter.play(900, Some(&loaded(1.0)));
    let apparent = 3.0 * 300.0 * 11_547.0;
    let angle = 20_f64.to_radians();
    let wanted = [
        300.0,
        11_547.0,
        apparent * angle.cos(),
        apparent * angle.sin(),
        50.0,
        300.0,
    ];
    let found = meter.values();
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found / wanted - 1.0).abs() < 0.01, "{found}, not {wanted}");
    }
    assert!(found[6].abs() < 150.0, "{found:?}");
    // A stream that is lost has no values, rather than old ones.
    meter.play(100, None);
    assert!(
        meter.values().iter().all(|value| value.is_nan()),
        "{:?}",
        meter.values()
    );
}

/// The time without samples is no part of the first mean after them.
#[test]
fn a_mean_after_a_loss_has_its_whole_time() {
    for lost_ms in [700, 1200, 5000] {
        let mut meter = Meter::new("metering = { average-ms = 1000 }");
        meter.play(1500, Some(&loaded(1.0)));
        assert!((meter.values()[0] - 300.0).abs() < 3.0, "{:?}", meter.values());
        meter.play(lost_ms, None);
        meter.play(900, Some(&loaded(1.0)));
        let early = meter.values();
        assert!(early.iter().all(|value| value.is_nan()), "{lost_ms} ms: {early:?}");
        meter.play(400, Some(&loaded(1.0)));
        assert!((meter.values()[0] - 300.0).abs() < 3.0, "{:?}", meter.values());
    }
}

#[test]
fn a_value_changes_outside_its_deadband_and_once_in_the_averaging_time() {
    let mut meter = Meter::new("metering = { average-ms = 200, deadband = 0.02 }");
    meter.play(1500, Some(&loaded(1.0)));
    let settled = meter.changes.len();
    // 1 % of 300 A is 0.75 % of the rated current, and less of the rated power.
    meter.play(1500, Some(&loaded(1.01)));
    assert_eq!(meter.changes.len(), settled, "{:?}", meter.changes);
    assert!((meter.values()[0] - 300.0).abs() < 1.0);
    meter.play(1500, Some(&loaded(1.1)));
    assert!((meter.values()[0] - 330.0).abs() < 9.0, "{:?}", meter.values());
    let new = &meter.changes[settled..];
    assert!((1..=2).contains(&new.len()), "{:?}", meter.changes);
    assert!(new.windows(2).all(|two| two[1] - two[0] >= 190), "{new:?}");
}

#[test]
fn wrong_keys_are_refused() {
    let member = |name: &str, kind: &str| format!("{{ name = \"{name}\", type = \"{kind}\" }}");
    let order = "order = [\"Ia\", \"Ib\", \"Ic\", \"In\", \"-\", \"-\", \"-\", \"-\"]\nmetering = {}";
    for (metering, member, part) in [
        ("", member("mmxu:bay1.Hz", "float32"), "has no metering"),
        ("metering = {}", member("mmxu:bay1.Hz", "boolean"), "float32"),
        ("metering = {}", member("mmxu:bay1.Hertz", "float32"), "Hertz"),
        ("metering = { deadband = 0 }", members(), "deadband"),
        ("metering = { deadband-hz = 2 }", members(), "deadband-hz"),
        ("metering = { average-ms = 1 }", members(), "average-ms"),
        (order, members(), "metering needs the currents and voltages"),
    ] {
        let error = parse(&text(metering, &member), "relay.toml")
            .expect_err(part)
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}
