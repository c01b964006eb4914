use super::UncertaintyBudget;
use crate::limits::Quantity;
use model::fact::{CLOCK_LONG_READING, CLOCK_STEP, CLOCKS_APART, COUNTER_READING};
use model::{Fact, IMPORTED, RunView, SeriesClock, setting};
use stats::uncertainty::Shape;
use testing::synthetic::{run, series};

/// Facts of an instrument: 30 ns for a long reading, steps of 1 ns, 50 ns between the clocks.
fn instrument(long_ns: u64) -> Vec<Fact> {
    vec![
        CLOCK_LONG_READING.fact(Ok(long_ns), "tests"),
        CLOCK_STEP.fact(Ok(1), "tests"),
        CLOCKS_APART.fact(Ok(50), "tests"),
        COUNTER_READING.fact(Ok(9), "tests"),
    ]
}

fn measured(name: &str) -> RunView {
    let mut run = run(vec![series(name, 1_000, 60_000, 10)]);
    run.facts = instrument(30);
    run
}

fn budget(run: &RunView, stated_ns: Option<u64>) -> UncertaintyBudget {
    let found = UncertaintyBudget::of((run, &run.series[0]), Quantity::Max, 60_000.0, stated_ns);
    found.expect("a kind with a model")
}

fn names(budget: &UncertaintyBudget) -> Vec<&str> {
    budget.components.iter().map(|one| one.name).collect()
}

#[test]
fn a_wake_up_ends_with_one_reading_that_only_lengthens_it() {
    let budget = budget(&measured("wakeup/cpu1"), None);
    let wanted = [
        "reading the clock at the end",
        "step of the clock at the end",
        "rate of the clock",
        "storage",
    ];
    assert_eq!(names(&budget), wanted);
    assert_eq!(budget.components[0].shape, Ok(Shape::Uniform { low: 0.0, high: 30.0 }));
    let combined = budget.combined().expect("all known");
    // Variances of 30, 1, 72 (± 36) and 1 ns wide rectangles.
    let wanted = ((900.0 + 1.0 + 5_184.0 + 1.0) / 12.0_f64).sqrt();
    assert!((combined.standard() - wanted).abs() < 1e-6, "{}", combined.standard());
    assert!((combined.bias() - 14.5).abs() < 1e-9, "{}", combined.bias());
    assert!(
        (combined.expanded() - 2.0 * wanted).abs() < 1e-6,
        "a bias to the safe side takes nothing off"
    );
}

#[test]
fn a_run_without_the_facts_and_one_of_another_tool_have_no_known_uncertainty() {
    let mut old = measured("wakeup/cpu1");
    old.facts.clear();
    let unknown = budget(&old, None);
    assert_eq!(unknown.combined(), None);
    assert!(
        unknown.unknown()[0].contains("not measured in this run"),
        "{:?}",
        unknown.unknown()
    );
    let mut imported = measured("wakeup/thread0");
    imported.info.command = IMPORTED.to_owned();
    assert!(budget(&imported, None).text().contains("another tool measured"));
    let mut unread = measured("wakeup/cpu1");
    unread.facts[0] = CLOCK_LONG_READING.fact(Err("CPU 1 gave no time".into()), "tests");
    assert!(budget(&unread, None).text().contains("CPU 1 gave no time"));
}

#[test]
fn a_stamp_of_the_kernel_is_the_definition_and_one_of_the_nic_needs_its_way_to_the_wire() {
    let mut trip = measured("trip/F4");
    trip.series[0].spec.clock = SeriesClock::Realtime;
    assert_eq!(
        names(&budget(&trip, None)),
        [
            "step of the clock at the end",
            "conversion of clocks",
            "rate of the clock",
            "storage"
        ]
    );
    trip.series[0]
        .spec
        .settings
        .push((setting::STAMPS.into(), "NIC's".into()));
    let open = budget(&trip, None);
    assert_eq!(open.combined(), None);
    assert!(
        open.text().contains("stamp to wire (no loop back measured it"),
        "{}",
        open.text()
    );
    assert!(budget(&trip, Some(300)).combined().is_some());
}

#[test]
fn our_own_sender_makes_trips_longer_by_its_mean_lateness() {
    let mut trips = measured("trip/F4");
    trips.series.push(series("publish/MU01", 10_000, 9_000, 10));
    let found = budget(&trips, None);
    let sender = found.components.iter().find(|one| one.name == "lateness of our sender");
    let Ok(Shape::Normal { mean, deviation }) = sender.expect("it has one").shape else {
        panic!("known");
    };
    assert!(
        (2_000.0..4_000.0).contains(&mean) && deviation > 100.0,
        "{mean}, {deviation}"
    );
    assert!(found.combined().expect("known").bias() > 2_000.0);
}

#[test]
fn two_clocks_bring_their_synchronisation_or_leave_it_unknown() {
    let mut age = measured("age/MU01");
    let settings = &mut age.series[0].spec.settings;
    settings.push((setting::CLOCK_UNCERTAINTY_NS.into(), "2000".into()));
    let standard = budget(&age, None).combined().expect("stated").standard();
    assert!(standard > 2_000.0 / 3.0_f64.sqrt(), "{standard}");
    age.series[0].spec.settings.pop();
    let not_stated = (setting::CLOCK_UNCERTAINTY_NS.into(), setting::NOT_STATED.into());
    age.series[0].spec.settings.push(not_stated);
    assert!(budget(&age, None).text().contains("synchronisation of clocks"));
}

#[test]
fn a_series_of_a_place_has_the_clock_of_the_place() {
    let mut inside = measured("wakeup/cpu1");
    inside.series[0]
        .spec
        .settings
        .push((setting::PLACE.into(), "vm: qemu".into()));
    assert!(
        budget(&inside, None).text().contains("not measured in this run"),
        "the host's clock is another"
    );
    let there = instrument(400).into_iter().map(|fact| Fact {
        group: format!("vm: {}", fact.group),
        ..fact
    });
    inside.facts.extend(there);
    assert_eq!(
        budget(&inside, None).components[0].shape,
        Ok(Shape::Uniform { low: 0.0, high: 400.0 })
    );
    // A second place that brought its inventory, and no instrument: the series may be from there.
    let release = &model::fact::KERNEL_RELEASE;
    for place in ["vm", "far machine"] {
        let fact = release.fact(Ok("6.12".into()), "tests");
        inside.facts.push(Fact {
            group: format!("{place}: {}", fact.group),
            ..fact
        });
    }
    assert_eq!(budget(&inside, None).combined(), None);
}

#[test]
fn a_quantile_is_rounded_up_to_its_bucket() {
    let run = measured("wakeup/cpu1");
    let of = |quantity| UncertaintyBudget::of((&run, &run.series[0]), quantity, 1_000_000.0, None).expect("modelled");
    let bias = |budget: UncertaintyBudget| budget.combined().expect("known").bias();
    assert!((bias(of(Quantity::P99)) - bias(of(Quantity::Max)) - 500.0).abs() < 1e-6);
}
