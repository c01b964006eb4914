//! Judging trips of faults that another injector made: their starts are known to some time before the instant that is measured from.

use super::doubt::Doubt;
use crate::limits::{Limit, Quantity};
use model::{Outcome, RunView, SeriesView, Shot, kind, setting};
use units::Ns;

/// How much longer than measured a trip of this series may have taken, in ns. 0 where the starts are known.
pub(crate) fn uncertain_ns(run: &RunView, series: &SeriesView) -> u64 {
    let is_timed = series
        .spec
        .kind
        .is_some_and(|kind| *kind == kind::TRIP || *kind == kind::START);
    let Some((_, label)) = series.spec.name.split_once('/').filter(|_| is_timed) else {
        return 0;
    };
    let counted = run
        .shots
        .iter()
        .filter(|shot| shot.name == label && shot.outcome != Outcome::NotCounted);
    counted.filter_map(|shot| shot.uncertain_ns).max().unwrap_or(0)
}

/// True if samples of another injector's faults lack their shots, which alone have the uncertainty of their starts.
pub(crate) fn lacks_shots(run: &RunView, series: &SeriesView) -> bool {
    let is_observed = series.spec.settings.iter().any(|(key, _)| key == setting::FAULT_WHERE);
    let label = series.spec.name.split_once('/').map_or("", |(_, label)| label);
    let counted = |shot: &&Shot| shot.name == label && !matches!(shot.outcome, Outcome::NotCounted | Outcome::False);
    is_observed && (run.shots.iter().filter(counted).count() as u64) < series.counters.received
}

/// The doubt that a figure within its limit is beyond it because its start is uncertain.
pub(super) fn doubt(run: &RunView, series: &SeriesView, limit: &Limit, measured_ns: f64) -> Option<Doubt> {
    let quantity = limit.quantity;
    let is_time = matches!(quantity, Quantity::Max | Quantity::Mean) || quantity.quantile().is_some();
    if is_time && measured_ns <= limit.allowed as f64 && lacks_shots(run, series) {
        return Some(Doubt {
            text: "the run file lacks shots of this series: how much earlier their faults may have begun is not known"
                .into(),
            explains_excess: false,
        });
    }
    let uncertain_ns = is_time.then(|| uncertain_ns(run, series)).filter(|ns| *ns > 0)?;
    let allowed_ns = limit.allowed as f64;
    let is_near = measured_ns <= allowed_ns && measured_ns + uncertain_ns as f64 > allowed_ns;
    is_near.then(|| Doubt {
        text: format!(
            "a fault may have begun up to {} before the instant that is measured from: the limit lies within that",
            Ns(uncertain_ns)
        ),
        explains_excess: false,
    })
}

#[cfg(test)]
mod tests {
    use super::uncertain_ns;
    use crate::limits::Profile;
    use crate::verdict::{Judgement, Verdict};
    use model::{Outcome, RunView, SeriesSpec, Shot, kind, setting};

    /// A run with one trip of 30 ms, whose fault may have begun so much earlier.
    fn run(uncertain_ns: Option<u64>) -> RunView {
        let mut series = testing::synthetic::series("trip/observed", 1, 30_000_000, 1);
        series.spec = SeriesSpec::of(&kind::TRIP, "observed", "x");
        let rule = (setting::FAULT_WHERE.to_owned(), "above:2000A".to_owned());
        series.spec.settings.push(rule);
        let mut run = testing::synthetic::run(vec![series]);
        run.shots = [(Outcome::Tripped, uncertain_ns), (Outcome::NotCounted, Some(9_000_000))]
            .map(|(outcome, uncertain_ns)| Shot {
                number: 1,
                at_ns: 1,
                watched_ns: None,
                uncertain_ns,
                reset_ns: None,
                name: "observed".into(),
                point_deg: None,
                cell: None,
                outcome,
                trip_ns: Some(30_000_000),
            })
            .to_vec();
        run
    }

    #[test]
    fn a_trip_passes_only_with_all_that_its_start_may_be_earlier() {
        let judge = |run: &RunView, allowed: &str| {
            let text = format!(
                "name = \"x\"\nwhat = \"x\"\n[[limit]]\nid = \"trip.within\"\nseries = \"trip/*\"\nquantity = \"max\"\nallowed = \"{allowed}\"\n\
                 source = \"x\"\n"
            );
            let profile = Profile::parse(&text, "x").expect("a profile");
            let check = Judgement::of(run, &[profile]).checks.remove(0);
            (check.verdict, check.why)
        };
        let verdict = |uncertain_ns, allowed: &str| judge(&run(uncertain_ns), allowed);
        assert_eq!(verdict(Some(250_000), "31ms").0, Verdict::Pass);
        assert_eq!(verdict(None, "30ms").0, Verdict::Pass);
        let (near, why) = verdict(Some(250_000), "30100us");
        assert_eq!(near, Verdict::Inconclusive);
        assert!(why.contains("up to 250 µs before"), "{why}");
        assert_eq!(verdict(Some(250_000), "29ms").0, Verdict::Fail, "it took even longer");
        let mut without = run(Some(250_000));
        without.shots.clear();
        let (unknown, why) = judge(&without, "31ms");
        assert_eq!(unknown, Verdict::Inconclusive);
        assert!(why.contains("lacks shots"), "{why}");
        let series = &run(Some(7)).series[0];
        assert_eq!(
            uncertain_ns(&run(Some(7)), series),
            7,
            "a shot that does not count says nothing"
        );
    }
}
