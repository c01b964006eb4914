//! A talker and a listener of one run, side by side, in the HTML page. The terminal has the same in the words of linuxEthernetTest.

use crate::Report;
use crate::html::overlay;
use crate::html::panels::limit_of;
use crate::section::{Link, Section};
use crate::text::{capitalised, count, ns_or_dash};
use askama::Template;
use model::{Counter, Figure, FigureValue, SeriesView, kind};

/// The section of the report.
pub(crate) struct EndsSection;

/// Identifier of the section in the page.
const ID: &str = "ends";
const TITLE: &str = "Talker and listener";

/// The counters that either end may have.
const COUNTERS: [Counter; 5] = [
    Counter::Late,
    Counter::Missed,
    Counter::Lost,
    Counter::Duplicate,
    Counter::Reordered,
];

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="{{ id }}">
  <h2>{{ title }}</h2>
  <p class="what">Talker delta: due instant of a frame to the instant just before its send call. Listener delta: one frame of a stream to the next, so its even value is the interval.</p>
  <div class="charts">{% for chart in charts %}
    <figure class="chart"><figcaption>{{ chart.0 }}: number of samples (vertical) by duration (horizontal); both axes logarithmic</figcaption>{{ chart.1|safe }}</figure>{% endfor %}
  </div>
  <table class="figures">
    <thead><tr><th></th>{% for head in heads %}<th class="n">{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in rows %}<tr><td>{{ row.0 }}</td>{% for cell in row.1 %}<td class="n">{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
</section>
"##
)]
struct Html {
    id: &'static str,
    title: &'static str,
    /// Name and drawing of each end.
    charts: [(&'static str, String); 2],
    heads: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl Section for EndsSection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        let Some((talkers, listeners)) = ends(report) else {
            return Ok(String::new());
        };
        let all: Vec<&SeriesView> = talkers.iter().chain(&listeners).copied().collect();
        Html {
            id: ID,
            title: TITLE,
            charts: [("Talker delta", &talkers), ("Listener delta", &listeners)]
                .map(|(name, series)| (name, drawing(report, name, series))),
            heads: all.iter().map(|series| series.spec.name.clone()).collect(),
            rows: rows(&all),
        }
        .render()
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        let link = ends(report).map(|_| Link::to(ID, TITLE));
        link.into_iter().collect()
    }
}

/// Talkers and listeners, if the run has both.
fn ends(report: &Report) -> Option<(Vec<&SeriesView>, Vec<&SeriesView>)> {
    let of = |kind| -> Vec<&SeriesView> {
        let all = report.run.series.iter();
        all.filter(|series| series.is(kind)).collect()
    };
    let both = (of(&kind::TALK), of(&kind::LISTEN));
    (!both.0.is_empty() && !both.1.is_empty()).then_some(both)
}

fn drawing(report: &Report, name: &str, series: &[&SeriesView]) -> String {
    let limit = series
        .iter()
        .filter_map(|series| limit_of(&report.judgement, series))
        .min();
    let shown = series.iter().take(overlay::CLASSES);
    let all: Vec<_> = shown.map(|series| (series.spec.label(), &series.histogram)).collect();
    overlay::histograms(name, &all, limit)
}

/// Each figure of every end, then each counter; a counter that an end does not have is left empty, not 0.
fn rows(all: &[&SeriesView]) -> Vec<(String, Vec<String>)> {
    let frames = all.iter().map(|series| count(series.counters.received)).collect();
    let mut rows = vec![("Frames".to_owned(), frames)];
    let figures: Vec<_> = all.iter().map(|series| series.figures()).collect();
    rows.extend(Figure::ALL.into_iter().map(|figure| {
        let of = figures
            .iter()
            .map(|one| ns_or_dash(one.get(figure).map(FigureValue::ns)));
        let title = figure
            .quantile()
            .map_or_else(|| capitalised(figure.title()), |_| figure.title().to_owned());
        (title, of.collect())
    }));
    rows.extend(COUNTERS.into_iter().map(|counter| {
        let of = all.iter().map(|series| match series.lists(counter) {
            true => count(series.counters.get(counter)),
            false => String::new(),
        });
        (capitalised(counter.name()), of.collect())
    }));
    let after = |series: &&SeriesView| series.setting("late after").unwrap_or_default().to_owned();
    rows.push(("Late after".to_owned(), all.iter().map(after).collect()));
    rows
}

#[cfg(test)]
mod tests {
    use super::EndsSection;
    use crate::Report;
    use crate::section::Section;
    use testing::synthetic::{run, series};

    fn page(names: &[&str]) -> String {
        let all = names.iter().map(|name| {
            let mut one = series(name, 1_000, 60_000, 10);
            one.counters.late = 7;
            one.spec.settings.push(("late after".into(), format!("{name} says")));
            one
        });
        let report = Report::new(run(all.collect()), Vec::new());
        EndsSection.html(&report).expect("a page")
    }

    #[test]
    fn both_ends_stand_side_by_side_and_a_lone_one_has_no_section() {
        let both = page(&["talk/avtp", "listen/avtp-02", "wakeup/cpu1"]);
        assert_eq!(both.matches("<svg").count(), 2, "{both}");
        assert!(both.contains("<th class=\"n\">talk/avtp</th><th class=\"n\">listen/avtp-02</th></tr>"));
        assert!(both.contains("<td>Late</td><td class=\"n\">7</td><td class=\"n\">7</td>"));
        assert!(
            both.contains("<td>Missed</td><td class=\"n\">0</td><td class=\"n\"></td>"),
            "{both}"
        );
        assert!(both.contains("<td>Late after</td><td class=\"n\">talk/avtp says</td>"));
        assert!(!both.contains("wakeup"));
        assert_eq!(page(&["talk/avtp"]), "");
        assert_eq!(page(&["listen/avtp-02"]), "");
    }
}
