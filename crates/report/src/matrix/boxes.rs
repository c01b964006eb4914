//! Box plots of window maxima in text form, one line for each cell, all on one scale.

use super::cell::Cell;
use super::measure::Measure;
use crate::html::boxes::BoxFigures;
use crate::html::svg::{Scale, axis_ns};
use std::fmt::Write;

pub(super) use crate::html::boxes::LEAST;

/// Width of a plot in characters.
const WIDTH: usize = 56;

/// The boxes of all cells that have enough windows, below their scale; empty if there are none.
pub(super) fn text(cells: &[(&Cell, &Measure)]) -> String {
    let figures = |(cell, measure): &(&Cell, &Measure)| {
        Some((cell.conditions.words(), BoxFigures::of(measure.maxima.ns.clone())?))
    };
    let boxes: Vec<(String, BoxFigures)> = cells.iter().filter_map(figures).collect();
    let Some(left) = boxes.iter().map(|(name, _)| name.chars().count()).max() else {
        return String::new();
    };
    let x = Scale::log(
        boxes.iter().flat_map(|(_, figures)| figures.ends()),
        0.0,
        (WIDTH - 1) as f64,
    );
    let mut out = String::new();
    for (name, figures) in &boxes {
        let _ = writeln!(out, "  {name:<left$}  {}", drawn(figures, &x).trim_end());
    }
    let _ = writeln!(out, "  {:<left$}  {}", "", ticks(&x).trim_end());
    out
}

fn drawn(figures: &BoxFigures, x: &Scale) -> String {
    let at = |ns: f64| x.at(ns).round() as usize;
    let mut line = vec![' '; WIDTH];
    let [from, to] = figures.whiskers.map(at);
    let [low, middle, high] = figures.quartiles.map(at);
    line[from..=to].fill('-');
    line[low..=high].fill('=');
    (line[from], line[to]) = ('|', '|');
    (line[low], line[high]) = ('[', ']');
    line[middle] = '#';
    figures.outliers.iter().for_each(|ns| line[at(*ns)] = 'o');
    line.into_iter().collect()
}

/// The round values of the scale, each starting at its position; values without room are left out.
fn ticks(x: &Scale) -> String {
    let mut line = String::new();
    for tick in x.ticks() {
        let at = x.at(tick).round() as usize;
        let free = line.chars().count();
        if free == 0 || at > free {
            let _ = write!(line, "{:>1$}{2}", "", at - free, axis_ns(tick));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{BoxFigures, Scale, WIDTH, drawn, ticks};

    #[test]
    fn a_box_is_drawn_at_its_places() {
        let figures = BoxFigures::of(vec![1e4, 2e4, 3e4, 4e4, 5e4, 6e4, 7e4, 8e4, 1e6]).expect("enough");
        let x = Scale::log_between(1e4, 1e6, 0.0, (WIDTH - 1) as f64);
        let line = drawn(&figures, &x);
        assert_eq!(line.chars().count(), WIDTH);
        assert!(line.starts_with("|-") && line.ends_with(" o"), "{line}");
        let place = |letter: char| line.find(letter).expect("drawn");
        assert!(place('[') < place('#') && place('#') < place(']'), "{line}");
        assert!(ticks(&x).starts_with("10 µs"), "{}", ticks(&x));
    }
}
