//! A comparison as one HTML file.

use super::answer::AnswerScreen;
use super::{Compared, Comparison};
use crate::html::overlay;
use crate::spans;
use crate::text::{count, ns_or_dash};
use askama::Template;
use units::foreign::Show;
use units::format_ns;

#[derive(Template)]
#[template(path = "compare.html")]
struct Html<'a> {
    css: &'a str,
    answer: Vec<String>,
    runs: Vec<[String; 4]>,
    series: Vec<SeriesPart>,
    alone: &'a [(String, String)],
    names: Vec<&'a str>,
    facts: Vec<(String, Vec<String>)>,
}

struct SeriesPart {
    name: String,
    rows: Vec<Vec<String>>,
    words: Vec<String>,
    unfair: Vec<String>,
    overlay_svg: String,
    box_svg: String,
    box_caption: String,
}

impl Comparison {
    /// The comparison as one self-contained HTML file.
    ///
    /// # Errors
    /// Only when a value cannot be written as text, which none of ours can.
    pub fn html(&self) -> Result<String, askama::Error> {
        self.shown().page()
    }

    fn page(&self) -> Result<String, askama::Error> {
        let run = |(name, run): &(String, model::RunView)| {
            [
                name.clone(),
                run.info.command.clone(),
                format_ns(run.duration_ns as f64),
                run.file.display().to_string(),
            ]
        };
        Html {
            css: crate::html::CSS,
            answer: answer(self),
            runs: self.runs.iter().map(run).collect(),
            series: self.series.iter().map(|compared| self.part(compared)).collect(),
            alone: &self.alone,
            names: self.runs.iter().map(|(name, _)| name.as_str()).collect(),
            facts: self
                .facts
                .iter()
                .map(|fact| {
                    (
                        format!("{}: {}", fact.group, fact.name),
                        super::terminal::values(fact).collect(),
                    )
                })
                .collect(),
        }
        .render()
    }

    fn part(&self, compared: &Compared) -> SeriesPart {
        let of_runs: Vec<(&str, &model::SeriesView)> = self
            .runs
            .iter()
            .enumerate()
            .filter_map(|(index, (name, _))| Some((name.as_str(), self.view(index, compared)?)))
            .collect();
        let named = of_runs.iter().map(|(name, series)| ((*name).to_owned(), *series));
        let (box_svg, box_caption) = spans::boxes_of(&named.collect::<Vec<_>>());
        let histograms: Vec<(&str, &stats::Histogram)> = of_runs
            .iter()
            .map(|(name, series)| (*name, &series.histogram))
            .collect();
        let words = self.words(compared);
        SeriesPart {
            name: compared.name.clone(),
            rows: of_runs.iter().map(|(name, series)| row(name, series)).collect(),
            words: words.into_iter().filter(|line| !line.starts_with("NOT LIKE")).collect(),
            unfair: compared.unfair.clone(),
            overlay_svg: overlay::histograms(&compared.name, &histograms, None),
            box_svg,
            box_caption,
        }
    }
}

/// The answer above everything: the sentences, the limits, and the differences in the set-up.
fn answer(comparison: &Comparison) -> Vec<String> {
    let answer = AnswerScreen::of(comparison);
    let limits = answer.of_limits.map(|text| format!("Limits: {text}."));
    let set_up = (!answer.differs.is_empty()).then(|| format!("Set-up: {}.", answer.differs.join("; ")));
    answer.sentences.into_iter().chain(limits).chain(set_up).collect()
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
