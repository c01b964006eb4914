//! Judges a run by limit profiles. The rules are in `docs/formats/limits.md`.
//!
//! A figure over its limit fails. A figure within its limit passes only if nothing that happened during the run could
//! hide a worse one; otherwise it is inconclusive, with a reason that states the counts.

mod between_clocks;
mod bounded;
mod coverage;
mod doubt;
mod few;
mod gaps;
mod guard;
mod measured;
mod merged;
mod reach;
mod required;
mod shaper;
mod stamps;
pub(crate) mod starts;
mod taken;
#[cfg(test)]
mod tests;
mod uncounted;
mod untested;
mod way;

use crate::bound::{Bound, samples_known};
use crate::contradiction::{self, Contradiction};
use crate::limits::{Limit, Profile, Quantity, Sense, Unit};
use crate::one_way::OneWay;
use crate::strain;
use crate::text::{capitalised, count, plural};
pub use coverage::Coverage;
pub(crate) use coverage::PARTIAL_PASS;
use doubt::Doubt;
pub(crate) use doubt::unseen;
pub use guard::Decided;
pub(crate) use guard::percent;
pub use measured::Measured;
use model::{RunView, SeriesView};
pub use required::{NotApplicable, RequirementCheck, RequirementOpen};
use units::{Ns, format_ns};

/// Answer to the question whether a figure is within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within its limit, without doubt.
    Pass,
    /// Over its limit.
    Fail,
    /// Not decidable.
    Inconclusive,
}

impl Verdict {
    /// The word used in files and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// The verdict over several verdicts: one fail makes it a fail, one doubt makes it inconclusive, and no checks
    /// prove nothing.
    pub fn over(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = false;
        let mut doubtful = false;
        for verdict in verdicts {
            match verdict {
                Self::Fail => return Self::Fail,
                Self::Inconclusive => doubtful = true,
                Self::Pass => any = true,
            }
        }
        if any && !doubtful {
            Self::Pass
        } else {
            Self::Inconclusive
        }
    }
}

/// One limit compared with one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Name of the profile.
    pub profile: String,
    /// The limit.
    pub limit: Limit,
    /// Name of the series.
    pub series: String,
    /// The figure; `None` if it could not be measured.
    pub measured: Option<Measured>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason if it is not `pass`; otherwise empty.
    pub why: String,
    /// For a maximum: the bound that it proves.
    pub bound: Option<Bound>,
    /// For a figure between two clocks: the maximum difference of the clocks, in ns.
    pub uncertainty_ns: Option<u64>,
    /// For a duration: the decision rule with its numbers.
    pub decision: Option<Decided>,
    /// The source's name for a host with this figure; `None` without classes, or if the figure is in doubt.
    pub class: Option<String>,
    /// Number of samples behind the figure.
    pub samples: u64,
}

impl Check {
    /// The measured figure, as text for people.
    pub fn measured_text(&self) -> String {
        match (self.measured, self.limit.quantity.unit()) {
            (None, _) => "–".to_owned(),
            (Some(value), Unit::Ns) => {
                let apart = self.uncertainty_ns.map(|ns| format!(" ± {}", Ns(ns)));
                format_ns(value.as_f64()) + &apart.unwrap_or_default()
            }
            (Some(value), Unit::Count) => count(value.as_f64() as u64),
        }
    }
}

/// A limit that no series matched. It is not a check, and never a pass.
#[derive(Debug, Clone, PartialEq)]
pub struct NotMeasured {
    /// Name of the profile.
    pub profile: String,
    /// The limit.
    pub limit: Limit,
    /// The reason and a remedy; empty if there is simply no such series.
    pub why: String,
}

/// One profile's share of the judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileVerdict {
    /// Name of the profile.
    pub name: String,
    /// The kind of host it is for.
    pub what: String,
    /// The verdict over its checks.
    pub verdict: Verdict,
    /// Number of its limits that the verdict covers.
    pub coverage: Coverage,
}

/// A judged run.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The verdict over all checks of all profiles.
    pub verdict: Verdict,
    /// Number of limits of all profiles that the verdict covers.
    pub coverage: Coverage,
    /// The verdict of each profile.
    pub profiles: Vec<ProfileVerdict>,
    /// Every limit with every series that it matches, profile by profile.
    pub checks: Vec<Check>,
    /// Limits that no series matched.
    pub not_measured: Vec<NotMeasured>,
    /// Every requirement with every group of facts that it matches.
    pub requirements: Vec<RequirementCheck>,
    /// Requirements on something that this kind of interface cannot have. They are not checks, and do not affect the
    /// verdict.
    pub not_applicable: Vec<NotApplicable>,
    /// Requirements that no group of facts matched.
    pub not_asked: Vec<RequirementOpen>,
    /// Contradictions in the run; found even if nothing is judged.
    pub contradictions: Vec<Contradiction>,
    /// A property of the tested device that no series is about, as a sentence.
    pub untested: Option<&'static str>,
}

impl Judgement {
    /// Judges a run by profiles.
    pub fn of(run: &RunView, profiles: &[Profile]) -> Self {
        let mut judgement = Self {
            verdict: Verdict::Inconclusive,
            coverage: Coverage::default(),
            profiles: Vec::new(),
            checks: Vec::new(),
            not_measured: Vec::new(),
            requirements: Vec::new(),
            not_applicable: Vec::new(),
            not_asked: Vec::new(),
            contradictions: contradiction::of(run),
            untested: None,
        };
        for profile in profiles {
            judgement.add(run, profile);
        }
        judgement.verdict = whole(&judgement.checks, &judgement.requirements);
        judgement.untested = untested::samples(run).filter(|_| !judgement.checks.is_empty());
        judgement
    }

    fn add(&mut self, run: &RunView, profile: &Profile) {
        let (from, requirements_from) = (self.checks.len(), self.requirements.len());
        for limit in &profile.limits {
            let before = self.checks.len();
            let matching = run
                .series
                .iter()
                .filter(|series| limit.series.matches(&series.spec.name));
            let contradictions = &self.contradictions;
            self.checks
                .extend(matching.map(|series| check(run, series, (profile, limit), contradictions)));
            if self.checks.len() == before {
                self.not_measured.push(NotMeasured {
                    profile: profile.name.clone(),
                    limit: limit.clone(),
                    why: merged::no_such_run(run, limit)
                        + &taken::by_a_task(run, limit)
                        + &way::without_hop(run, limit)
                        + &shaper::without_rate(run, limit),
                });
            }
        }
        required::hold(self, run, profile);
        let coverage = Coverage::of(run, profile, &self.checks[from..]);
        self.coverage.add(coverage);
        self.profiles.push(ProfileVerdict {
            name: profile.name.clone(),
            what: profile.what.clone(),
            verdict: whole(&self.checks[from..], &self.requirements[requirements_from..]),
            coverage,
        });
    }

    /// The verdicts of all checks, of limits and requirements.
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let of_limits = self.checks.iter().map(|check| check.verdict);
        of_limits.chain(self.requirements.iter().map(|check| check.verdict))
    }

    /// Number of checks with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.verdicts().filter(|one| *one == verdict).count()
    }

    /// The judgement in one sentence, such as `12 checks: 1 over the limit, 11 within.`
    pub fn sentence(&self) -> String {
        let notices = self.notices().map(|notice| format!(" {}.", capitalised(&notice)));
        self.of_checks() + &notices.collect::<String>()
    }

    fn of_checks(&self) -> String {
        let total = self.verdicts().count() as u64;
        let (pass, fail, open) = (
            self.count(Verdict::Pass) as u64,
            self.count(Verdict::Fail) as u64,
            self.count(Verdict::Inconclusive) as u64,
        );
        if self.profiles.is_empty() {
            return "No limit profile was given, so nothing is judged (--limits substation).".to_owned();
        }
        if self.checks.is_empty() && fail == 0 {
            return "No limit applies to what was measured.".to_owned();
        }
        if pass == total && !self.coverage.is_whole() {
            let checks = plural(total, "check");
            return format!("{}, all within ({checks}).", self.coverage.text());
        }
        if pass == total {
            return if total == 1 {
                "The one check is within its limit.".to_owned()
            } else {
                format!("All {} checks are within their limits.", count(total))
            };
        }
        let failed = self.requirements.iter().filter(|check| check.verdict == Verdict::Fail);
        let not_as_required = failed.count() as u64;
        let mut parts = Vec::new();
        if fail > not_as_required {
            parts.push(format!("{} over the limit", fail - not_as_required));
        }
        if not_as_required > 0 {
            parts.push(format!("{not_as_required} not as required"));
        }
        if open > 0 {
            parts.push(format!("{open} undecided"));
        }
        if pass > 0 {
            parts.push(format!("{pass} within"));
        }
        format!("{}: {}.", plural(total, "check"), parts.join(", "))
    }
}

/// The verdict over limits and requirements. A requirement is a condition, not a measurement: it can make a run fail or
/// inconclusive, but without measurements it cannot make a run pass.
fn whole(checks: &[Check], requirements: &[RequirementCheck]) -> Verdict {
    let required = requirements.iter().map(|check| check.verdict);
    let measured = Verdict::over(checks.iter().map(|check| check.verdict));
    Verdict::over(required.chain([measured]))
}

fn check(
    run: &RunView,
    series: &SeriesView,
    (profile, limit): (&Profile, &Limit),
    contradictions: &[Contradiction],
) -> Check {
    let clocks = OneWay::of(run, series);
    let mut doubts = doubt::of(run, series, limit.quantity, clocks.as_ref());
    if limit.quantity == Quantity::Overruns {
        let tasks = strain::tasks(run, series.spec.label());
        doubts.extend(
            tasks
                .into_iter()
                .flat_map(|task| doubt::of(run, task, Quantity::Missed, None)),
        );
    }
    doubts.extend(few::doubts(series, limit));
    doubts.extend(doubt::of_the_file(series, contradictions));
    let (measured, verdict, why) = match Measured::of(run, series, limit.quantity) {
        Err(reason) => (None, Verdict::Inconclusive, with_clocks(reason, clocks.as_ref())),
        Ok(measured) => {
            let (verdict, why) = match clocks.as_ref().filter(|_| limit.quantity.unit() == Unit::Ns) {
                Some(clocks) => between_clocks::decide(series, limit, measured, &doubts, clocks),
                None => {
                    let near = doubt::near_limit(series, limit.quantity, measured.as_f64(), limit.allowed);
                    doubts.extend(near);
                    doubts.extend(bounded::doubt(series, limit));
                    doubts.extend(stamps::doubts(run, series, limit, measured.as_f64()));
                    doubts.extend(starts::doubt(run, series, limit, measured.as_f64()));
                    decide(series, limit, measured, &doubts)
                }
            };
            (Some(measured), verdict, why)
        }
    };
    let mut decision = measured.and_then(|measured| Decided::of(run, series, (profile, limit), measured));
    let (verdict, why) = match (&mut decision, measured) {
        (Some(decision), Some(measured)) => decision.hold(limit, measured, (verdict, why)),
        _ => (verdict, why),
    };
    let bound = gaps::longest_allowed(series, limit).and_then(|ns| Bound::of(series, ns));
    let decided = measured.filter(|_| verdict != Verdict::Inconclusive);
    let class = decided.and_then(|measured| {
        let uncertain_ns = stamps::uncertain_ns(series, limit.quantity);
        limit.class_of(measured.as_f64(), uncertain_ns)
    });
    Check {
        profile: profile.name.clone(),
        limit: limit.clone(),
        series: series.spec.name.clone(),
        measured,
        verdict,
        why,
        bound,
        uncertainty_ns: clocks.and_then(|clocks| clocks.uncertainty.ok()).map(|known| known.ns),
        decision,
        class,
        samples: series.counters.received,
    }
}

/// The check of one day of a run by a limit, whose least number of samples and least time are meant for the whole run.
pub(crate) fn of_day(
    day: &RunView,
    series: &SeriesView,
    (profile, limit): (&Profile, &Limit),
    contradictions: &[Contradiction],
) -> Check {
    let limit = Limit {
        samples: None,
        exposure_ns: None,
        ..limit.clone()
    };
    check(day, series, (profile, &limit), contradictions)
}

/// The reason for a missing figure; includes the state of the clocks if that may be the cause.
fn with_clocks(reason: String, clocks: Option<&OneWay>) -> String {
    match clocks.map(|clocks| &clocks.uncertainty) {
        Some(Err(unknown)) => format!("{reason}; {unknown}"),
        _ => reason,
    }
}

fn listed(doubts: &[Doubt]) -> String {
    let texts: Vec<&str> = doubts.iter().map(|doubt| doubt.text.as_str()).collect();
    texts.join("; ")
}

fn decide(series: &SeriesView, limit: &Limit, measured: Measured, doubts: &[Doubt]) -> (Verdict, String) {
    let listed = listed(doubts);
    let beyond = match limit.quantity.sense() {
        Sense::AtMost => measured.over(limit.allowed),
        Sense::AtLeast => measured.as_f64() < limit.allowed as f64,
    };
    if !beyond {
        let verdict = if doubts.is_empty() {
            Verdict::Pass
        } else {
            Verdict::Inconclusive
        };
        return (verdict, listed);
    }
    let excess = excess(series, limit);
    if doubts.iter().any(|doubt| doubt.explains_excess) {
        return (
            Verdict::Inconclusive,
            format!("{listed}; so this may not be the host's doing: {excess}"),
        );
    }
    let why = if listed.is_empty() {
        excess
    } else {
        format!("{excess}; in addition: {listed}")
    };
    (Verdict::Fail, why)
}

/// The excess over the limit, with counts and the instant of the worst sample.
fn excess(series: &SeriesView, limit: &Limit) -> String {
    let allowed = limit.allowed_text();
    match (limit.quantity.sense(), limit.quantity) {
        (Sense::AtLeast, _) => format!("fewer than {allowed}"),
        (_, Quantity::Max) => {
            let over = Bound::of(series, limit.allowed).map_or_else(|| "1".to_owned(), |bound| bound.count_over());
            let of = count(samples_known(series));
            format!("{over} of {of} samples over {allowed}{}", worst(series))
        }
        (_, Quantity::Excess) => gaps::longer(series, limit) + &worst(series),
        (_, quantity) => format!("{} over {allowed}", quantity.word()),
    }
}

/// Instant and CPU of the largest sample, if it was kept.
fn worst(series: &SeriesView) -> String {
    let Some(spike) = series
        .spikes
        .first()
        .filter(|spike| Some(spike.value_ns) == series.max_ns)
    else {
        return String::new();
    };
    let cpu = spike.cpu.map_or_else(String::new, |cpu| format!(" on cpu{cpu}"));
    let cause = spike
        .explanation
        .as_ref()
        .map_or_else(String::new, |why| format!(" ({}: {})", why.cause.word(), why.text));
    format!(", the worst at {}{cpu}{cause}", Ns(spike.at_ns))
}
