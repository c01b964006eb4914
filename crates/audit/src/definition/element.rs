//! Elements of an XML definition, found by path.

use roxmltree::{Document, Node};
use units::CpuList;

/// Maximum nesting depth: a domain has eight levels.
const DEEPEST: usize = 64;

/// Error of a text that is not such a definition.
pub(crate) type Wrong = String;

/// An element and its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a>(Node<'a, 'a>);

/// Parses a text into a tree.
pub fn document(text: &str) -> Result<Document<'_>, Wrong> {
    if nests_too_deeply(text) {
        return Err(format!("elements are nested more than {DEEPEST} deep"));
    }
    Document::parse(text).map_err(|error| format!("line {}: {error}", error.pos().row))
}

/// Rough count before the tree is built: comments and CDATA may count as elements, but definitions contain few of them.
fn nests_too_deeply(text: &str) -> bool {
    let mut depth = 0usize;
    for piece in text.split('<').skip(1) {
        let own_end = piece.split_once('>').is_some_and(|(tag, _)| tag.ends_with('/'));
        if piece.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !own_end && !piece.starts_with(['!', '?']) {
            depth += 1;
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

impl<'a> Element<'a> {
    pub(crate) fn root(document: &'a Document<'a>) -> Self {
        Self(document.root_element())
    }

    pub(crate) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// Attribute by its name without prefix.
    pub(crate) fn attribute(self, name: &str) -> Option<&'a str> {
        let found = self.0.attributes().find(|attribute| attribute.name() == name);
        found.map(|attribute| attribute.value().trim())
    }

    /// Position in the text.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.0.range()
    }

    /// Own text of the element, without surrounding white space.
    pub(crate) fn text(self) -> &'a str {
        self.0.text().unwrap_or_default().trim()
    }

    pub(crate) fn children(self) -> impl Iterator<Item = Element<'a>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    /// Child elements with this name.
    pub(crate) fn all<'n>(self, name: &'n str) -> impl Iterator<Item = Element<'a>> + use<'a, 'n> {
        self.children().filter(move |child| child.name() == name)
    }

    /// First element at `path`, names separated by slashes.
    pub(crate) fn at(self, path: &str) -> Option<Element<'a>> {
        path.split('/').try_fold(self, |element, name| element.all(name).next())
    }

    /// Attribute of the first element at `path`.
    pub(crate) fn attribute_at(self, path: &str, name: &str) -> Option<String> {
        self.at(path)?.attribute(name).map(str::to_owned)
    }

    /// All descendants.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Element<'a>> {
        self.0.descendants().filter(Node::is_element).map(Element)
    }

    /// Attribute as a number.
    pub(crate) fn number(self, name: &str) -> Result<Option<u32>, Wrong> {
        let parse = |text: &str| text.parse().map_err(|_| self.wrong(name, text, "a number"));
        self.attribute(name).map(parse).transpose()
    }

    /// Required attribute as a number.
    pub(crate) fn needed(self, name: &str) -> Result<u32, Wrong> {
        let missing = || format!("<{}> has no {name}", self.name());
        self.number(name)?.ok_or_else(missing)
    }

    /// Attribute as a set of CPUs or vCPUs.
    pub(crate) fn cpus(self, name: &str) -> Result<Option<CpuList>, Wrong> {
        let parse = |text: &str| cpu_set(text).ok_or_else(|| self.wrong(name, text, "a set such as 1-4,^3"));
        self.attribute(name).map(parse).transpose()
    }

    fn wrong(self, name: &str, found: &str, wanted: &str) -> Wrong {
        format!("<{} {name}='{found}'>: {wanted} was expected", self.name())
    }
}

/// A set as libvirt writes it: `1-4,^3` is 1, 2 and 4.
pub(crate) fn cpu_set(text: &str) -> Option<CpuList> {
    let mut cpus = CpuList::default();
    for part in text.split(',').map(str::trim) {
        match part.strip_prefix('^') {
            Some(excluded) => cpus = cpus.without(&excluded.parse().ok()?),
            None if part.is_empty() => return None,
            None => {
                let more: CpuList = part.parse().ok()?;
                cpus = cpus.iter().chain(more.iter()).collect();
            }
        }
    }
    Some(cpus)
}
