//! Draws the path of a frame inside the traced host: a box for each line of the tree, connected from the left.

use crate::Report;
use crate::html::svg::escape;
use crate::section::Section;
use askama::Template;
use model::Fact;
use model::fact::TRACED_WAY;

/// Number of spaces per level in the tree.
const INDENT: usize = 2;

/// Height of a line, width of a level, height of a box and width of a character, in pixels.
const LINE: usize = 30;
const LEVEL: usize = 28;
const BOX: usize = 22;
const CHARACTER: usize = 7;

/// A line of the tree: its depth and its text, either original or safe to show.
pub(crate) type Branch = (usize, String);

/// The tree that `trace` stored in the facts, line by line; empty if there is none. Making a fact safe to show joins
/// its lines, so each line is made safe separately.
pub(crate) fn lines(facts: &[Fact]) -> Vec<Branch> {
    let tree = TRACED_WAY.of(facts).unwrap_or_default();
    let line = |line: &str| {
        let text = line.trim_start_matches(' ');
        ((line.len() - text.len()) / INDENT, text.to_owned())
    };
    tree.lines().map(line).collect()
}

/// The section of the page, if hops were traced.
pub(crate) struct WaySection;

impl Section for WaySection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        match &report.way[..] {
            [] => Ok(String::new()),
            way => Html { picture: svg(way) }.render(),
        }
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="way">
  <h2>The way of a frame inside this host</h2>
  {{ picture|safe }}
</section>
"##
)]
struct Html {
    picture: String,
}

/// An SVG document of lines with their depths.
fn svg(lines: &[(usize, String)]) -> String {
    let widths = lines
        .iter()
        .map(|(depth, text)| depth * LEVEL + text.chars().count() * CHARACTER + 24);
    let width = widths.max().unwrap_or(0);
    let height = lines.len() * LINE + 8;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\" role=\"img\">\n<title>The way of a frame</title>\n"
    );
    for (number, (depth, text)) in lines.iter().enumerate() {
        let (x, y) = (4 + depth * LEVEL, 4 + number * LINE);
        if let Some(parent) = lines[..number].iter().rposition(|(other, _)| other < depth) {
            let (from_x, from_y) = (4 + lines[parent].0 * LEVEL + 10, 4 + parent * LINE + BOX);
            let to_y = y + BOX / 2;
            out.push_str(&format!(
                "<path d=\"M{from_x} {from_y}V{to_y}H{x}\" fill=\"none\" stroke=\"currentColor\"/>\n"
            ));
        }
        let box_width = text.chars().count() * CHARACTER + 12;
        out.push_str(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{box_width}\" height=\"{BOX}\" rx=\"3\" fill=\"none\" stroke=\"currentColor\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"currentColor\">{}</text>\n",
            x + 6,
            y + 15,
            escape(text)
        ));
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{lines, svg};
    use crate::Report;
    use model::Fact;
    use testing::synthetic;

    fn way(tree: &str) -> Fact {
        Fact {
            group: "trace".to_owned(),
            name: "way".to_owned(),
            value: Ok(tree.to_owned()),
            source: String::new(),
        }
    }

    #[test]
    fn names_cannot_break_the_document() {
        let mut run = synthetic::run(Vec::new());
        run.facts = vec![way("eth1: network card\n  <script>&\u{7}\n")];
        let page = Report::new(run, Vec::new())
            .html(&Default::default(), None)
            .expect("a page");
        let picture = page.split("id=\"way\"").nth(1).expect("the part");
        let picture = picture.split("</section>").next().expect("its end");
        assert!(picture.contains("&lt;script&gt;&amp;\\u{7}"), "{picture}");
        assert_eq!(picture.matches("<rect").count(), 2);
        assert_eq!(picture.matches("<path").count(), 1);
    }

    #[test]
    fn the_tree_among_the_facts_is_drawn() {
        assert!(lines(&[]).is_empty());
        let drawn = svg(&lines(&[way("eth1: network card\n  br0: bridge\n    vnet0: tap\n")]));
        assert_eq!((drawn.matches("<rect").count(), drawn.matches("<path").count()), (3, 2));
    }
}
