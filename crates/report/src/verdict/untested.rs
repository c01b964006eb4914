//! Properties of a device that the run did not test, although its limits passed.

use super::Judgement;
use model::{Kind, RunView, SeriesView, kind, setting};

/// Kinds of series that show what a device does with sampled values.
const OF_SAMPLES: [&Kind; 12] = [
    &kind::TRIP,
    &kind::SECURITY,
    &kind::PHASE,
    &kind::ZONE,
    &kind::RTT,
    &kind::STAGE,
    &kind::SPACING,
    &kind::ARRIVAL,
    &kind::AGE,
    &kind::USE,
    &kind::TASK,
    &kind::TASK_STAGE,
];

impl Judgement {
    /// Notices about the reach of the verdict; they do not change it.
    pub fn notices(&self) -> impl Iterator<Item = String> {
        self.few().into_iter().chain(self.untested.map(str::to_owned))
    }
}

/// The notice that a device may have passed without reading any sampled value: a run of which each series is about GOOSE alone.
pub(super) fn samples(run: &RunView) -> Option<&'static str> {
    let of_goose = |series: &&SeriesView| series.setting(setting::SAMPLED_VALUES) == Some(setting::NOT_TESTED);
    let of_samples = |series: &SeriesView| OF_SAMPLES.iter().any(|kind| series.is(kind)) && !of_goose(&series);
    let is_of_goose = run.series.iter().any(|series| of_goose(&series));
    (is_of_goose && !run.series.iter().any(of_samples))
        .then_some("samples were not tested: a device that reads none may pass")
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use crate::about::About;
    use crate::limits::{Pattern, Profile};
    use crate::screen::Size;
    use model::{SeriesView, setting};
    use testing::synthetic::{run, series};

    fn of_goose(name: &str) -> SeriesView {
        let mut series = series(name, 100, 60_000, 1);
        let setting = (setting::SAMPLED_VALUES.into(), setting::NOT_TESTED.into());
        series.spec.settings.push(setting);
        series
    }

    /// The report of a run, which passes.
    fn report(series: Vec<SeriesView>) -> Report {
        let mut profile = Profile::find("substation").expect("embedded");
        profile.limits.retain(|limit| limit.id == "wakeup.max");
        profile.limits[0].series = Pattern::new("*");
        Report::new(run(series), vec![profile])
    }

    #[test]
    fn a_verdict_on_goose_alone_says_so_on_every_face() {
        let report = report(vec![of_goose("trip/goose/honest-trip"), of_goose("pong/none")]);
        let text = "samples were not tested: a device that reads none may pass";
        let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
        assert_eq!(json["verdict"], "pass");
        assert_eq!(json["untested"], text);
        assert!(
            report.sentence().contains(&text.replacen('s', "S", 1)),
            "{}",
            report.sentence()
        );
        for text in [
            report.screen(Size::of_terminal(80, 24), false, None),
            report.uncut(None),
            report.summary(),
        ] {
            assert!(text.contains("; samples were not tested"), "{text}");
        }
        assert!(report.text(false, None).contains("Samples were not tested"));
        assert!(
            report
                .html(&About::default(), None)
                .expect("a page")
                .contains("amples were not tested")
        );
        assert!(report.junit().expect("a document").contains("Samples were not tested"));
    }

    #[test]
    fn a_run_that_tests_samples_too_says_nothing() {
        for other in ["rtt/echo", "trip/overcurrent", "spacing/MU01"] {
            let report = report(vec![of_goose("pong/none"), series(other, 100, 60_000, 1)]);
            assert_eq!(report.judgement.untested, None, "{other}");
            assert!(!report.json().contains("untested"), "{other}");
        }
        assert!(
            report(vec![of_goose("pong/none"), series("wakeup/cpu1", 100, 60_000, 1)])
                .judgement
                .untested
                .is_some()
        );
        assert_eq!(
            report(vec![series("trip/overcurrent", 100, 60_000, 1)])
                .judgement
                .untested,
            None
        );
    }
}
