//! Edits of an XML text that leave everything else unchanged.

use std::fmt::Write;
use std::ops::Range;

use roxmltree::Node;

/// Indentation of a child if no sibling shows it.
const STEP: &str = "  ";

/// A part of a text and its replacement.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) place: Range<usize>,
    pub(super) text: String,
}

impl Edit {
    /// The whole text after the edit.
    pub(super) fn apply(&self, text: &str) -> String {
        [&text[..self.place.start], &self.text, &text[self.place.end..]].concat()
    }
}

/// Sets an attribute; a new one is added after the others.
pub(super) fn attribute(text: &str, node: Node<'_, '_>, name: &str, value: &str) -> Edit {
    let value = escaped(value);
    if let Some(found) = node.attribute_node(name) {
        return Edit {
            place: found.range_value(),
            text: value,
        };
    }
    let last = node.attributes().next_back().map(|last| last.range().end);
    let at = last.unwrap_or_else(|| node.range().start + 1 + tag_name(text, node).len());
    Edit {
        place: at..at,
        text: format!(" {name}='{value}'"),
    }
}

/// Removes an attribute, with the space before it.
pub(super) fn without_attribute(text: &str, node: Node<'_, '_>, name: &str) -> Option<Edit> {
    let range = node.attribute_node(name)?.range();
    let before = text[..range.start].trim_end().len();
    Some(Edit {
        place: before..range.end,
        text: String::new(),
    })
}

fn tag_name<'a>(text: &'a str, node: Node<'_, '_>) -> &'a str {
    let source = &text[node.range()][1..];
    let end = source.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    &source[..end.unwrap_or(source.len())]
}

/// Removes an element, with its line if nothing else is on it.
pub(super) fn removed(text: &str, range: Range<usize>) -> Edit {
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let after = text[range.end..].trim_start_matches([' ', '\t', '\r']);
    let alone = before.ends_with('\n') && after.starts_with('\n');
    let place = match alone {
        true => before.len()..text.len() - after.len() + 1,
        false => range,
    };
    Edit {
        place,
        text: String::new(),
    }
}

/// Replaces an element by another.
pub(super) fn replaced(text: &str, node: Node<'_, '_>, wanted: Node<'_, '_>) -> Edit {
    Edit {
        place: node.range(),
        text: written(wanted, &indent_of(text, node.range().start)),
    }
}

/// Adds an element after `sibling`.
pub(super) fn behind(text: &str, sibling: Node<'_, '_>, wanted: Node<'_, '_>) -> Edit {
    let indent = indent_of(text, sibling.range().start);
    let at = sibling.range().end;
    Edit {
        place: at..at,
        text: format!("\n{indent}{}", written(wanted, &indent)),
    }
}

/// Adds an element as the last child of `parent`.
pub(super) fn inside(text: &str, parent: Node<'_, '_>, wanted: Node<'_, '_>) -> Edit {
    if let Some(last) = parent.last_element_child() {
        return behind(text, last, wanted);
    }
    let outer = indent_of(text, parent.range().start);
    let indent = format!("{outer}{STEP}");
    let content = format!("\n{indent}{}\n{outer}", written(wanted, &indent));
    let (range, source) = (parent.range(), &text[parent.range()]);
    match source.strip_suffix("/>") {
        Some(open) => Edit {
            place: range.start + open.trim_end().len()..range.end,
            text: format!(">{content}</{}>", tag_name(text, parent)),
        },
        None => {
            let close = range.start + source.rfind("</").unwrap_or(source.len());
            let blank = text[..close].trim_end().len();
            Edit {
                place: blank..close,
                text: content,
            }
        }
    }
}

/// Sets the text of an element without child elements.
pub(super) fn content(node: Node<'_, '_>, value: &str) -> Option<Edit> {
    let place = node.children().find(|child| child.is_text())?.range();
    Some(Edit {
        place,
        text: escaped(value),
    })
}

/// White space before the element, if the element begins its line.
fn indent_of(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    let blank = before.len() - before.trim_start().len();
    before[..blank].to_owned()
}

/// An element in libvirt's format, its first line without indent.
fn written(node: Node<'_, '_>, indent: &str) -> String {
    let mut out = format!("<{}", node.tag_name().name());
    for attribute in node.attributes() {
        let _ = write!(out, " {}='{}'", attribute.name(), escaped(attribute.value()));
    }
    let children: Vec<Node<'_, '_>> = node.children().filter(Node::is_element).collect();
    let own = node.text().unwrap_or_default().trim();
    if children.is_empty() {
        return match own {
            "" => out + "/>",
            own => format!("{out}>{}</{}>", escaped(own), node.tag_name().name()),
        };
    }
    out.push('>');
    for child in children {
        let deeper = format!("{indent}{STEP}");
        let _ = write!(out, "\n{deeper}{}", written(child, &deeper));
    }
    let _ = write!(out, "\n{indent}</{}>", node.tag_name().name());
    out
}

fn escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&apos;")
        .replace('"', "&quot;")
}
