use super::{Complex, Fault, FaultType, Network, polar};
use crate::synth::Operating;

/// The test network of the reference: 63.5 V to earth, source 1/_85 and 1.5/_80 ohm, line 4/_75 and 12/_70 ohm, no load.
fn network() -> Network {
    Network {
        frequency_hz: 50.0,
        source_v: 63.5 * 3_f64.sqrt(),
        source_ohm: [polar(1.0, 85.0), polar(1.5, 80.0)],
        line_ohm: [polar(4.0, 75.0), polar(12.0, 70.0)],
        load_a: Complex::default(),
    }
}

fn fault(kind: FaultType, position: f64, resistance_ohm: f64) -> Fault {
    Fault {
        kind,
        position,
        resistance_ohm,
    }
}

/// Magnitudes and angles of three phases.
type Phases = [(f64, f64); 3];

#[track_caller]
fn near(magnitudes: [f64; 3], angles_deg: [f64; 3], wanted: Phases) {
    for (phase, (magnitude, deg)) in wanted.into_iter().enumerate() {
        let off = polar(magnitudes[phase], angles_deg[phase]) - polar(magnitude, deg);
        let allowed = 6e-5 * magnitude.max(10.0);
        assert!(
            off.norm() < allowed,
            "phase {phase}: {magnitudes:?} {angles_deg:?}, not {wanted:?}"
        );
    }
}

#[track_caller]
fn measures(operating: &Operating, voltages: Phases, currents: Phases) {
    near(operating.voltages_v, operating.voltage_angles_deg, voltages);
    near(operating.currents_a, operating.current_angles_deg, currents);
}

const NONE: (f64, f64) = (0.0, 0.0);

/// Values of the reference table, calculated independently of this code.
#[test]
fn faults_of_the_reference_network() {
    let of = |kind, position, ohm| network().during(&fault(kind, position, ohm));
    measures(
        &of(FaultType::Ag, 0.5, 0.0),
        [(47.1998, -2.809), (64.5721, -121.937), (64.9029, 121.755)],
        [(14.1729, -74.809), NONE, NONE],
    );
    measures(
        &of(FaultType::Ag, 0.5, 2.0),
        [(51.8844, -7.441), (64.9776, -121.226), (64.0022, 121.756)],
        [(11.8387, -53.718), NONE, NONE],
    );
    measures(
        &of(FaultType::Bc, 0.5, 0.0),
        [(63.5, 0.0), (49.9695, -132.699), (47.1764, 128.882)],
        [NONE, (18.3931, -168.330), (18.3931, 11.670)],
    );
    measures(
        &of(FaultType::Bcg, 0.5, 0.0),
        [(65.3077, -0.079), (44.7024, -126.970), (43.9892, 120.931)],
        [NONE, (19.6081, 176.027), (18.6688, 28.123)],
    );
    let all = of(FaultType::Abc, 0.9, 0.0);
    let [v, i] = [-2.169, -77.169].map(|deg| [deg, deg - 120.0, deg + 120.0]);
    measures(&all, v.map(|deg| (49.8246, deg)), i.map(|deg| (13.8402, deg)));
}

/// The loops of IEC 61850-7-4's distance function measure m times the line impedance at any load (bolted faults).
#[test]
fn each_loop_sees_the_part_of_the_line_up_to_its_fault() {
    let loaded = Network {
        load_a: polar(3.0, -20.0),
        ..network()
    };
    let phasors = |magnitudes: [f64; 3], deg: [f64; 3]| [0, 1, 2].map(|phase| polar(magnitudes[phase], deg[phase]));
    let [z1, z0] = loaded.line_ohm;
    let k0 = (z0 - z1) / (z1 * 3.0);
    let earth = [FaultType::Ag, FaultType::Bg, FaultType::Cg];
    let pairs = [
        (FaultType::Ab, [0, 1]),
        (FaultType::Bc, [1, 2]),
        (FaultType::Ca, [2, 0]),
        (FaultType::Abg, [0, 1]),
        (FaultType::Bcg, [1, 2]),
        (FaultType::Cag, [2, 0]),
        (FaultType::Abc, [0, 1]),
    ];
    for position in [0.0, 0.3, 1.0, 1.2] {
        let wanted = z1 * position;
        let check = |kind, seen: Complex| assert!((seen - wanted).norm() < 1e-9, "{kind:?} at {position}: {seen:?}");
        let of = |kind| {
            let measured = loaded.during(&fault(kind, position, 0.0));
            let v = phasors(measured.voltages_v, measured.voltage_angles_deg);
            (v, phasors(measured.currents_a, measured.current_angles_deg))
        };
        for (phase, kind) in earth.into_iter().enumerate() {
            let (v, i) = of(kind);
            let residual = i[0] + i[1] + i[2];
            check(kind, v[phase] / (i[phase] + k0 * residual));
        }
        for (kind, [one, other]) in pairs {
            let (v, i) = of(kind);
            check(kind, (v[one] - v[other]) / (i[one] - i[other]));
        }
    }
}

#[test]
fn before_the_fault_the_load_flows_and_a_fault_of_no_effect_changes_nothing() {
    let loaded = Network {
        load_a: polar(3.0, -20.0),
        ..network()
    };
    let before = loaded.before();
    near(
        before.currents_a,
        before.current_angles_deg,
        [(3.0, -20.0), (3.0, -140.0), (3.0, 100.0)],
    );
    let far = loaded.during(&fault(FaultType::Bg, 0.5, 1e9));
    near(
        far.currents_a,
        far.current_angles_deg,
        [(3.0, -20.0), (3.0, -140.0), (3.0, 100.0)],
    );
    let x_r = Network {
        source_ohm: [Complex::new(0.0, 1.0); 2],
        line_ohm: [Complex::new(0.1, 0.0); 2],
        ..network()
    };
    // L/R = 1 / (2 pi 50 0.1) s.
    assert_eq!(x_r.time_constant_ns(&fault(FaultType::Abc, 1.0, 0.0)), 31_830_988);
}
