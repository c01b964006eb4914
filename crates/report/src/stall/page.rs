//! Stalls in the HTML page.

use super::{LISTED, Stall, sentence};
use crate::Report;
use crate::html::timeline;
use askama::Template;
use units::Ns;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="stalls">
  <h2>Stalls</h2>
  <p class="what">{{ stalls.sentence }}</p>
  <table class="figures stalls"><thead><tr><th class="n">At</th><th>Held up</th><th class="n">CPU</th><th>What held it up; other events</th></tr></thead>
  <tbody>{% for row in stalls.rows %}<tr><td class="n">{{ row.at }}</td><td>{{ row.size }}</td><td class="n">{{ row.cpus }}</td><td title="{{ row.text }}">{{ row.why }}</td></tr>{% endfor %}</tbody></table>
  {% if let Some(timeline) = stalls.timeline_svg %}<figure class="timeline-figure"><figcaption>Threads on each CPU around the longest recorded stall, by the kernel's events</figcaption>{{ timeline|safe }}</figure>{% endif %}
</section>"##
)]
struct Html {
    stalls: StallsPart,
}

/// The section of the page; empty without a stall.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let stalls = StallsPart::of(report);
    stalls.map_or_else(|| Ok(String::new()), |stalls| Html { stalls }.render())
}

struct StallsPart {
    sentence: String,
    rows: Vec<StallRow>,
    /// A drawing of the CPUs around the longest recorded stall.
    timeline_svg: Option<String>,
}

struct StallRow {
    at: String,
    size: String,
    cpus: String,
    why: String,
    /// The explanation of its longest sample; may be empty.
    text: String,
}

impl StallsPart {
    /// The stalls of a run; `None` if there were none.
    fn of(report: &Report) -> Option<Self> {
        Some(Self {
            sentence: sentence(report)?,
            timeline_svg: report.timeline.as_ref().map(timeline::drawing),
            rows: report
                .stalls
                .iter()
                .take(LISTED)
                .map(|stall| row(report, stall))
                .collect(),
        })
    }
}

fn row(report: &Report, stall: &Stall) -> StallRow {
    StallRow {
        at: Ns(stall.from_ns).to_string(),
        size: stall.size(),
        cpus: stall.cpus_text(),
        why: stall.why(&report.run),
        text: stall
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    }
}
