//! The method of a run's measurement, and an explanation of its figures.

use crate::Report;
use crate::html::look;
use crate::section::{Link, Section};
use crate::text::measured_by;
use crate::verdict::{Judgement, ProfileVerdict};
use askama::Template;
use units::Ns;

/// The section of the page.
pub(crate) struct MethodSection;

impl Section for MethodSection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        Html {
            method: method(report),
            profiles: profiles(&report.judgement),
        }
        .render()
    }

    fn links(&self, _report: &Report) -> Vec<Link> {
        vec![Link::to("method", "Method")]
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="method">
  <h2>Method</h2>
  <p class="what js-only">Drag across a chart to zoom in, double click to see all of it again. CSV gives what a chart shows; <code>triptime export</code> gives every window.</p>
  <dl class="settings wide">{% for row in method %}<dt>{{ row.0 }}</dt><dd>{{ row.1 }}</dd>{% endfor %}{% for profile in profiles %}<dt>Profile {{ profile.name }}</dt><dd>{{ profile.what }}: <b>{{ profile.words }}</b>, {{ profile.coverage }}</dd>{% endfor %}</dl>
  <details class="counters"><summary>How to read the figures</summary><ul class="rules">
    <li>A figure over its limit <b>fails</b>. A figure within it <b>passes</b> only if nothing could hide a worse one: loss, unmeasured periods, records lost in the tool, clock steps, throttling, page faults or an early end leave it <b>inconclusive</b>.</li>
    <li>A maximum holds for the load and the configuration of this run. With n samples and none over a limit, the probability of exceeding it is below 3/n with 95 % confidence (Clopper-Pearson); because stalls come in bursts, the bound over time (Poisson) stands beside it.</li>
    <li>A quantile is shown only where at least ten samples lie beyond it. Values are kept to the nanosecond in maxima and to three digits in quantiles.</li>
    <li>Each point of a time line is a window; in long runs, the worst of several. “Expected” counts samples that were due, “missed” periods skipped because the thread was held up, “conflicting” samples with a number seen before but other contents, “clipped” values outside 0 to 60 s, “overflow” values over the series' own threshold, “overrun” records lost between the measuring thread and the recorder.</li>
  </ul></details>
</section>"##
)]
struct Html {
    method: Vec<(&'static str, String)>,
    profiles: Vec<ProfileRow>,
}

fn method(report: &Report) -> Vec<(&'static str, String)> {
    let info = &report.run.info;
    vec![
        ("Command", info.arguments.join(" ")),
        ("Run", info.id.clone()),
        ("Run file", report.run.file.display().to_string()),
        ("Measured by", measured_by(&report.run)),
        ("Window", Ns(info.window_ns).to_string()),
        (
            "Limit profiles",
            report
                .profiles
                .iter()
                .map(|profile| profile.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        ),
    ]
}

/// The verdict of one profile, on the page.
pub(crate) struct ProfileRow {
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) words: &'static str,
    pub(crate) look: &'static str,
    pub(crate) coverage: String,
}

pub(crate) fn profiles(judgement: &Judgement) -> Vec<ProfileRow> {
    let row = |profile: &ProfileVerdict| ProfileRow {
        name: profile.name.clone(),
        what: profile.what.clone(),
        words: profile.words(),
        look: look(profile.verdict.word(), profile.is_partial_pass()),
        coverage: profile.coverage.text(),
    };
    judgement.profiles.iter().map(row).collect()
}
