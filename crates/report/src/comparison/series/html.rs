//! The series of a comparison in the HTML page.

use super::words::{Group, IN_DOUBT, differs, groups, summary};
use crate::comparison::pictures::title;
use crate::comparison::{Compared, Comparison};
use crate::html::overlay;
use crate::picture::Drawn;
use crate::spans;
use crate::text::{count, counted_text, ns_or_dash};
use askama::Template;
use units::format_ns;

/// Largest number of series of a kind that are shown unfolded: first those that differ.
pub(crate) const MOST_OPEN: usize = 4;

/// Largest number of statements about them; each is also beside its series. Doubts come on top of it.
const MOST_STATEMENTS: usize = 6;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% if kinds.is_empty() %}<section><p class="what">No series is in more than one of the runs.</p></section>{% endif %}
{% for kind in kinds %}
<section>
  <h2>{{ kind.title }}</h2>
  {% for why in kind.unfair %}<p class="unfair">Conditions differ: {{ why }}.</p>{% endfor %}
  {{ kind.open|safe }}
  {% if !kind.doubts.is_empty() %}<ul class="rules">{% for line in kind.doubts %}<li>{{ line }}</li>{% endfor %}</ul>{% endif %}
  {% if !kind.folded.is_empty() %}<details class="counters"><summary>{{ kind.folded_what }}</summary>
  {{ kind.folded|safe }}
  </details>{% endif %}
</section>
{% endfor %}"##
)]
struct Html {
    kinds: Vec<KindPart>,
}

/// A section of the page for each kind of series.
pub(super) fn html(comparison: &Comparison) -> askama::Result<String> {
    let kinds = groups(comparison).into_iter();
    let kinds = kinds.map(|group| kind_part(comparison, group));
    Html {
        kinds: kinds.collect::<Result<_, _>>()?,
    }
    .render()
}

struct KindPart {
    title: String,
    unfair: Vec<String>,
    open: String,
    /// Doubts about any of its series.
    doubts: Vec<String>,
    /// Empty if all is open.
    folded: String,
    folded_what: String,
}

fn kind_part(comparison: &Comparison, mut group: Group<'_>) -> askama::Result<KindPart> {
    let mut unfair: Vec<String> = group.series.iter().flat_map(|one| one.unfair.clone()).collect();
    unfair.dedup();
    let (title, family) = (title(group.family), group.family);
    let doubts = summary(comparison, &group).into_iter();
    let doubts = doubts.filter(|line| line.contains(IN_DOUBT)).collect();
    group.series.sort_by_key(|one| !differs(comparison, one));
    let rest = group.series.split_off(group.series.len().min(MOST_OPEN));
    let folded_what = folded_what(comparison, &rest);
    let folded = match rest.is_empty() {
        true => String::new(),
        false => table(comparison, &Group { family, series: rest }, usize::MAX)?,
    };
    Ok(KindPart {
        title,
        unfair,
        open: table(comparison, &group, MOST_STATEMENTS)?,
        doubts,
        folded,
        folded_what,
    })
}

/// Series that are folded, and how many of them differ, are in doubt or are not compared.
fn folded_what(comparison: &Comparison, rest: &[&Compared]) -> String {
    let count = |is: &dyn Fn(&Compared) -> bool| rest.iter().filter(|one| is(one)).count();
    let parts = [
        (count(&|one| differs(comparison, one)), "with a stated difference"),
        (count(&|one| !one.doubts.is_empty()), "in doubt"),
        (count(&|one| !one.not_compared.is_empty()), "not compared"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    match parts.is_empty() {
        true => format!("{} more series, none with a stated difference", rest.len()),
        false => format!("{} more series: {}", rest.len(), parts.join(", ")),
    }
}

/// Figures of series, the statements about them, and the details of each.
#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<table class="figures"><thead><tr><th>Series</th><th>Run</th><th class="n">Samples</th><th class="n">Missed</th><th class="n">Mean</th><th class="n">p50</th><th class="n">p99</th><th class="n">p99.9</th><th class="n">p99.99</th><th class="n">Max</th><th class="n">In</th></tr></thead>
  <tbody>{% for row in rows %}<tr>{% for cell in row %}<td{% if loop.index0 > 1 %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody></table>
  <ul class="rules">{% for line in summary %}<li>{{ line }}</li>{% endfor %}</ul>
  {% for part in series %}<details class="counters of-series"><summary>{{ part.name }}: pictures, and every statement with its interval</summary>
  <ul class="rules">{% for line in part.words %}<li>{{ line }}</li>{% endfor %}</ul>
  <figure class="box"><figcaption>Number of samples (vertical) by duration (horizontal); both axes logarithmic</figcaption>{{ part.overlay_svg|safe }}</figure>
  {% if !part.course.svg.is_empty() %}<figure class="box"><figcaption>{{ part.course.caption }}: {% for key in part.keys %}<i class="key {{ key.0 }}"></i> {{ key.1 }} {% endfor %}</figcaption>{{ part.course.svg|safe }}</figure>{% endif %}
  {% for line in part.course.left_out %}<p class="note">Not drawn over time: {{ line }}.</p>{% endfor %}
  {% if !part.box_svg.is_empty() %}<figure class="box"><figcaption>{{ part.box_caption }}</figcaption>{{ part.box_svg|safe }}</figure>{% endif %}
  </details>{% endfor %}"##
)]
struct SeriesTable {
    rows: Vec<Vec<String>>,
    summary: Vec<String>,
    series: Vec<SeriesPart>,
}

/// The table of a group, with this number of statements about all its series.
fn table(comparison: &Comparison, group: &Group<'_>, most: usize) -> askama::Result<String> {
    let summary = summary(comparison, group).into_iter();
    // Conditions and doubts are of the whole kind, above and below.
    let is_here = |line: &String| !line.starts_with("CONDITIONS DIFFER") && !line.contains(IN_DOUBT);
    let mut summary: Vec<String> = summary.filter(is_here).collect();
    if summary.len() > most {
        let left = summary.split_off(most - 1).len();
        summary.push(format!("{left} more statements, with the series below"));
    }
    SeriesTable {
        rows: group.series.iter().flat_map(|one| rows(comparison, one)).collect(),
        summary,
        series: group.series.iter().map(|one| part(comparison, one)).collect(),
    }
    .render()
}

/// Rows of a series, one for each run that has it; its name stands in the first.
fn rows(comparison: &Comparison, compared: &Compared) -> Vec<Vec<String>> {
    let mut label = compared.label();
    let views = comparison.runs.iter().enumerate();
    let views = views.filter_map(|(run, (name, _))| Some((name, comparison.view(run, compared)?)));
    views
        .map(|(name, series)| row(std::mem::take(&mut label), name, series))
        .collect()
}

struct SeriesPart {
    name: String,
    words: Vec<String>,
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
    SeriesPart {
        name: compared.name.clone(),
        words: comparison.words(compared),
        overlay_svg: overlay::histograms(&compared.name, &histograms, None),
        box_svg,
        box_caption,
        course: comparison.course(compared),
        keys: comparison.keys(compared),
    }
}

fn row(label: &str, run: &str, series: &model::SeriesView) -> Vec<String> {
    let f = series.figures();
    let quantile = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
    vec![
        label.to_owned(),
        run.to_owned(),
        count(series.counters.received),
        counted_text(series, model::Counter::Missed),
        ns_or_dash(f.mean),
        quantile(f.p50),
        quantile(f.p99),
        quantile(f.p999),
        quantile(f.p9999),
        ns_or_dash(f.max.map(|ns| ns as f64)),
        format_ns(series.exposure_ns() as f64),
    ]
}
