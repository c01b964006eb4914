//! Draws the way of a frame inside the traced host: a box for each line of the tree, joined from the left.

use super::svg::escape;
use model::Fact;
use model::fact::TRACED_WAY;
use units::foreign::Show;

/// Spaces of a level in the tree.
const INDENT: usize = 2;

/// Height of a line, width of a level, height of a box and width of a character, in pixels.
const LINE: usize = 30;
const LEVEL: usize = 28;
const BOX: usize = 22;
const CHARACTER: usize = 7;

/// Draws the tree that `trace` left among the facts; `None` where there is none. The facts are those of the run file: in texts that
/// were made safe to show, a tree is one line. Each of its lines is made safe here.
pub(super) fn picture(facts: &[Fact]) -> Option<String> {
    let tree = TRACED_WAY.of(facts)?;
    let lines = tree.lines().map(|line| {
        let text = line.trim_start_matches(' ');
        ((line.len() - text.len()) / INDENT, text.to_owned().shown())
    });
    Some(svg(&lines.collect::<Vec<_>>()))
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
    use super::picture;
    use model::Fact;

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
        let picture = picture(&[way("eth1: network card\n  <script>&\u{7}\n")]).expect("a picture");
        assert!(picture.contains("&lt;script&gt;&amp;\\u{7}"), "{picture}");
        assert_eq!(picture.matches("<rect").count(), 2);
        assert_eq!(picture.matches("<path").count(), 1);
    }

    #[test]
    fn the_tree_among_the_facts_is_drawn() {
        assert_eq!(picture(&[]), None);
        let drawn = picture(&[way("eth1: network card\n  br0: bridge\n    vnet0: tap\n")]).expect("a picture");
        assert_eq!((drawn.matches("<rect").count(), drawn.matches("<path").count()), (3, 2));
    }
}
