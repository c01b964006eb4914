//! The cells that measured a kind of series: box plots, and histograms of similar cells.

use super::cell::Cell;
use super::measure::Measure;
use super::text::{caption, without_box};
use super::{Matrix, boxes};
use crate::html::{boxes as drawn, overlay};
use crate::picture::{Drawn, Group, course};
use crate::section::Section;
use crate::terminal::Paint;
use askama::Template;
use model::kind::Kind;
use std::fmt::Write;

/// The section of a matrix, with a part for each kind.
pub(super) struct KindsSection;

impl Section<Matrix> for KindsSection {
    fn text(&self, matrix: &Matrix, _paint: &Paint) -> String {
        let parts = matrix.kinds().map(|kind| matrix.boxes_of(kind));
        parts.collect::<Vec<_>>().join("\n")
    }

    fn html(&self, matrix: &Matrix) -> askama::Result<String> {
        let kinds = matrix.kinds().map(|kind| matrix.part(kind)).collect();
        Html { kinds }.render()
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% for kind in kinds %}
<section>
  <h2>{{ kind.title }}</h2>
  <p class="what">{{ kind.what }}</p>
  {% if !kind.box_svg.is_empty() %}<figure class="box"><figcaption>{{ kind.caption }}</figcaption>{{ kind.box_svg|safe }}</figure>{% endif %}
  {% for line in kind.too_short %}<p class="note">{{ line }}</p>{% endfor %}
  {% for overlay in kind.overlays %}<figure class="box"><figcaption>Number of samples (vertical) by duration (horizontal), {{ overlay.name }}; both axes logarithmic:
    {% for key in overlay.keys %}<i class="key run{{ loop.index0 % 6 }}"></i> {{ key }} {% endfor %}</figcaption>{{ overlay.svg|safe }}</figure>
  {% if !overlay.course.svg.is_empty() %}<figure class="box"><figcaption>{{ overlay.course.caption }}, {{ overlay.name }}:
    {% for key in overlay.keys %}<i class="key run{{ loop.index0 % 6 }}"></i> {{ key }} {% endfor %}</figcaption>{{ overlay.course.svg|safe }}</figure>{% endif %}
  {% for line in overlay.course.left_out %}<p class="note">Not drawn over time: {{ line }}.</p>{% endfor %}{% endfor %}
</section>
{% endfor %}"##
)]
struct Html {
    kinds: Vec<KindPart>,
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

/// The histograms and courses of cells that differ only in place and isolation.
struct Overlay {
    name: String,
    keys: Vec<String>,
    svg: String,
    course: Drawn,
}

impl Matrix {
    fn part(&self, kind: &'static Kind) -> KindPart {
        let cells = self.with(kind);
        let rows = cells
            .iter()
            .map(|(cell, measure)| (cell.conditions.words(), measure.maxima.ns.clone()));
        KindPart {
            title: kind.title,
            what: kind.what,
            caption: caption(&cells),
            box_svg: drawn::plot(&rows.collect::<Vec<_>>()),
            too_short: without_box(&cells),
            overlays: overlays(kind, &cells),
        }
    }

    fn boxes_of(&self, kind: &Kind) -> String {
        let cells = self.with(kind);
        let mut out = format!("{}: {}\n{}", kind.title, caption(&cells), boxes::text(&cells));
        for text in without_box(&cells) {
            let _ = writeln!(out, "  {text}");
        }
        out
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
    let title = format!("{}, {name}", kind.title);
    let series = cells.iter().map(|(_, measure)| &measure.series).enumerate().collect();
    let group = Group {
        name: kind.title.to_owned(),
        series,
        limit_ns: None,
    };
    let course = course::of(&title, &keys, &group);
    Overlay {
        name,
        keys,
        svg,
        course,
    }
}
