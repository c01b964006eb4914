//! A drawing as an SVG file that needs nothing else. Colours are those of a printed page, written out: programs that
//! draw SVG outside a browser know no variables of CSS.

use super::{Drawn, look, placed, text_at};
use crate::html::svg::escape;
use std::fmt::Write;

const MARGIN: f64 = 12.0;
const LINE: f64 = 16.0;
/// Approximate width of a letter of the captions.
const LETTER: f64 = 6.4;

/// A drawing with its heading.
pub(crate) struct Part {
    pub(crate) heading: String,
    pub(crate) drawn: Drawn,
}

/// The parts below each other, under a title, with the runs by their colours, and the captions.
pub(crate) fn of(title: &str, names: &[String], parts: &[Part]) -> String {
    let parts: Vec<&Part> = parts.iter().filter(|part| !part.drawn.svg.is_empty()).collect();
    let inner = parts.iter().map(|part| part.drawn.size.0).fold(0.0, f64::max);
    let mut body = String::new();
    let mut y = MARGIN + 18.0;
    body += &text_at("title", (MARGIN, y), title);
    y = keys(&mut body, names, inner, y + 8.0);
    for part in &parts {
        if !part.heading.is_empty() {
            y += LINE + 4.0;
            body += &text_at("name", (MARGIN, y), &part.heading);
        }
        y += 6.0;
        body += &placed(&part.drawn.svg, (MARGIN, y), part.drawn.size);
        y += part.drawn.size.1;
    }
    let mut captions: Vec<&str> = Vec::new();
    for caption in parts.iter().map(|part| part.drawn.caption.as_str()) {
        if !captions.contains(&caption) {
            captions.push(caption);
        }
    }
    for line in captions.iter().flat_map(|caption| wrapped(caption, inner)) {
        y += LINE;
        body += &text_at("tick", (MARGIN, y), &line);
    }
    let (width, height) = (inner + 2.0 * MARGIN, y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\">\n<title>triptime: {}</title>\n<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{body}\n</svg>\n",
        escape(title),
        css()
    )
}

/// The runs by their colours, in as many lines as it takes; returns the lowest position.
fn keys(out: &mut String, names: &[String], width: f64, top: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, top + LINE);
    for (run, name) in names.iter().enumerate() {
        let needed = 34.0 + name.chars().count() as f64 * LETTER;
        if x > MARGIN && x + needed > width {
            (x, y) = (MARGIN, y + LINE);
        }
        let _ = write!(
            out,
            "<path class=\"line key {}\" d=\"M{x:.1} {:.1}h20\"/>",
            look(run),
            y - 4.0
        );
        *out += &text_at("tick", (x + 26.0, y), name);
        x += needed + 14.0;
    }
    y
}

fn wrapped(text: &str, width: f64) -> Vec<String> {
    let most = (width / LETTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The rules of drawings, with the colours of a light page in place of their names.
fn css() -> String {
    let mut css = format!(
        "{}\n{}",
        crate::html::drawing_rules(),
        include_str!("../../assets/picture.css")
    );
    css += ".name { font-weight: 600; } .title { font-size: 15px; font-weight: 650; } .paper { fill: var(--paper); }\n";
    for (name, value) in crate::html::colours() {
        css = css.replace(&format!("var({name})"), value);
    }
    css
}

#[cfg(test)]
mod tests {
    use super::{css, wrapped};

    #[test]
    fn the_style_names_every_colour_itself() {
        let css = css();
        assert!(css.contains(".line.run1 { stroke: #c8621f; }"), "{css}");
        assert!(!css.contains("var(") && !css.contains("</"), "{css}");
    }

    #[test]
    fn long_captions_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 50.0), ["one two", "three"]);
    }
}
