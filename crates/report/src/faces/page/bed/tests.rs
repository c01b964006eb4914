use super::pictures;
use crate::Report;
use model::fact::{NO_SWITCH, SWITCH};
use model::{Event, EventKind};
use testing::synthetic;

fn drawn(names: &[&str]) -> Option<String> {
    over(None, names)
}

/// The picture for a bed with this switch, or with the reason why the switch is not known.
fn over(switch: Option<Result<&str, &str>>, names: &[&str]) -> Option<String> {
    let series = names.iter().map(|name| synthetic::series(name, 1000, 60_000, 10));
    let mut run = synthetic::run(series.collect());
    let text = |text: &str| text.to_owned();
    run.facts
        .extend(switch.map(|switch| SWITCH.fact(switch.map(text).map_err(text), "test")));
    let mut all = pictures(&Report::new(run, Vec::new()));
    assert!(all.len() < 2, "a run without steps has one picture");
    all.pop().map(|picture| picture.svg)
}

/// Positions of names in the picture.
fn places<const N: usize>(drawn: &str, names: [&str; N]) -> [usize; N] {
    names.map(|name| {
        let found = [format!(">{name}</text>"), format!(">{name}<tspan")]
            .iter()
            .find_map(|text| drawn.find(text));
        found.unwrap_or_else(|| panic!("{name}: {drawn}"))
    })
}

#[test]
fn places_stand_in_the_order_of_the_way() {
    let names = [
        "publish/lateness",
        "arrival/MU01",
        "hop/nic-to-edge/MU01",
        "hop/edge-to-app/MU01",
        "age/MU01",
        "task/bay",
        "trip/bay",
    ];
    let drawn = drawn(&names).expect("a picture");
    let places = places(&drawn, ["Test set", "Point nic", "Point edge", "Application", "Relay"]);
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(drawn.matches("class=\"span\"").count(), 2, "age and trip");
    assert!(!drawn.contains("Switch"), "the run knows of none");
}

#[test]
fn a_switch_stands_between_test_set_and_device() {
    let names = ["publish/lateness", "rtt/reflect", "turnaround/reflect", "arrival/MU01"];
    let bridge = over(Some(Ok("bridge")), &names).expect("a picture");
    let at = places(&bridge, ["Test set", "Switch", "Device under test"]);
    assert!(at.is_sorted(), "{at:?}");
    assert!(bridge.contains(">bridge</tspan>"), "{bridge}");
    assert_eq!(
        bridge.matches("arrow open").count(),
        1,
        "to the switch alone nothing was measured"
    );
    for none in [Some(Ok(NO_SWITCH)), Some(Err("not known")), None] {
        let drawn = over(none, &names).expect("a picture");
        assert!(!drawn.contains("Switch") && !drawn.contains("arrow open"), "{drawn}");
    }
}

#[test]
fn points_before_the_devices_edge_are_on_the_switch() {
    let names = [
        "hop/nic-to-port/MU01",
        "hop/port-to-edge/MU01",
        "hop/nic-to-edge/MU01",
        "hop/edge-to-app/MU01",
        "arrival/MU01",
        "age/MU01",
        "task/bay",
    ];
    let drawn = over(Some(Ok("bridge")), &names).expect("a picture");
    assert_eq!(drawn.matches("class=\"around\"").count(), 2, "switch and device");
    let text = |name: &str| {
        drawn
            .find(&format!(">{name}<"))
            .unwrap_or_else(|| panic!("{name}: {drawn}"))
    };
    // Frames are drawn first; a box belongs to the frame at its height.
    let height = |name: &str| -> f64 {
        let y = drawn[..text(name)].rsplit("y=\"").next().expect("a place");
        y.split('"').next().and_then(|y| y.parse().ok()).expect("a number")
    };
    let order = [
        "Test set",
        "Switch",
        "Point nic",
        "Point port",
        "Device under test",
        "Point edge",
        "Application",
        "Relay",
    ];
    let heights = order.map(height);
    assert!(heights.is_sorted(), "{heights:?}");
    assert_eq!(drawn.matches(">Hop<").count(), 3, "from each point to the next");
    assert_eq!(
        drawn.matches("class=\"span\"").count(),
        2,
        "arrival reaches over the switch, and age"
    );
}

#[test]
fn a_switch_without_frames_is_no_bed() {
    assert_eq!(over(Some(Ok("bridge")), &["wakeup/cpu1"]), None);
}

#[test]
fn a_run_without_frames_has_no_bed() {
    assert_eq!(drawn(&["wakeup/cpu1"]), None);
    assert_eq!(drawn(&[]), None);
}

#[test]
fn names_of_points_are_text() {
    let drawn = drawn(&["hop/<b>-to-&/MU01"]).expect("a picture");
    assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"));
}

/// A wake-up step alone, a round trip, and sampled values: each picture shows the figures of its own step only.
#[test]
fn no_picture_shows_figures_of_two_steps() {
    let names = [
        "wakeup/cpu1",
        "rtt/reflect",
        "turnaround/reflect",
        "publish/MU",
        "age/MU01",
        "arrival/MU01",
    ];
    let mut run = synthetic::run(
        names
            .iter()
            .map(|name| synthetic::series(name, 1000, 60_000, 10))
            .collect(),
    );
    let step_s = [0, 20, 20, 40, 40, 40];
    for (series, from_s) in run.series.iter_mut().zip(step_s) {
        for window in series.windows.iter_mut() {
            window.start_ns += from_s * 1_000_000_000;
            window.end_ns += from_s * 1_000_000_000;
        }
    }
    let event = |at_s: u64, kind: EventKind, text: &str| Event {
        at_ns: at_s * 1_000_000_000,
        since_ns: None,
        kind,
        series: None,
        text: text.to_owned(),
    };
    let steps = [(0, "wake-up"), (19, "round trip"), (39, "sampled values")];
    run.events = steps
        .iter()
        .flat_map(|(at_s, name)| {
            [
                event(*at_s, EventKind::StepStarted, name),
                event(at_s + 19, EventKind::StepStopped, name),
            ]
        })
        .collect::<Vec<_>>()
        .into();
    let all = pictures(&Report::new(run, Vec::new()));
    let told: Vec<_> = all.iter().map(|picture| picture.step.as_deref()).collect();
    assert_eq!(told, [Some("Step 2, round trip"), Some("Step 3, sampled values")]);
    assert!(
        all[0].svg.contains(">Round trip<") && !all[0].svg.contains(">Age<"),
        "{}",
        all[0].svg
    );
    assert!(
        all[1].svg.contains(">Age<") && !all[1].svg.contains(">Round trip<"),
        "{}",
        all[1].svg
    );
    assert!(
        all.iter().all(|picture| !picture.svg.contains(">Wake-up")),
        "the wake-ups were measured alone"
    );
}
