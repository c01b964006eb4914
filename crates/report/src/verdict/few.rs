//! Verdicts based on less than a limit requires: samples, time, load.

use super::doubt::Doubt;
use super::{Check, Judgement, Verdict};
use crate::limits::Limit;
use crate::text::{count, plural};
use model::{SeriesView, setting};
use units::Ns;

/// Minimum number of samples, none over a limit, that proves that at most 5 % of all are over it (95 %): 0.95^59 <
/// 0.05.
const FEWEST: u64 = 59;

impl Judgement {
    /// A note if passes are based on so few samples that they prove little; otherwise `None`. It changes no verdict: a
    /// relay gets ten shots, not a thousand.
    pub fn few(&self) -> Option<String> {
        let passes = self.checks.iter().filter(|check| check.verdict == Verdict::Pass);
        let few: Vec<&Check> = passes.filter(|check| check.samples < FEWEST).collect();
        let least = few.iter().min_by_key(|check| check.samples)?;
        let samples = plural(least.samples, "sample");
        Some(match few.len() {
            1 => format!("only {samples} for {}", least.limit.id),
            n => format!(
                "{} checks have fewer than {FEWEST} samples; {} has only {samples}",
                count(n as u64),
                least.limit.id
            ),
        })
    }
}

/// Share of the required time, in thousandths, that may be missing: windows begin and end with samples, so that a run of a week measures
/// some seconds less.
const MISSING_PER_MILLE: u64 = 1;

/// Fewer samples, less time or no load, where a limit requires them, give no pass. A sample over the limit still fails.
pub(super) fn doubts(series: &SeriesView, limit: &Limit) -> impl Iterator<Item = Doubt> {
    [samples(series, limit), time(series, limit), load(series, limit)]
        .into_iter()
        .flatten()
}

fn load(series: &SeriesView, limit: &Limit) -> Option<Doubt> {
    let text = match series.spec.setting(setting::LOAD) {
        _ if !limit.needs_load => return None,
        Some(setting::NO_LOAD) => "measured without a load, and the limit requires one",
        Some(_) => return None,
        None => "it is not known whether there was a load, and the limit requires one",
    };
    Some(Doubt {
        text: text.to_owned(),
        explains_excess: false,
    })
}

fn time(series: &SeriesView, limit: &Limit) -> Option<Doubt> {
    let wanted = limit.exposure_ns?;
    let measured = series.exposure_ns();
    (measured < wanted - wanted / 1000 * MISSING_PER_MILLE).then(|| Doubt {
        text: format!(
            "measured for {} of the {} that the limit requires",
            Ns(measured),
            Ns(wanted)
        ),
        explains_excess: false,
    })
}

fn samples(series: &SeriesView, limit: &Limit) -> Option<Doubt> {
    let wanted = limit.samples?;
    let received = series.counters.received;
    (received < wanted).then(|| Doubt {
        text: format!(
            "{} of at least {} that the limit requires",
            plural(received, "sample"),
            count(wanted)
        ),
        explains_excess: false,
    })
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use crate::about::About;
    use crate::limits::{Pattern, Profile};
    use crate::screen::Size;
    use crate::verdict::{Judgement, Verdict};
    use model::setting;
    use testing::synthetic::{add_worst, run, series};

    fn judged(samples: u64, wanted: Option<u64>, worst_ns: Option<i64>) -> Judgement {
        reported(samples, wanted, worst_ns).judgement
    }

    fn reported(samples: u64, wanted: Option<u64>, worst_ns: Option<i64>) -> Report {
        let mut profile = Profile::find("substation").expect("embedded");
        profile.limits.retain(|limit| limit.id == "wakeup.max");
        profile.limits[0].samples = wanted;
        profile.limits[0].series = Pattern::new("wakeup/*");
        let mut one = series("wakeup/cpu1", samples, 60_000, 1);
        if let Some(ns) = worst_ns {
            add_worst(&mut one, ns);
        }
        Report::new(run(vec![one]), vec![profile])
    }

    #[test]
    fn every_face_says_that_a_pass_rests_on_one_sample() {
        let say = |samples: u64, wanted: Option<u64>| {
            let report = reported(samples, wanted, None);
            [
                ("screen", report.screen(Size::of_terminal(80, 24), false, None)),
                ("pipe", report.uncut(None)),
                ("--full", report.text(false, None)),
                ("summary", report.summary()),
                ("JUnit", report.junit().expect("a document")),
                ("page", report.html(&About::default(), None).expect("a page")),
            ]
        };
        for (face, text) in say(1, None) {
            assert!(text.contains("nly 1 sample for wakeup.max"), "{face}: {text}");
        }
        for (face, text) in say(1, Some(100)) {
            let why = "1 sample of at least 100 that the limit requires";
            assert!(text.contains(why) && !text.contains("nly 1 sample"), "{face}: {text}");
        }
        for (face, text) in say(59, None) {
            assert!(!text.contains("nly 59 samples"), "{face}: {text}");
        }
    }

    #[test]
    fn a_pass_of_few_samples_says_so_and_stays_a_pass() {
        let one = judged(1, None, None);
        assert_eq!(one.verdict, Verdict::Pass);
        assert_eq!(one.few().as_deref(), Some("only 1 sample for wakeup.max"));
        assert!(
            one.sentence().ends_with("limit. Only 1 sample for wakeup.max."),
            "{}",
            one.sentence()
        );
        assert!(judged(58, None, None).few().is_some() && judged(59, None, None).few().is_none());
        assert!(judged(58, None, Some(900_000)).few().is_none(), "a fail needs no more");
    }

    #[test]
    fn less_time_than_a_limit_asks_for_is_undecided() {
        let mut profile = Profile::find("vpac").expect("embedded");
        profile.limits.retain(|limit| limit.id == "wakeup.max");
        profile.limits[0].needs_load = false;
        let mut judged = |exposure_ns: u64, worst_ns: Option<i64>| {
            profile.limits[0].exposure_ns = Some(exposure_ns);
            let mut one = series("wakeup/cpu1", 1_000, 60_000, 1);
            worst_ns.into_iter().for_each(|ns| add_worst(&mut one, ns));
            Judgement::of(&run(vec![one]), std::slice::from_ref(&profile))
        };
        let measured = series("wakeup/cpu1", 1_000, 60_000, 1).exposure_ns();
        assert_eq!(judged(measured, None).verdict, Verdict::Pass);
        let week = judged(7 * 86_400 * 1_000_000_000, None);
        assert_eq!(week.verdict, Verdict::Inconclusive);
        assert!(
            week.checks[0].why.ends_with("of the 7.00 d that the limit requires"),
            "{}",
            week.checks[0].why
        );
        assert_eq!(judged(7 * 86_400 * 1_000_000_000, Some(900_000)).verdict, Verdict::Fail);
    }

    #[test]
    fn without_a_load_that_a_limit_asks_for_it_is_undecided() {
        let judged = |load: Option<&str>, worst_ns: Option<i64>| {
            let mut profile = Profile::find("vpac").expect("embedded");
            profile.limits.retain(|limit| limit.id == "wakeup.max");
            profile.limits[0].exposure_ns = None;
            let mut one = series("wakeup/cpu1", 1_000, 60_000, 1);
            one.spec.settings.retain(|(name, _)| name != setting::LOAD);
            let load = load.map(|load| (setting::LOAD.to_owned(), load.to_owned()));
            one.spec.settings.extend(load);
            worst_ns.into_iter().for_each(|ns| add_worst(&mut one, ns));
            Judgement::of(&run(vec![one]), &[profile]).checks.remove(0)
        };
        assert_eq!(judged(Some("cache on cpu 0"), None).verdict, Verdict::Pass);
        for load in [None, Some(setting::NO_LOAD)] {
            let check = judged(load, None);
            assert_eq!(check.verdict, Verdict::Inconclusive);
            assert!(check.why.contains("the limit requires one"), "{}", check.why);
            assert_eq!(judged(load, Some(900_000)).verdict, Verdict::Fail);
        }
    }

    #[test]
    fn fewer_samples_than_a_limit_asks_for_are_undecided() {
        let few = judged(99, Some(100), None);
        assert_eq!(few.checks[0].verdict, Verdict::Inconclusive);
        assert_eq!(few.checks[0].why, "99 samples of at least 100 that the limit requires");
        assert_eq!(judged(100, Some(100), None).verdict, Verdict::Pass);
        assert_eq!(judged(50, Some(100), Some(900_000)).verdict, Verdict::Fail);
    }
}
