use super::{Phases, RESIDUAL};
use crate::comtrade::{AnalogChannel, Values};
use crate::sample::Quantity;

/// Channels from `field:name` in amperes.
fn channels(texts: &[&str]) -> Vec<AnalogChannel> {
    let channel = |text: &&str| {
        let (phase, name) = text.split_once(':').expect("field:name");
        AnalogChannel {
            number: 1,
            name: name.into(),
            phase: phase.into(),
            component: String::new(),
            unit: "A".into(),
            gain: 1.0,
            offset: 0.0,
            skew_us: 0.0,
            primary: 1.0,
            secondary: 1.0,
            values: Values::Primary,
        }
    };
    texts.iter().map(channel).collect()
}

/// Positions, from 1, of the channels of phases a, b and c and of the residual; 0 if there is none.
fn found(texts: &[&str]) -> [usize; 4] {
    let channels = channels(texts);
    let phases = Phases::of(&channels, Quantity::Current);
    [0, 1, 2, RESIDUAL].map(|place| {
        let channel = match place {
            RESIDUAL => phases.residual(),
            phase => phases.phase(phase),
        };
        channel.map_or(0, |channel| channel.index + 1)
    })
}

#[test]
fn fields_that_name_the_phases_decide() {
    assert_eq!(found(&["C:IA", "B:IB", "A:IC", "N:x"]), [3, 2, 1, 4]);
    assert_eq!(found(&["L1:x", "L2:x", "L3:x", ":IN"]), [1, 2, 3, 4]);
    assert_eq!(found(&["1:x", "2:x", "3:x", "0:x"]), [1, 2, 3, 4]);
    assert_eq!(
        found(&["A:x", ":IB", "C:x"]),
        [1, 2, 3, 0],
        "a name where the field is empty"
    );
    assert_eq!(found(&["A:x"]), [1, 0, 0, 0], "one of one is not the same on all");
}

#[test]
fn fields_that_say_nothing_leave_it_to_the_names() {
    assert_eq!(found(&["A:IA: w1", "A:IB: w2", "A:IC: w3"]), [1, 2, 3, 0]);
    assert_eq!(found(&["1:Ia", "1:Ib", "1:Ic", "1:Id", "1:Ie", "1:In1"]), [1, 2, 3, 6]);
    assert_eq!(
        found(&["7:I1", "8:I2", "9:I3", "1:I0"]),
        [1, 2, 3, 4],
        "numbers of inputs"
    );
    assert_eq!(found(&["A:IL1", "A:IL2", "B:IL3"]), [1, 2, 3, 0]);
    assert_eq!(found(&["1:IN", "2:IA", "3:IB", "4:IC"]), [2, 3, 4, 1], "so are these");
    assert_eq!(found(&["A:x", "A:y", "A:z"]), [0; 4], "nor do the names");
    let channels = channels(&["A:IA", "A:IB", "A:IC"]);
    assert!(Phases::of(&channels, Quantity::Current).by_name);
}

#[test]
fn numbers_without_the_others_are_no_phases() {
    assert_eq!(found(&[":I0", ":I1", ":I2"]), [0; 4], "symmetrical components");
    assert_eq!(found(&["0:I21", "1:I32", "6:Io"]), [0; 4]);
    assert_eq!(found(&[":I1", ":I2", ":I0", ":IA", ":IB", ":IC"]), [4, 5, 6, 0]);
}

#[test]
fn phases_in_a_later_part_of_the_names() {
    assert_eq!(found(&[":HV IR", ":HV IS", ":HV IT", ":HV IN"]), [1, 2, 3, 4]);
    assert_eq!(found(&[":LV IR", ":HV IS", ":LV IS", ":LV IT", ":HV IN"]), [1, 3, 4, 0]);
    assert_eq!(
        found(&[":LINE SUM ILA", ":LINE SUM ILB", ":LINE SUM ILC"]),
        [1, 2, 3, 0]
    );
    assert_eq!(found(&["1:F1-IA", "2:F2-IB", "3:F3-IC", "4:F4-IG"]), [1, 2, 3, 4]);
    assert_eq!(found(&[":Bay 2 IL1", ":Bay 2 IL2", ":Bay 2 IL3"]), [1, 2, 3, 0]);
    assert_eq!(
        found(&[":X IA", ":IA", ":IB", ":IC"]),
        [2, 3, 4, 0],
        "the beginning comes first"
    );
    assert_eq!(found(&[":HV IR", ":HV IS"]), [0; 4], "two are not all");
    assert_eq!(found(&[":HV I1", ":HV I2", ":HV I0"]), [0; 4], "symmetrical components");
}

#[test]
fn bare_letters_at_the_end_are_phases_if_all_are_there() {
    assert_eq!(found(&[":BAY1_A", ":BAY1_B", ":BAY1_C", ":BAY1_N"]), [1, 2, 3, 4]);
    assert_eq!(found(&[":Line L1", ":Line L2", ":Line L3"]), [1, 2, 3, 0]);
    assert_eq!(
        found(&[
            ":\u{442}\u{43e}\u{43a} \u{410}",
            ":\u{442}\u{43e}\u{43a} \u{412}",
            ":\u{442}\u{43e}\u{43a} \u{421}"
        ]),
        [1, 2, 3, 0]
    );
    assert_eq!(found(&["\u{410}:x", "\u{412}:x", "\u{421}:x"]), [1, 2, 3, 0], "fields");
    assert_eq!(found(&[":BAY1_A", ":BAY1_B"]), [0; 4]);
}

#[test]
fn a_residual_is_of_the_circuit_or_the_only_one() {
    assert_eq!(found(&[":IN2", ":IA1", ":IB1", ":IC1", ":IA2"]), [2, 3, 4, 0]);
    assert_eq!(found(&[":IN_2", ":IN_1", ":IA_1", ":IB_1", ":IC_1"]), [3, 4, 5, 2]);
    assert_eq!(found(&[":IA.1", ":IB.2", ":IC.3", ":3I0"]), [1, 2, 3, 4]);
    assert_eq!(found(&[":3IA", ":IA", ":IB", ":IC"]), [2, 3, 4, 0]);
    assert_eq!(found(&[":IA", ":IB", ":IC", ":IE"]), [1, 2, 3, 4]);
}

#[test]
fn the_monitored_component_comes_before_the_rest_of_the_name() {
    let mut channels = channels(&["A:IA.1", "N:IN.4", "B:IB.6", "B:IB.2", "C:IC.3", "N:3Io.7"]);
    for (channel, component) in channels.iter_mut().zip(["bay", "other", "other", "bay", "bay", "bay"]) {
        channel.component = component.into();
    }
    let phases = Phases::of(&channels, Quantity::Current);
    let places = [0, 1, 2].map(|phase| phases.phase(phase).map(|channel| channel.index));
    assert_eq!(places, [Some(0), Some(3), Some(4)]);
    assert_eq!(phases.residual().map(|channel| channel.index), Some(5));
}

#[test]
fn channels_between_phases_are_known() {
    let channels = channels(&[":IAB", ":I21", ":IL12", ":IL1L2", ":IA", ":I11", ":IABC"]);
    assert_eq!(
        Phases::of(&channels, Quantity::Current).between,
        ["IAB", "I21", "IL12", "IL1L2"]
    );
}
