//! The series of a comparison in the HTML page.

use crate::comparison::{Compared, Comparison};
use crate::html::overlay;
use crate::picture::Drawn;
use crate::spans;
use crate::text::{count, ns_or_dash};
use askama::Template;
use units::format_ns;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% if series.is_empty() %}<section><p class="what">No series is in more than one of the runs.</p></section>{% endif %}
{% for part in series %}
<section>
  <h2>{{ part.name }}</h2>
  {% for why in part.unfair %}<p class="unfair">Conditions differ: {{ why }}.</p>{% endfor %}
  <table class="figures"><thead><tr><th>Run</th><th class="n">Samples</th><th class="n">Missed</th><th class="n">Mean</th><th class="n">p50</th><th class="n">p99</th><th class="n">p99.9</th><th class="n">p99.99</th><th class="n">Max</th><th class="n">In</th></tr></thead>
  <tbody>{% for row in part.rows %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody></table>
  <ul class="rules">{% for line in part.words %}<li>{{ line }}</li>{% endfor %}</ul>
  <figure class="box"><figcaption>Number of samples (vertical) by duration (horizontal); both axes logarithmic</figcaption>{{ part.overlay_svg|safe }}</figure>
  {% if !part.course.svg.is_empty() %}<figure class="box"><figcaption>{{ part.course.caption }}: {% for key in part.keys %}<i class="key {{ key.0 }}"></i> {{ key.1 }} {% endfor %}</figcaption>{{ part.course.svg|safe }}</figure>{% endif %}
  {% for line in part.course.left_out %}<p class="note">Not drawn over time: {{ line }}.</p>{% endfor %}
  {% if !part.box_svg.is_empty() %}<figure class="box"><figcaption>{{ part.box_caption }}</figcaption>{{ part.box_svg|safe }}</figure>{% endif %}
</section>
{% endfor %}"##
)]
struct Html {
    series: Vec<SeriesPart>,
}

/// A section of the page for each series.
pub(super) fn html(comparison: &Comparison) -> askama::Result<String> {
    let series = comparison.series.iter().map(|compared| part(comparison, compared));
    Html {
        series: series.collect(),
    }
    .render()
}

struct SeriesPart {
    name: String,
    rows: Vec<Vec<String>>,
    words: Vec<String>,
    unfair: Vec<String>,
    overlay_svg: String,
    box_svg: String,
    box_caption: String,
    course: Drawn,
    /// CSS class and name of each run.
    keys: Vec<(String, String)>,
}

fn part(comparison: &Comparison, compared: &Compared) -> SeriesPart {
    let of_runs: Vec<(&str, &model::SeriesView)> = comparison
        .runs
        .iter()
        .enumerate()
        .filter_map(|(index, (name, _))| Some((name.as_str(), comparison.view(index, compared)?)))
        .collect();
    let named = of_runs.iter().map(|(name, series)| ((*name).to_owned(), *series));
    let (box_svg, box_caption) = spans::boxes_of(&named.collect::<Vec<_>>());
    let histograms: Vec<(&str, &stats::Histogram)> = of_runs
        .iter()
        .map(|(name, series)| (*name, &series.histogram))
        .collect();
    let words = comparison.words(compared);
    SeriesPart {
        name: compared.name.clone(),
        rows: of_runs.iter().map(|(name, series)| row(name, series)).collect(),
        words: words
            .into_iter()
            .filter(|line| !line.starts_with("CONDITIONS DIFFER"))
            .collect(),
        unfair: compared.unfair.clone(),
        overlay_svg: overlay::histograms(&compared.name, &histograms, None),
        box_svg,
        box_caption,
        course: comparison.course(compared),
        keys: comparison.keys(compared),
    }
}

fn row(name: &str, series: &model::SeriesView) -> Vec<String> {
    let f = series.figures();
    let quantile = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
    vec![
        name.to_owned(),
        count(series.counters.received),
        count(series.counters.missed),
        ns_or_dash(f.mean),
        quantile(f.p50),
        quantile(f.p99),
        quantile(f.p999),
        quantile(f.p9999),
        ns_or_dash(f.max.map(|ns| ns as f64)),
        format_ns(series.exposure_ns() as f64),
    ]
}
