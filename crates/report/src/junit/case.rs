//! Creates test cases and their results.

use crate::Report;
use crate::limits::Sense;
use crate::text::count;
use crate::verdict::{Check, RequirementCheck, Verdict};
use model::fact::STEPS_LEFT_OUT;

/// Result of a test case, with its message if it has one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Within the limit, without doubt.
    Pass,
    /// Over the limit.
    Failure(String),
    /// In doubt: never a pass.
    Error(String),
    /// Not measured.
    Skipped(String),
}

/// A limit on a series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// Group of the case: the command and the profile.
    pub(crate) class: String,
    /// Name, unique in the file.
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Figures and source, one per line.
    pub(crate) text: String,
    /// Measured and allowed value, if there is a figure.
    pub(crate) figures: Option<[String; 2]>,
}

impl Case {
    pub(super) fn error(class: &str, name: &str, why: &str, text: String) -> Self {
        Self::new(class, name, Outcome::Error(why.to_owned()), text)
    }

    pub(crate) fn new(class: &str, name: &str, outcome: Outcome, text: String) -> Self {
        Self {
            class: class.to_owned(),
            name: name.to_owned(),
            outcome,
            text,
            figures: None,
        }
    }

    /// With the measured and the allowed value.
    pub(crate) fn measured(self, measured: &str, allowed: &str) -> Self {
        Self {
            figures: Some([measured.to_owned(), allowed.to_owned()]),
            ..self
        }
    }

    fn skipped(class: &str, name: &str, why: impl Into<String>) -> Self {
        Self::new(class, name, Outcome::Skipped(why.into()), String::new())
    }
}

/// All cases of a report. If the verdict is worse than the cases show, a last case reports that: a file with only good
/// cases must not represent a run in doubt.
pub(crate) fn all(report: &Report) -> Vec<Case> {
    let judgement = &report.judgement;
    let class = |profile: &str| format!("triptime.{}.{profile}", report.run.info.command);
    let mut cases = Vec::new();
    cases.extend(
        judgement
            .checks
            .iter()
            .map(|check| of_limit(&class(&check.profile), check)),
    );
    let requirements = judgement.requirements.iter();
    cases.extend(requirements.map(|check| of_requirement(&class(&check.profile), check)));
    cases.extend(judgement.not_measured.iter().map(|open| {
        let name = named(&open.limit.id, open.limit.series.as_str());
        let why = if open.why.is_empty() {
            "not measured: no series of this name"
        } else {
            &open.why
        };
        Case::skipped(&class(&open.profile), &name, why)
    }));
    cases.extend(judgement.not_asked.iter().map(|open| {
        let name = named(&open.requirement.id, open.requirement.group.as_str());
        Case::skipped(&class(&open.profile), &name, "not measured: the run has no such facts")
    }));
    cases.extend(judgement.not_applicable.iter().map(|one| {
        let name = named(&one.requirement.id, &one.group);
        let why = format!("not applicable: {}", one.why);
        Case::skipped(&class(&one.profile), &name, why)
    }));
    cases.extend(of_capacity(report));
    cases.extend(of_part(report));
    let whole = of_the_whole(report, &cases);
    cases.extend(whole);
    cases
}

fn named(id: &str, series: &str) -> String {
    format!("{id}: {series}")
}

fn of_limit(class: &str, check: &Check) -> Case {
    let limit = &check.limit;
    let most = match limit.quantity.sense() {
        Sense::AtMost => "at most",
        Sense::AtLeast => "at least",
    };
    let allowed = format!("{most} {}", limit.allowed_text());
    let measured = check.measured_text();
    let mut lines = figures(&measured, &allowed, &limit.source, &check.why);
    lines.push(format!("samples: {}", count(check.samples)));
    lines.extend(check.bound.as_ref().map(|bound| format!("bound: {}", bound.text())));
    lines.extend(check.decision_text().map(|text| format!("decision: {text}")));
    let outcome = outcome(check.verdict, &check.why, [&measured, &allowed, &limit.source]);
    Case::new(class, &named(&limit.id, &check.series), outcome, lines.join("\n")).measured(&measured, &allowed)
}

fn of_requirement(class: &str, check: &RequirementCheck) -> Case {
    let requirement = &check.requirement;
    let wanted = requirement.wanted_text();
    let measured = check.value.as_deref().unwrap_or("not known");
    let lines = figures(measured, &wanted, &requirement.source, &check.why);
    let outcome = outcome(check.verdict, &check.why, [measured, &wanted, &requirement.source]);
    Case::new(class, &named(&requirement.id, &check.group), outcome, lines.join("\n")).measured(measured, &wanted)
}

fn figures(measured: &str, allowed: &str, source: &str, why: &str) -> Vec<String> {
    let mut lines = vec![
        format!("measured: {measured}"),
        format!("allowed: {allowed}"),
        format!("source: {source}"),
    ];
    lines.extend(Some(format!("why: {why}")).filter(|_| !why.is_empty()));
    lines
}

fn outcome(verdict: Verdict, why: &str, [measured, allowed, source]: [&str; 3]) -> Outcome {
    match verdict {
        Verdict::Pass => Outcome::Pass,
        Verdict::Fail => Outcome::Failure(format!("measured {measured}, allowed {allowed} ({source})")),
        Verdict::Inconclusive => Outcome::Error(why.to_owned()),
    }
}

/// A test case for the required number of streams.
fn of_capacity(report: &Report) -> Option<Case> {
    let capacity = report.capacity.as_ref()?;
    let sentence = capacity.sentence();
    let outcome = match capacity.verdict()? {
        Verdict::Pass => Outcome::Pass,
        Verdict::Fail => Outcome::Failure(sentence),
        Verdict::Inconclusive => Outcome::Error(sentence),
    };
    Some(Case::new(
        "triptime.capacity",
        "streams",
        outcome,
        capacity.lines().join("\n"),
    ))
}

/// The case of a run that left out steps of its plan: no pass of it is one of the plan.
fn of_part(report: &Report) -> Option<Case> {
    let judged = report.is_judged() && report.judgement.coverage.is_of_part;
    let left_out = STEPS_LEFT_OUT.find(&report.run.facts).filter(|_| judged)?;
    let steps = left_out.value.as_ref().map_or_else(String::as_str, String::as_str);
    let why = format!("steps left out by --step: {steps}");
    let class = format!("triptime.{}", report.run.info.command);
    Some(Case::new(&class, "plan", Outcome::Failure(why), String::new()))
}

/// The case of the run itself, if no other case expresses its verdict.
fn of_the_whole(report: &Report, cases: &[Case]) -> Option<Case> {
    let class = format!("triptime.{}", report.run.info.command);
    let is_said = |case: &Case| matches!(case.outcome, Outcome::Failure(_) | Outcome::Error(_));
    if let Some(lacks) = &report.run.lacks_log {
        return Some(Case::error(&class, "run file", lacks, String::new()));
    }
    if !report.is_judged() {
        return Some(Case::skipped(&class, "verdict", report.sentence()));
    }
    let is_open = report.verdict() != Verdict::Pass && !cases.iter().any(is_said);
    is_open.then(|| Case::error(&class, "verdict", &report.sentence(), String::new()))
}
