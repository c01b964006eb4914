//! A matrix as one HTML file.

use super::Matrix;
use super::cell::Cell;
use super::conclusion::{Conclusion, Factor};
use super::measure::Measure;
use super::text::{SEEN, caption, without_box};
use crate::html::{boxes, overlay};
use crate::tables::Table;
use askama::Template;
use model::kind::Kind;

#[derive(Template)]
#[template(path = "matrix.html")]
struct Html<'a> {
    css: &'a str,
    name: &'a str,
    tables: Vec<Table>,
    differences: Vec<(&'static str, Vec<String>)>,
    how_sure: &'static str,
    kinds: Vec<KindPart>,
    seen_title: &'static str,
    seen: Vec<(String, Vec<String>)>,
    files: Vec<(String, String)>,
}

/// All cells that measured one kind of series.
struct KindPart {
    title: &'static str,
    what: &'static str,
    caption: String,
    box_svg: String,
    too_short: Vec<String>,
    overlays: Vec<Overlay>,
}

/// The histograms of cells that differ in place and isolation alone.
struct Overlay {
    name: String,
    keys: Vec<String>,
    svg: String,
}

impl Matrix {
    /// As one self-contained HTML file.
    ///
    /// # Errors
    /// Only when a value cannot be written as text, which none of ours can.
    pub fn html(&self) -> Result<String, askama::Error> {
        Html {
            css: crate::html::CSS,
            name: &self.name,
            tables: vec![self.table()],
            differences: self.differences(),
            how_sure: self.how_sure(),
            kinds: self.kinds().map(|kind| self.part(kind)).collect(),
            seen_title: SEEN,
            seen: self.seen(),
            files: self
                .cells
                .iter()
                .map(|cell| (cell.conditions.words(), cell.files.join(" ")))
                .collect(),
        }
        .render()
    }

    /// The sentences by what the cells differ in.
    fn differences(&self) -> Vec<(&'static str, Vec<String>)> {
        let of = |factor: Factor| {
            let all = self.conclusions.iter().filter(|one| one.factor == factor);
            (factor.word(), all.map(Conclusion::text).collect::<Vec<_>>())
        };
        let all = Factor::ALL.map(of);
        all.into_iter().filter(|(_, texts)| !texts.is_empty()).collect()
    }

    fn part(&self, kind: &'static Kind) -> KindPart {
        let cells = self.with(kind);
        let rows = cells
            .iter()
            .map(|(cell, measure)| (cell.conditions.words(), measure.maxima.ns.clone()));
        KindPart {
            title: kind.title,
            what: kind.what,
            caption: caption(&cells),
            box_svg: boxes::plot(&rows.collect::<Vec<_>>()),
            too_short: without_box(&cells),
            overlays: overlays(kind, &cells),
        }
    }
}

fn overlays(kind: &Kind, cells: &[(&Cell, &Measure)]) -> Vec<Overlay> {
    let mut groups: Vec<(String, Vec<(&Cell, &Measure)>)> = Vec::new();
    for (cell, measure) in cells {
        let own = &cell.conditions;
        let over = own.network.as_ref().map(|network| format!("over {network}, "));
        let name = format!("{}{}", over.unwrap_or_default(), own.beside());
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push((cell, measure)),
            None => groups.push((name, vec![(cell, measure)])),
        }
    }
    groups
        .into_iter()
        .map(|(name, cells)| overlaid(kind, name, &cells))
        .collect()
}

fn overlaid(kind: &Kind, name: String, cells: &[(&Cell, &Measure)]) -> Overlay {
    let key = |cell: &Cell| format!("{}, isolation {}", cell.conditions.place, cell.conditions.isolation);
    let keys: Vec<String> = cells.iter().map(|(cell, _)| key(cell)).collect();
    let histograms = keys
        .iter()
        .zip(cells)
        .map(|(key, (_, measure))| (key.as_str(), &measure.series.histogram));
    let svg = overlay::histograms(
        &format!("{}, {name}", kind.title),
        &histograms.collect::<Vec<_>>(),
        None,
    );
    Overlay { name, keys, svg }
}
