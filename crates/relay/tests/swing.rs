//! A power swing through the whole engine: a distance zone with and without its block.

mod common;

use common::{RATE, Rig, relay, sample};
use protection::measure::Blocks;
use protection::{Complex, Phases};
use relay::config::{Feed, Watch, parse};
use relay::engine::State;
use relay::events::{Change, Subject};

/// A zone 1 of 8 ohm.
fn file(stream: &str, function: &str) -> String {
    format!(
        "[relay]\nname = \"R\"\n[[stream]]\nname = \"bay1\"\nsv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n{stream}\n\
         [[function]]\nname = \"Z1\"\nsettings.pdis = {{ reach-ohm = 8, line-deg = 90, {function} }}\n[[trip]]\nname = \"Q0\"\n"
    )
}

/// Two sources of 20 kV with 5 ohm each, and 10 ohm of line; from sample 4000 on the far one slips by one pole a second.
fn slipping(n: u64) -> common::Wave {
    let slip = n.saturating_sub(4000) as f64 / RATE as f64 * 360.0;
    let volt = 11_547.0;
    let (near, far) = (Complex::degrees(volt, 0.0), Complex::degrees(volt, -20.0 - slip));
    let current = (near - far) / 20.0 * Complex::degrees(1.0, -90.0);
    let voltage = near - current * Complex::new(0.0, 5.0);
    let phasors = std::array::from_fn(|channel| {
        let turn = Complex::degrees(1.0, -120.0 * (channel % 3) as f64);
        turn * if channel < 3 { current } else { voltage }
    });
    common::Wave {
        load: phasors,
        ..common::Wave::default()
    }
}

#[test]
fn a_swing_trips_only_without_its_block() {
    for (stream, function, is_blocked) in [
        ("", "", false),
        ("swing = {}", "", true),
        ("swing = {}", "swing-block = false", false),
    ] {
        let mut rig = Rig::new(&relay(&file(stream, function)));
        for n in 0..8000 {
            rig.step(&[Some(sample(&slipping(n), n))]);
        }
        assert_eq!(
            rig.operates(Subject::Trip(0)).is_empty(),
            is_blocked,
            "{stream} {function}"
        );
        let blocked = |change| change == Change::Blocked(Blocks::SWING);
        assert_eq!(!rig.times(Subject::Function(0), blocked).is_empty(), is_blocked);
        let detected = rig.times(Subject::Swing(0), |change| {
            matches!(change, Change::Start(Phases::ABC, _))
        });
        assert_eq!(!detected.is_empty(), !stream.is_empty());
        assert!(detected.iter().all(|at| (4120..4400).contains(at)), "{detected:?}");
    }
}

/// RPSB, LSVS and RFUF as members of a control block.
#[test]
fn the_supervision_of_a_stream_is_published() {
    let member = |name: &str| format!("{{ name = \"{name}:bay1\", type = \"boolean\" }}");
    let names = ["samples", "synchronised", "fuse", "swing"].map(member).join(", ");
    let block = "[[goose]]\ngocb_ref = \"RLD0/LLN0$GO$gcb\"\ndat_set = \"RLD0/LLN0$ds\"\ndst = \"01:0c:cd:01:00:01\"\nappid = 1\n";
    let text = |stream: &str| format!("{}{block}member = [{names}]\n", file(stream, ""));
    let config = relay(&text("swing = {}\nfuse = {}"));
    let mut rig = Rig::new(&config);
    let all = [Watch::Samples, Watch::Synchronised, Watch::Fuse, Watch::Swing];
    let states = |rig: &Rig| all.map(|watch| rig.engine.output(Feed::Stream(0, watch)) == State::Boolean(true));
    assert_eq!(states(&rig), [false; 4], "before the first sample");
    for n in 0..8000 {
        let mut next = sample(&slipping(n), n);
        next.smp_synch = if n < 1000 { 0 } else { 2 };
        rig.step(&[Some(next)]);
        match n {
            900 => assert_eq!(states(&rig), [true, false, false, false]),
            3900 => assert_eq!(states(&rig), [true, true, false, false]),
            5000 => assert_eq!(states(&rig), [true, true, false, true]),
            _ => {}
        }
    }
    for _ in 0..400 {
        rig.step(&[None]);
    }
    // The hold time of a swing, 1 s, goes on without samples.
    assert_eq!(states(&rig), [false, false, false, true], "no samples come");
    for (stream, lacks) in [("fuse = {}", "no swing"), ("swing = {}", "no fuse")] {
        let error = parse(&text(stream), "relay.toml").unwrap_err().to_string();
        assert!(error.contains(lacks), "{error}");
    }
}

#[test]
fn a_swing_needs_currents_and_voltages() {
    let text = file("order = ['Ia', 'Ib', 'Ic', '-', '-', '-', '-', '-']\nswing = {}", "");
    let error = parse(&text, "relay.toml").unwrap_err().to_string();
    assert!(error.contains("bay1") && error.contains("leave swing out"), "{error}");
    let error = parse(&file("swing = { hold-ms = 1 }", ""), "relay.toml").unwrap_err();
    assert!(error.to_string().contains("RPSB"), "{error}");
}

/// With a longer task the turning of a direct component is not seen.
#[test]
fn a_swing_needs_a_task_of_a_quarter_of_a_cycle() {
    let of = |keys: &str, stream: &str| {
        let text = file(stream, "").replace("name = \"R\"", &format!("name = \"R\"\n{keys}"));
        parse(&text, "relay.toml")
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    for (keys, longest) in [
        ("task = '5100us'", "5000 us"),
        ("task = '4500us'\nfrequency = 60", "4166 us"),
    ] {
        let error = of(keys, "swing = {}").unwrap_err();
        assert!(
            error.contains("bay1") && error.contains(longest) && error.contains("shorten task"),
            "{error}"
        );
        assert_eq!(of(keys, ""), Ok(()));
    }
    assert_eq!(of("task = '5ms'", "swing = {}"), Ok(()));
    assert_eq!(of("task = '14ms'\nfrequency = 16.7", "swing = {}"), Ok(()));
}
