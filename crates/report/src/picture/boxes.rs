//! Box plots of the largest samples of spans of one length: a row for each run below each series.

use super::{Drawn, Group, look, text_at};
use crate::html::boxes::{BoxFigures, LEAST, draw, letters_width};
use crate::html::svg::{Scale, axis_ns};
use crate::insight::with_largest;
use crate::spans;
use std::fmt::Write;
use units::Ns;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 16.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 20.0;

/// The rows of a series that have a box.
struct Boxed<'a> {
    group: &'a Group<'a>,
    rows: Vec<(usize, BoxFigures)>,
}

/// Box plots of these series; `names` are the names of the runs.
pub(crate) fn of(names: &[String], groups: &[Group<'_>]) -> Drawn {
    let all: Vec<_> = groups
        .iter()
        .flat_map(|group| &group.series)
        .map(|(_, one)| *one)
        .collect();
    let span_ns = spans::common_ns(&all);
    let mut left_out = Vec::new();
    let mut boxed = Vec::new();
    for group in groups {
        let mut rows = Vec::new();
        for (run, series) in &group.series {
            let maxima = spans::maxima(series, span_ns).map(|maxima| with_largest(maxima, series));
            match maxima
                .as_ref()
                .map(|maxima| (maxima.len(), BoxFigures::of(maxima.clone())))
            {
                Some((_, Some(figures))) => rows.push((*run, figures)),
                Some((windows, None)) => left_out.push(format!(
                    "{} of {}: {windows} of the {LEAST} spans of {} that a box takes",
                    group.name,
                    names[*run],
                    Ns(span_ns)
                )),
                None => left_out.push(format!(
                    "{} of {}: its windows do not add up to spans of {}",
                    group.name,
                    names[*run],
                    Ns(span_ns)
                )),
            }
        }
        if !rows.is_empty() {
            boxed.push(Boxed { group, rows });
        }
    }
    let (svg, size) = plot(names, &boxed);
    Drawn {
        svg,
        size,
        caption: format!(
            "Largest sample of each {}: quartiles, median, whiskers to 1.5 box lengths, outliers; logarithmic",
            Ns(span_ns)
        ),
        left_out,
    }
}

fn plot(names: &[String], boxed: &[Boxed<'_>]) -> (String, (f64, f64)) {
    if boxed.is_empty() {
        return Default::default();
    }
    let shown = boxed.iter().flat_map(|rows| &rows.rows);
    let longest = shown
        .clone()
        .map(|(run, _)| letters_width(&names[*run]))
        .fold(LEFT, f64::max);
    let (left, width) = (longest, longest + WIDTH);
    let limits = boxed.iter().filter_map(|rows| rows.group.limit_ns).map(|ns| ns as f64);
    let ends = shown.flat_map(|(_, figures)| figures.ends());
    let x = Scale::log(ends.chain(limits), left, width - 20.0);
    let bottom = TOP
        + boxed
            .iter()
            .map(|rows| HEAD + ROW * rows.rows.len() as f64)
            .sum::<f64>()
        + 4.0;
    let size = (width, bottom + 20.0);
    let mut out = format!(
        "<svg class=\"boxes picture\" viewBox=\"0 0 {width:.0} {:.0}\" role=\"img\" aria-label=\"Box plots of several runs\">",
        size.1
    );
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>");
        for y in [TOP - 5.0, bottom + 14.0] {
            out += &text_at("tick mid", (at, y), &axis_ns(tick));
        }
    }
    let mut y = TOP;
    let mut told = None;
    for rows in boxed {
        out += &text_at("name", (0.0, y + 14.0), &rows.group.name);
        let top = y;
        y += HEAD;
        for (run, figures) in &rows.rows {
            let _ = write!(out, "<g class=\"{}\">", look(*run));
            draw(&mut out, (&names[*run], left), figures, &x, y + ROW / 2.0);
            out += "</g>";
            y += ROW;
        }
        if let Some(ns) = rows.group.limit_ns {
            limit(&mut out, x.at(ns as f64), (top, y));
            if told != Some(ns) {
                let text = format!("limit {}", axis_ns(ns as f64));
                out += &text_at("limit-text end", (x.at(ns as f64) - 4.0, top + 12.0), &text);
                told = Some(ns);
            }
        }
    }
    (out + "</svg>", size)
}

fn limit(out: &mut String, x: f64, (from, to): (f64, f64)) {
    let _ = write!(out, "<path class=\"limit\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
}

#[cfg(test)]
mod tests {
    use super::{Group, of};
    use model::SeriesView;
    use testing::synthetic;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn group<'a>(name: &str, series: &[&'a SeriesView]) -> Group<'a> {
        Group {
            name: name.to_owned(),
            series: series.iter().enumerate().map(|(run, one)| (run, *one)).collect(),
            limit_ns: Some(1_000_000),
        }
    }

    #[test]
    fn every_load_has_a_box_for_each_machine_in_its_colour() {
        let [idle, loaded] =
            ["none", "load"].map(|load| synthetic::series(&format!("task/{load}"), 6_000, 700_000, 60));
        let groups = [
            group("none", &[&idle, &idle]),
            group("hackbench <4>", &[&loaded, &loaded]),
        ];
        let drawn = of(&named(&["gold", "silver"]), &groups);
        for part in [
            ">none<",
            ">hackbench &lt;4&gt;<",
            ">gold<",
            ">silver<",
            "class=\"run0\"",
            "class=\"run1\"",
        ] {
            assert!(drawn.svg.contains(part), "{part} in {}", drawn.svg);
        }
        assert_eq!(drawn.svg.matches("class=\"body\"").count(), 4);
        assert_eq!(
            drawn.svg.matches(">limit 1 ms<").count(),
            1,
            "said once, drawn for each"
        );
        assert_eq!(drawn.svg.matches("class=\"limit\"").count(), 2);
        assert!(drawn.left_out.is_empty());
    }

    #[test]
    fn a_run_too_short_for_a_box_is_named_and_not_drawn() {
        let (long, short) = (
            synthetic::series("task/F1", 6_000, 700_000, 60),
            synthetic::series("task/F1", 300, 700_000, 3),
        );
        let drawn = of(&named(&["gold", "silver"]), &[group("F1", &[&long, &short])]);
        assert!(
            drawn.svg.contains(">gold<") && !drawn.svg.contains(">silver<"),
            "{}",
            drawn.svg
        );
        let [why] = &drawn.left_out[..] else {
            panic!("{:?}", drawn.left_out)
        };
        assert_eq!(why, "F1 of silver: 3 of the 5 spans of 1.00 s that a box takes");
        let nothing = of(&named(&["silver"]), &[group("F1", &[&short])]);
        assert!(nothing.svg.is_empty() && nothing.left_out.len() == 1);
    }
}
