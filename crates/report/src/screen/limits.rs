//! The limits of a run, one row each, regardless of the number of series they judge.

use super::held::{Held, held};
use crate::Report;
use crate::limits::{Limit, Profile, Sense, Unit};
use crate::text::count;
use crate::verdict::{Check, Judgement, Measured, RequirementCheck, Verdict};
use model::RunView;
use units::Ns;

/// The outcome of a limit, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Exceeded,
    Undecided,
    Within,
    NotMeasured,
}

impl State {
    pub(crate) fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fail => Self::Exceeded,
            Verdict::Inconclusive => Self::Undecided,
            Verdict::Pass => Self::Within,
        }
    }

    /// The word used in a sentence.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Exceeded => "exceeded",
            Self::Undecided => "undecided",
            Self::Within => "within",
            Self::NotMeasured => "not measured",
        }
    }

    /// A sign shown in addition to the colour, never instead of it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Exceeded => "✗",
            Self::Undecided => "?",
            Self::Within => "✓",
            Self::NotMeasured => "–",
        }
    }

    /// The verdict with the same colour.
    pub(crate) fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Exceeded => Some(Verdict::Fail),
            Self::Undecided => Some(Verdict::Inconclusive),
            Self::Within => Some(Verdict::Pass),
            Self::NotMeasured => None,
        }
    }
}

/// One limit, over all series it judges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// Name for people; the id if the profile gives none.
    pub(crate) name: String,
    pub(crate) state: State,
    /// The worst figure among those with this state.
    pub(crate) worst: String,
    pub(crate) allowed: String,
    /// Ratio of the figure to the allowed time, if it is exceeded.
    pub(crate) times: Option<f64>,
    /// The series with the worst figure, and the number of other series in the same state.
    pub(crate) series: String,
    pub(crate) others: usize,
    /// Causes of the samples over the limit.
    pub(crate) held: Held,
    /// Reason why it is undecided or not measured; may be empty.
    pub(crate) why: String,
    /// The bound that the worst figure proves.
    pub(crate) proof: Option<Proof>,
}

impl Row {
    /// The causes of the samples over the limit, by name; for a figure within the limit, the bound that it proves;
    /// otherwise the reason why it is undecided or not measured. May be empty.
    pub(crate) fn reason(&self) -> String {
        let held = match self.state {
            State::Exceeded => self.held.text(3),
            State::Within => self.proof.map(|proof| proof.text()).unwrap_or_default(),
            State::Undecided | State::NotMeasured => String::new(),
        };
        if held.is_empty() { self.why.clone() } else { held }
    }

    /// The CSS class that sets its colour on a page.
    pub(crate) fn look(&self) -> &'static str {
        self.state.verdict().map_or("none", Verdict::word)
    }

    /// Text such as `age/MU08 +7`: the series with the worst figure, and the number of other series in the same state.
    pub(crate) fn place(&self) -> String {
        match self.others {
            0 => self.series.clone(),
            n => format!("{} +{n}", self.series),
        }
    }

    /// Ratio of its figure to the allowed time if it is exceeded, such as `14.4`.
    pub(crate) fn times_text(&self) -> String {
        self.times.map_or_else(String::new, |times| format!("{times:.1}"))
    }
}

/// A bound for the frequency of samples over a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Proof {
    pub(crate) samples: u64,
    pub(crate) exposure_ns: u64,
    pub(crate) limit_ns: u64,
    pub(crate) probability: f64,
}

/// The limits and requirements of every profile: exceeded ones first, starting with the one furthest over its limit.
pub(crate) fn rows(report: &Report) -> Vec<Row> {
    rows_of(&report.run, &report.profiles, &report.judgement)
}

/// The rows of a run that was judged by these profiles.
pub(crate) fn rows_of(run: &RunView, profiles: &[Profile], judgement: &Judgement) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for profile in profiles {
        for limit in &profile.limits {
            rows.push(of_limit(run, judgement, &profile.name, limit));
        }
    }
    let requirements = &judgement.requirements;
    rows.extend(requirements.iter().map(of_requirement));
    rows.sort_by(|a, b| {
        let times = |row: &Row| row.times.unwrap_or(0.0);
        a.state.cmp(&b.state).then(times(b).total_cmp(&times(a)))
    });
    rows
}

fn of_limit(run: &RunView, judgement: &Judgement, profile: &str, limit: &Limit) -> Row {
    let is_it = |check: &&Check| check.profile == profile && check.limit.id == limit.id;
    let checks: Vec<&Check> = judgement.checks.iter().filter(is_it).collect();
    let allowed = limit.allowed_text();
    let Some(state) = checks.iter().map(|check| State::of(check.verdict)).min() else {
        return not_measured(judgement, profile, limit, allowed);
    };
    let deciding = checks.into_iter().filter(|check| State::of(check.verdict) == state);
    let deciding: Vec<&Check> = deciding.collect();
    let worst = deciding
        .iter()
        .copied()
        .reduce(|a, b| if is_worse(b, a) { b } else { a });
    let Some(worst) = worst else {
        return not_measured(judgement, profile, limit, allowed);
    };
    Row {
        id: limit.id.clone(),
        name: limit.name.clone(),
        state,
        worst: worst.measured_text(),
        allowed,
        times: (state == State::Exceeded).then(|| times(worst)).flatten(),
        series: worst.series.clone(),
        others: deciding.len() - 1,
        held: match state {
            State::Exceeded => held(run, &deciding),
            _ => Held::default(),
        },
        why: worst.why.clone(),
        proof: worst.bound.filter(|bound| bound.over == 0).map(|bound| Proof {
            samples: bound.samples,
            exposure_ns: bound.exposure_ns,
            limit_ns: bound.limit_ns,
            probability: bound.probability,
        }),
    }
}

fn not_measured(judgement: &Judgement, profile: &str, limit: &Limit, allowed: String) -> Row {
    let is_it = |open: &&crate::verdict::NotMeasured| open.profile == profile && open.limit.id == limit.id;
    let why = judgement.not_measured.iter().find(is_it);
    Row {
        id: limit.id.clone(),
        name: limit.name.clone(),
        state: State::NotMeasured,
        worst: "–".to_owned(),
        allowed,
        times: None,
        series: limit.series.shortened(),
        others: 0,
        held: Held::default(),
        why: why.map(|open| open.why.clone()).unwrap_or_default(),
        proof: None,
    }
}

fn of_requirement(check: &RequirementCheck) -> Row {
    Row {
        id: check.requirement.id.clone(),
        name: check.requirement.name.clone(),
        state: State::of(check.verdict),
        worst: check.value.clone().unwrap_or_else(|| "unknown".to_owned()),
        allowed: check.requirement.wanted_text(),
        times: None,
        series: check.group.clone(),
        others: 0,
        held: Held::default(),
        why: check.why.clone(),
        proof: None,
    }
}

/// True if `a` exceeds its limit by more than `b`, for the same limit.
fn is_worse(a: &Check, b: &Check) -> bool {
    let figure = |check: &Check| check.measured.map(Measured::as_f64);
    match (figure(a), figure(b), a.limit.quantity.sense()) {
        (Some(a), Some(b), Sense::AtMost) => a > b,
        (Some(a), Some(b), Sense::AtLeast) => a < b,
        (is, was, _) => is.is_some() && was.is_none(),
    }
}

fn times(check: &Check) -> Option<f64> {
    let is_time = check.limit.quantity.unit() == Unit::Ns && check.limit.allowed > 0;
    let figure = check.measured.map(Measured::as_f64).filter(|_| is_time)?;
    Some(figure / check.limit.allowed as f64)
}

/// Text such as `4 of 8 limits exceeded, 2 undecided, 1 within, 1 not measured`.
pub(crate) fn tally(rows: &[Row]) -> String {
    let n = |state: State| rows.iter().filter(|row| row.state == state).count() as u64;
    let states = [State::Exceeded, State::Undecided, State::Within, State::NotMeasured];
    let said: Vec<(u64, &str)> = states.map(|state| (n(state), state.word())).to_vec();
    let mut said = said.into_iter().filter(|(n, _)| *n > 0);
    let ending = if rows.len() == 1 { "" } else { "s" };
    let Some((first, word)) = said.next() else {
        return "no limit".to_owned();
    };
    let rest: String = said.map(|(n, word)| format!(", {} {word}", count(n))).collect();
    format!(
        "{} of {} limit{ending} {word}{rest}",
        count(first),
        count(rows.len() as u64)
    )
}

impl Proof {
    /// Text such as `0 of 600 000 over 120 µs in 10.0 min: at most 1 in 200 000 (95 %)`.
    pub(crate) fn text(&self) -> String {
        format!(
            "0 of {} over {} in {}: at most {}",
            count(self.samples),
            Ns(self.limit_ns),
            Ns(self.exposure_ns),
            crate::bound::odds(self.probability),
        )
    }

    /// The bound that a run of `span_ns` without a sample over the limit would prove.
    pub(crate) fn of_longer(&self, span_ns: f64) -> Option<String> {
        if self.exposure_ns == 0 || span_ns < 4.0 * self.exposure_ns as f64 {
            return None;
        }
        let probability = self.probability * self.exposure_ns as f64 / span_ns;
        Some(crate::bound::odds(probability))
    }
}
