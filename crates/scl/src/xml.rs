//! Elements of SCL in an XML tree. Elements of other namespaces (`Private` parts of tools) are ignored.

use crate::error::Problem;
use roxmltree::Node;

/// An element with its attributes and children.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a, 'input>(pub(crate) Node<'a, 'input>);

impl<'a, 'input> Element<'a, 'input> {
    /// Its name without prefix.
    pub(crate) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// The elements in it, of its own namespace.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        let namespace = self.0.tag_name().namespace();
        self.0
            .children()
            .filter(move |node| node.is_element() && node.tag_name().namespace() == namespace)
            .map(Element)
    }

    /// The children with this name.
    pub(crate) fn named(self, name: &str) -> impl Iterator<Item = Self> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// The first child with this name.
    pub(crate) fn first(self, name: &str) -> Option<Self> {
        self.named(name).next()
    }

    /// An attribute without surrounding space; `None` if it is missing.
    pub(crate) fn get(self, attribute: &str) -> Option<&'a str> {
        self.0.attribute(attribute).map(str::trim)
    }

    /// An attribute; empty if it is missing.
    pub(crate) fn text_of(self, attribute: &str) -> &'a str {
        self.get(attribute).unwrap_or("")
    }

    /// A boolean attribute; `None` if it is missing or not a boolean.
    pub(crate) fn truth(self, attribute: &str) -> Option<bool> {
        match self.get(attribute)? {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// The text in it, without surrounding space.
    pub(crate) fn content(self) -> &'a str {
        self.0.text().map_or("", str::trim)
    }

    /// Position of its begin in the file.
    pub(crate) fn at(self) -> usize {
        self.0.range().start
    }
}

/// Lines of a text, to be looked up many times.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(
            text.bytes()
                .enumerate()
                .filter(|(_, octet)| *octet == b'\n')
                .map(|(at, _)| at)
                .collect(),
        )
    }

    /// The line, from 1, of the octet at `at`.
    pub(crate) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.0.partition_point(|end| *end < at) + 1).unwrap_or(u32::MAX)
    }

    /// The line on which an element begins.
    pub(crate) fn of_element(&self, element: Element<'_, '_>) -> u32 {
        self.line(element.at())
    }

    /// A remark about an element.
    pub(crate) fn problem(
        &self,
        element: Element<'_, '_>,
        name: impl Into<String>,
        what: impl Into<String>,
    ) -> Problem {
        Problem {
            line: self.of_element(element),
            element: name.into(),
            what: what.into(),
        }
    }
}
