//! Judgements as numbers. A limit that was not measured has no value: an alerting rule finds it with `absent()`.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;
use report::Report;
use report::limits::Unit as LimitUnit;
use report::verdict::{Coverage, Verdict};
use std::fmt;

/// The judgement of a run.
#[derive(Debug)]
pub(super) struct Judged {
    command: String,
    /// Overall verdict; `None` if there was nothing to judge.
    verdict: Option<Verdict>,
    coverage: Coverage,
    checks: Vec<Check>,
}

/// A limit applied to a series, or a requirement applied to a group of facts.
#[derive(Debug)]
struct Check {
    profile: String,
    limit: String,
    series: String,
    verdict: Verdict,
    /// The allowed value in seconds, for a limit on a duration.
    allowed_s: Option<f64>,
}

impl Judged {
    pub(super) fn of(report: &Report) -> Self {
        let judgement = &report.judgement;
        let of_limits = judgement.checks.iter().map(|check| Check {
            profile: check.profile.clone(),
            limit: check.limit.id.clone(),
            series: check.series.clone(),
            verdict: check.verdict,
            allowed_s: (check.limit.quantity.unit() == LimitUnit::Ns).then(|| check.limit.allowed as f64 / 1e9),
        });
        let of_requirements = judgement.requirements.iter().map(|check| Check {
            profile: check.profile.clone(),
            limit: check.requirement.id.clone(),
            series: check.group.clone(),
            verdict: check.verdict,
            allowed_s: None,
        });
        Self {
            command: report.run.info.command.clone(),
            verdict: report.is_judged().then(|| report.verdict()),
            coverage: judgement.coverage,
            checks: of_limits.chain(of_requirements).collect(),
        }
    }

    /// A gauge of every check that has a value.
    fn family<V: EncodeGaugeValue>(
        &self,
        encoder: &mut DescriptorEncoder,
        (name, help, unit): (&str, &str, Option<&Unit>),
        value: impl Fn(&Check) -> Option<V>,
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        for check in &self.checks {
            if let Some(value) = value(check) {
                let labels = [
                    ("command", self.command.as_str()),
                    ("profile", &check.profile),
                    ("limit", &check.limit),
                    ("series", &check.series),
                ];
                family.encode_family(&labels)?.encode_gauge(&value)?;
            }
        }
        Ok(())
    }
}

impl Collector for Judged {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let help = "Coverage of the limits of the profiles: whole, if all were measured, partial or none; none also if there is no limit";
        let mut family = encoder.encode_descriptor("run_coverage", help, None, MetricType::Gauge)?;
        let coverage = [("command", self.command.as_str()), ("coverage", self.coverage.word())];
        family.encode_family(&coverage)?.encode_gauge(&1i64)?;
        let Some(verdict) = self.verdict else {
            return Ok(());
        };
        let command = [("command", self.command.as_str())];
        for (name, help, value) in [
            (
                "run_verdict",
                "The verdict over all: 0 pass, 1 fail, 2 inconclusive",
                number(verdict),
            ),
            ("run_limits", "Limits of the profile", whole(self.coverage.limits)),
            (
                "run_limits_measured",
                "Limits that were measured",
                whole(self.coverage.measured),
            ),
        ] {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            family.encode_family(&command)?.encode_gauge(&value)?;
        }
        let help = "A limit compared with a series: 0 pass, 1 fail, 2 inconclusive";
        self.family(&mut encoder, ("verdict", help, None), |check| {
            Some(number(check.verdict))
        })?;
        let help = "Largest duration that a limit allows";
        self.family(&mut encoder, ("limit", help, Some(&Unit::Seconds)), |check| {
            check.allowed_s
        })
    }
}

fn number(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Fail => 1,
        Verdict::Inconclusive => 2,
    }
}

fn whole(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
