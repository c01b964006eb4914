//! The series that the event of a second measurement affects.

use super::{Pattern, Quantity, event, profile};
use crate::verdict::{Judgement, Verdict};
use model::{Event, EventKind};
use testing::synthetic::{run, series};

#[test]
fn nothing_is_passed_or_failed_on_an_emulated_processor() {
    for (name, quantity) in [("wakeup/cpu1", Quantity::Max), ("age/MU01", Quantity::Lost)] {
        for allowed in [0, 50_000, 120_000] {
            let mut run = run(vec![series(name, 1000, 60_000, 10)]);
            run.events.push(event(EventKind::Emulated));
            let mut profile = profile(quantity, allowed);
            profile.limits[0].series = Pattern::new("*");
            let judgement = Judgement::of(&run, &[profile]);
            assert_eq!(judgement.verdict, Verdict::Inconclusive, "{name} {allowed}");
        }
    }
}

#[test]
fn a_second_measurement_on_an_interface_reaches_frames_and_one_on_a_cpu_its_series() {
    let judged = |name: &str, of_series: bool, allowed| {
        let mut run = run(vec![series(name, 1000, 60_000, 10)]);
        run.events.push(Event {
            series: of_series.then_some(run.series[0].id),
            ..event(EventKind::SecondMeasurement)
        });
        let mut profile = profile(Quantity::Max, allowed);
        profile.limits[0].series = Pattern::new("*");
        Judgement::of(&run, &[profile]).verdict
    };
    for name in ["publish/lateness", "age/MU01", "rtt/reflect"] {
        assert_eq!(judged(name, false, 120_000), Verdict::Inconclusive, "{name}");
        assert_eq!(judged(name, false, 50_000), Verdict::Inconclusive, "{name}");
    }
    for name in ["wakeup/cpu1", "noise/cpu1", "task/x"] {
        assert_eq!(judged(name, false, 120_000), Verdict::Pass, "{name}");
        assert_eq!(judged(name, false, 50_000), Verdict::Fail, "{name}");
        assert_eq!(judged(name, true, 120_000), Verdict::Inconclusive, "{name}");
    }
}
