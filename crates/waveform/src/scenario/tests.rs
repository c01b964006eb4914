use super::{Expect, Scenario, Selection, Wave, find, names};
use crate::sample::{Quantity, SampleTable, Sampling};
use crate::synth::Synth;

const TEXT: &str = r#"
what = "x"
fault = "later"
[expect]
trip = true
within = "30ms"
[waveform]
currents_a = 100
current_angles_deg = 0
[[waveform.state]]
name = "before"
duration = "50ms"
[[waveform.state]]
name = "later"
duration = "100ms"
currents_a = 1000
"#;

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text, "x", "x.toml", &Sampling::new(4_800)).expect("a scenario")
}

fn refusal(text: &str) -> String {
    let refused = Scenario::parse(text, "x", "x.toml", &Sampling::new(4_800));
    refused.expect_err("refused").to_string()
}

/// Ia of a sample in mA.
fn current(table: &SampleTable, sample: u64) -> i32 {
    let (octets, _) = table.seq_data(sample).split_first_chunk().expect("a member");
    i32::from_be_bytes(*octets)
}

#[test]
fn what_has_to_trip_is_stated() {
    let scenario = parsed(&TEXT.replace("within", "phases = \"CA\"\nfunction = \"zone1\"\nwithin"));
    assert_eq!(
        scenario.selection,
        Selection {
            phases: Some([true, false, true]),
            function: Some("zone1".into())
        }
    );
    assert_eq!(
        parsed(TEXT).selection,
        Selection::default(),
        "nothing is expected of them"
    );
    for phases in ["", "AA", "N", "abc"] {
        let text = refusal(&TEXT.replace("within", &format!("phases = {phases:?}\nwithin")));
        assert!(text.contains("use A, B and C"), "{phases}: {text}");
    }
    let quiet = TEXT.replace("trip = true\nwithin = \"30ms\"", "trip = false\nphases = \"A\"");
    assert!(refusal(&quiet).contains("there is no trip that could have them"));
}

#[test]
fn a_shot_begins_where_it_is_told_to_and_ends_by_itself() {
    let scenario = parsed(TEXT);
    assert_eq!(
        scenario.expect,
        Expect::Trip {
            soonest_ns: None,
            within_ns: Some(30_000_000)
        }
    );
    for lead in [2_400, 2_401, 2_777] {
        let shot = scenario.shot(&Sampling::new(4_800), lead, 0.0, 0).expect("a shot");
        assert_eq!(shot.fault, lead + 240);
        // Poles open within half a cycle of the end.
        assert!((lead + 720..=lead + 768).contains(&shot.end), "{}", shot.end - lead);
        let largest = |from: u64, to: u64| (from..to).map(|n| current(&shot.table, n).abs()).max();
        assert_eq!(
            largest(0, shot.fault),
            Some(141_421),
            "the steady state up to the fault"
        );
        assert_eq!(largest(shot.fault, shot.end), Some(1_414_214));
        assert_eq!(
            largest(shot.end, shot.end + 10_000),
            Some(141_421),
            "and behind it for ever"
        );
    }
}

#[test]
fn a_shot_goes_on_where_the_one_before_was() {
    let scenario = parsed(&TEXT.replace("name = \"later\"", "name = \"later\"\nfrequency_hz = 51.7"));
    let sampling = Sampling::new(4_800);
    let first = scenario.shot(&sampling, 100, 33.0, 0).expect("a shot");
    let over: u32 = 2_345;
    let phase = 33.0 + first.wave.phase_deg_at(f64::from(over) / 4_800.0).expect("a phase");
    let next = scenario.shot(&sampling, 100, phase, 1).expect("a shot");
    for sample in 0..96 {
        let (before, after) = (
            current(&first.table, u64::from(over) + sample),
            current(&next.table, sample),
        );
        assert!((before - after).abs() < 20, "sample {sample}: {before} and {after} mA");
    }
}

#[test]
fn what_a_test_set_cannot_use_is_refused() {
    for (from, to, says) in [
        ("duration = \"100ms\"\n", "", "the last state has no duration"),
        (
            "fault = \"later\"",
            "fault = \"nowhere\"",
            "no state is called `nowhere`",
        ),
        (
            "name = \"before\"",
            "name = \"later\"",
            "several states are called `later`",
        ),
        ("currents_a = 100\n", "repeat_every = \"1s\"\n", "leave it out"),
        ("trip = true", "trip = false", "expect.within"),
        ("duration = \"100ms\"", "duration = \"100s\"", "longer than a minute"),
        ("currents_a = 1000", "current_a = 1000", "unknown field `current_a`"),
    ] {
        let why = refusal(&TEXT.replacen(from, to, 1));
        assert!(why.starts_with("x.toml") && why.contains(says), "{why}");
    }
    assert!(find("none", &Sampling::new(4_800)).is_err_and(|error| error.to_string().contains("overcurrent")));
}

#[test]
fn a_network_stands_in_place_of_a_waveform() {
    let scenario = find("zone1-bc", &Sampling::new(4_800)).expect("of the program");
    let Wave::Synth(Synth { nominal, .. }) = scenario.wave.steady() else {
        panic!("a record")
    };
    assert!((nominal.currents_a[0] - 400.0).abs() < 0.1, "{nominal:?}");
    let shot = scenario.shot(&Sampling::new(4_800), 960, 0.0, 0).expect("a shot");
    let cycle = values(&shot.table, 1, 960 + 7 * 96..960 + 8 * 96);
    let rms_a = (cycle.iter().map(|milli| (milli / 1e3).powi(2)).sum::<f64>() / 96.0).sqrt();
    // Half of the line and the source: |0.4 + 1.5 + j(4 + 6)| = 10.18 ohm; sqrt(3)/2 of 63.5 kV over that, and some load.
    assert!((rms_a - 5_402.0).abs() < 400.0, "{rms_a}");
    assert_eq!(scenario.fault, "BC");
    let text = "what = \"x\"\n[expect]\ntrip = true\n";
    assert!(refusal(text).contains("[waveform], [network] or [record]"));
    let network = "[network]\nsource_v = 110000\nsource = { z1_ohm = [1, 4], z0_ohm = [1, 6] }\nline = { z1_ohm = [0, 4], \
                   z0_ohm = [0, 6] }\n[[network.fault]]\ntype = \"AG\"\nposition = 3\nduration = \"1s\"\n";
    assert!(refusal(&format!("{text}{network}")).contains("network.fault.position is 3: use -1 to 2"));
    let no_such = network.replace("AG", "AX");
    assert!(refusal(&format!("{text}{no_such}")).contains("unknown variant `AX`"));
}

/// The example of `docs/formats/scenario.md`, with another lag of the load.
fn loaded(lag_deg: f64, more: &str) -> String {
    format!(
        "what = \"x\"\n[expect]\ntrip = false\n[network]\nsource_v = 110_000\nsource = {{ z1_ohm = [0.4, 4.0], z0_ohm = [0.8, 6.0] }}\n\
         line = {{ z1_ohm = [3.0, 12.0], z0_ohm = [9.0, 36.0] }}\nload_a = 400\nload_angle_deg = {lag_deg:?}\n{more}\
         [[network.fault]]\ntype = \"ABC\"\nposition = 0.5\nduration = \"200ms\"\n"
    )
}

#[test]
fn a_network_that_would_diverge_is_refused() {
    let sampling = Sampling::new(4_800);
    for (lag_deg, more) in [
        (0.0, ""),
        (-5.5, ""),
        (20.0, ""),
        (-170.0, ""),
        (0.0, "measures = \"line\"\n"),
    ] {
        let why = refusal(&loaded(lag_deg, more));
        assert!(why.contains("network.load_a"), "{lag_deg}: {why}");
    }
    assert!(refusal(&loaded(0.0, "")).contains("at least 5.8 degrees (-5.8)"));
    // At the stated limit, and at every lag beyond it, the values stay those of a network.
    for lag_deg in [-5.8, -6.0, -30.0, -80.0] {
        let shot = parsed(&loaded(lag_deg, "")).trial(&sampling).expect("a network");
        let largest = shot.table.largest(Quantity::Current, &sampling.dataset);
        assert!(largest < 30_000_000, "{lag_deg}: {largest} mA");
    }
}

/// RMS of Ia in A over this cycle of a shot's disturbance, at 4800 samples a second.
fn cycle_a(table: &SampleTable, lead: u64, cycle: u64) -> f64 {
    let milli = values(table, 0, lead + 96 * cycle..lead + 96 * (cycle + 1));
    (milli.iter().map(|milli| (milli / 1e3).powi(2)).sum::<f64>() / 96.0).sqrt()
}

#[test]
fn a_swing_takes_its_own_time_however_long_the_disturbance_lasts() {
    let network = "what = \"x\"\n[expect]\ntrip = false\n[network]\nsource_v = 110_000\n\
                   source = { z1_ohm = [0.4, 4.0], z0_ohm = [0.8, 6.0] }\nline = { z1_ohm = [3.0, 12.0], z0_ohm = [9.0, 36.0] }\n\
                   far = { z1_ohm = [0.4, 4.0], z0_ohm = [0.8, 6.0], angle_deg = -10 }\n";
    let late = "[[network.fault]]\ntype = \"AG\"\nposition = 0.5\nat = \"2900ms\"\nduration = \"100ms\"\n";
    for swing in ["turns = 1", "by_deg = -180"] {
        let text = format!("{network}lasts = \"3s\"\nswing = {{ {swing}, duration = \"1s\" }}\n{late}");
        let shot = parsed(&text).shot(&Sampling::new(4_800), 960, 0.0, 0).expect("a shot");
        // Half of it: the sources are opposite, 2 * 63.5 kV over 20.4 ohm. After it: 10 degrees, as before it.
        for (cycle, amps) in [(24, 6_200.0), (60, 544.0), (140, 544.0)] {
            let found = cycle_a(&shot.table, 960, cycle);
            assert!((found - amps).abs() < 0.04 * amps, "{swing}: cycle {cycle}: {found} A");
        }
    }
}

#[test]
fn a_resistance_too_small_for_its_direct_component_is_refused() {
    for (from, to, key) in [
        ("z1_ohm = [0.4, 4.0]", "z1_ohm = [0, 4.0]", "network.source"),
        ("z0_ohm = [9.0, 36.0]", "z0_ohm = [0.2, 36.0]", "network.line"),
    ] {
        let why = refusal(&loaded(-25.0, "").replace(from, to));
        assert!(why.contains(key) && why.contains("use at least 0.78 %"), "{why}");
    }
    parsed(&loaded(-25.0, "").replace("z1_ohm = [0.4, 4.0]", "z1_ohm = [0.0312, 4.0]"));
}

#[test]
fn keys_of_a_network_have_limits() {
    let network = loaded(
        -25.0,
        "far = { z1_ohm = [0.4, 4.0], z0_ohm = [0.8, 6.0], angle_deg = -10 }\nSWING\n",
    );
    let swing = |keys: &str| network.replace("SWING", &format!("swing = {{ {keys} }}"));
    for (text, says) in [
        (
            loaded(-25.0, "").replace("-25.0", "nan"),
            "network.load_angle_deg is NaN: use -90 to 90",
        ),
        (loaded(-120.0, ""), "network.load_angle_deg is -120: use -90 to 90"),
        (
            swing("by_deg = nan, duration = \"1s\""),
            "network.swing.by_deg is NaN: use -360 to 360",
        ),
        (
            swing("turns = 11, duration = \"1s\""),
            "network.swing.turns is 11: use -10 to 10",
        ),
        (swing("turns = inf, duration = \"1s\""), "network.swing.turns is inf"),
        (
            swing("turns = 1, duration = \"1ms\""),
            "network.swing.duration in seconds is 0.001",
        ),
    ] {
        let why = refusal(&text);
        assert!(why.contains(says), "{says}: {why}");
    }
}

/// A load, and a far source, are at the end of the line wherever the fault is.
#[test]
fn a_fault_in_the_next_line_moves_neither_load_nor_far_source() {
    let far = "far = { z1_ohm = [0.4, 4.0], z0_ohm = [0.8, 6.0], angle_deg = -10 }\n";
    for more in ["", far] {
        let before = |position: &str| {
            let text = loaded(-25.0, more).replace("position = 0.5", &format!("position = {position}"));
            let text = if more.is_empty() {
                text
            } else {
                text.replace("load_a = 400", "load_a = 0")
            };
            let shot = parsed(&text).shot(&Sampling::new(4_800), 960, 0.0, 0).expect("a shot");
            let Wave::Synth(Synth { nominal, .. }) = shot.wave.steady() else {
                panic!("a record")
            };
            let during = cycle_a(&shot.table, 960, 8);
            (nominal.currents_a[0], during)
        };
        let (load, near) = before("0.9");
        let (same, far) = before("1.1");
        assert!((load - same).abs() < 1e-3 * load, "{load} and {same}");
        assert!(far < near, "{far} A behind the end, {near} A before it");
    }
}

/// A second fault behind the relay is on the same line as the first: closer to the source, it takes the current of the first over.
#[test]
fn faults_behind_the_relay_are_on_one_line() {
    let with = |second: &str| {
        let text = loaded(-25.0, "").replace("position = 0.5", "position = -0.5");
        let text = format!(
            "{text}[[network.fault]]\nname = \"2\"\ntype = \"ABC\"\nposition = {second}\nat = \"0ms\"\nduration = \"200ms\"\n"
        );
        let shot = parsed(&text).shot(&Sampling::new(4_800), 960, 0.0, 0).expect("a shot");
        let milli = values(&shot.table, 4, 960 + 7 * 96..960 + 8 * 96);
        (milli.iter().map(|centi| (centi / 100.0).powi(2)).sum::<f64>() / 96.0).sqrt()
    };
    let (alone, beyond, closer) = (with("-0.5"), with("-0.9"), with("-0.2"));
    assert!(
        (alone - beyond).abs() < 0.01 * alone,
        "{beyond} V, not {alone}: beyond a bolted fault nothing flows"
    );
    // 2.47 of 6.48 ohm, beside 6.18 of 10.18 ohm.
    assert!((closer / alone - 0.629).abs() < 0.02, "{closer} V beside {alone}");
}

#[test]
fn values_beyond_the_range_of_samples_are_refused() {
    let sampling = Sampling::new(4_800);
    // 1.7 MA RMS is clipped, 1 MA is not, but leaves no room for a direct component.
    for (amps, is_clipped) in [(1_700_000, true), (1_000_000, false)] {
        let scenario = parsed(&TEXT.replace("currents_a = 1000", &format!("currents_a = {amps}")));
        let shot = scenario.shot(&sampling, 960, 0.0, 0);
        assert_eq!(shot.is_err(), is_clipped, "{amps}");
        let why = scenario.trial(&sampling).expect_err("refused").to_string();
        assert!(why.contains("scenario x: its signal grows beyond 1000 kA"), "{why}");
    }
}

#[test]
fn every_scenario_of_the_program_can_be_published() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files = std::fs::read_dir(folder).expect("the folder").count();
    assert_eq!(names().count(), files, "each file of the folder is in the program");
    for name in names() {
        let scenario = find(name, &Sampling::new(4_800)).expect(name);
        assert_eq!(scenario.name, name);
        for rate in [4_000, 4_800] {
            let shot = scenario.shot(&Sampling::new(rate), 2_400, 0.0, 0).expect(name);
            scenario.trial(&Sampling::new(rate)).expect(name);
            assert!(shot.table.saturated() == 0 && shot.fault < shot.end, "{name}");
        }
    }
}

/// Values of a member over some samples, in its unit.
fn values(table: &SampleTable, member: usize, samples: std::ops::Range<u64>) -> Vec<f64> {
    let one = |sample| {
        let octets = table.seq_data(sample)[8 * member..].first_chunk().expect("a member");
        f64::from(i32::from_be_bytes(*octets))
    };
    samples.map(one).collect()
}

/// Largest difference of neighbours.
fn steepest(values: &[f64]) -> f64 {
    values
        .windows(2)
        .fold(0.0, |most, pair| (pair[1] - pair[0]).abs().max(most))
}

/// A fault that starts anywhere ends without a step: no current changes faster at its end than it does in the fault itself.
#[test]
fn no_current_has_a_step_where_a_fault_ends() {
    let sampling = Sampling::new(4_800);
    for name in names() {
        let scenario = find(name, &sampling).expect(name);
        for lead in (2_400..2_496).step_by(31) {
            let shot = scenario.shot(&sampling, lead, 0.0, 0).expect(name);
            let of = |samples: std::ops::Range<u64>| {
                let steps = (0..3).map(|member| steepest(&values(&shot.table, member, samples.clone())));
                steps.fold(0.0, f64::max)
            };
            let during = of(shot.fault..shot.end - 96).max(of(0..96));
            let end = of(shot.end - 96..shot.end + 96);
            assert!(end <= 1.2 * during, "{name} at {lead}: {end}, {during} in the fault");
        }
    }
}

/// The poles of a three-phase fault open one after the other, the first within half a cycle.
#[test]
fn the_poles_of_a_fault_open_one_after_the_other() {
    let sampling = Sampling::new(4_800);
    let scenario = find("overcurrent", &sampling).expect("of the program");
    let mut firsts = std::collections::BTreeSet::new();
    for lead in 2_400..2_496 {
        let shot = scenario.shot(&sampling, lead, 0.0, 0).expect("a shot");
        let end = lead + 960;
        assert!((end..end + 2 * 96).contains(&shot.end), "{}", shot.end - end);
        // A pole that has opened leaves the load of at most 566 A.
        let open = [0, 1, 2].map(|member| {
            let all = values(&shot.table, member, end - 48..shot.end + 48);
            all.iter().rposition(|milli| milli.abs() > 600_000.0).expect("a fault")
        });
        assert!(open[0] != open[1] && open[1] != open[2], "{open:?}");
        firsts.insert((0..3).min_by_key(|phase| open[*phase]));
    }
    assert_eq!(firsts.len(), 3, "each phase is the first one at some point on the wave");
}

/// Ia, Ib and Ic add up to nothing where nothing is earthed.
#[test]
fn unbalanced_loads_have_no_zero_sequence() {
    let sampling = Sampling::new(4_800);
    for (name, negative_a) in [("negative-sequence", 200.0), ("negative-sequence-load", 16.0)] {
        let shot = find(name, &sampling)
            .and_then(|each| each.shot(&sampling, 960, 0.0, 0))
            .expect(name);
        let cycle = shot.fault + 9 * 96..shot.fault + 10 * 96;
        let residual = values(&shot.table, 3, cycle.clone());
        assert!(residual.iter().all(|milli| milli.abs() < 200.0), "{name}: {residual:?}");
        // Turned by a third of a cycle: I2 = (Ia + a^2 Ib + a Ic) / 3.
        let turned = [0, 64, 32].map(|later| cycle.start + later..cycle.end + later);
        let phases: Vec<Vec<f64>> = (0..3)
            .zip(turned)
            .map(|(phase, range)| values(&shot.table, phase, range))
            .collect();
        let square = |at: usize| ((phases[0][at] + phases[1][at] + phases[2][at]) / 3e3).powi(2);
        let rms = ((0..96).map(square).sum::<f64>() / 96.0).sqrt();
        assert!((rms - negative_a).abs() < 1.0, "{name}: {rms} A");
    }
}

/// Recovery at the rate of the fall, and no jump of the frequency.
#[test]
fn a_dip_of_the_frequency_ends_with_a_ramp() {
    let sampling = Sampling::new(4_800);
    let shot = find("frequency-dip", &sampling)
        .and_then(|each| each.shot(&sampling, 960, 0.0, 0))
        .expect("a shot");
    let voltage = values(&shot.table, 4, 0..shot.table.once());
    let zeros: Vec<f64> = (1..voltage.len())
        .filter(|at| voltage[at - 1] < 0.0 && voltage[*at] >= 0.0)
        .map(|at| (at - 1) as f64 + voltage[at - 1] / (voltage[at - 1] - voltage[at]))
        .collect();
    let hz: Vec<f64> = zeros.windows(2).map(|pair| 4_800.0 / (pair[1] - pair[0])).collect();
    let lowest = hz.iter().copied().fold(50.0, f64::min);
    assert!((lowest - 49.2).abs() < 0.01, "{lowest} Hz");
    assert!(hz.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.03), "{hz:?}");
}

/// Sum of the currents of both sides in phase b, in A, at each sample of the fault.
fn sums(name: &str) -> Vec<f64> {
    let sampling = Sampling::new(4_800);
    let scenario = find(name, &sampling).expect(name);
    assert_eq!(scenario.wave.sides(), 2, "{name}");
    let shot = scenario.shot(&sampling, 960, 0.0, 0).expect("a shot");
    let [near, far] = [0, 1].map(|side| values(&shot.table.side(side, &sampling.dataset), 1, shot.fault..shot.end));
    near.iter().zip(far).map(|(near, far)| (near + far) / 1_000.0).collect()
}

#[test]
fn currents_that_enter_a_line_leave_it_unless_the_fault_is_inside() {
    let largest = |name: &str| sums(name).into_iter().map(f64::abs).fold(0.0, f64::max);
    // The charging current, and what it does at the begin of the fault.
    assert!(
        largest("differential-outside") < 200.0,
        "{}",
        largest("differential-outside")
    );
    assert!(
        largest("differential-inside") > 15_000.0,
        "{}",
        largest("differential-inside")
    );
    // Saturated transformers at one side alone: a differential current without a fault.
    assert!(largest("differential-outside-saturation") > 1_000.0);
}

#[test]
fn a_breaker_opens_both_sides() {
    let sampling = Sampling::new(4_800);
    let scenario = find("differential-inside", &sampling).expect("of the program");
    let shot = scenario.shot(&sampling, 960, 0.0, 0).expect("a shot");
    let open = scenario.wave.opened().table(&sampling).expect("a table");
    let (table, done) = shot.table.opened(1_200, &open, &sampling.dataset).expect("both fit");
    assert!((1..200).contains(&done), "{done}");
    for side in [0, 1] {
        let of_side = table.side(side, &sampling.dataset);
        let currents = values(&of_side, 0, done..done + 500);
        assert!(currents.iter().all(|amps| *amps == 0.0), "side {side}");
    }
}
