//! `DataTypeTemplates`: the types of the data of a logical node.

use crate::model::{Basic, Type};
use crate::xml::Element;
use std::collections::HashMap;

/// Largest depth of nested structures. Real files need five; a type that contains itself has no end.
const DEEPEST: usize = 12;

/// Largest number of values of one dataset member. The largest data objects have some dozens.
const MOST_VALUES: usize = 1_000;

/// The types of a file, by `id`.
#[derive(Debug, Default)]
pub(crate) struct Types<'a, 'input> {
    nodes: HashMap<&'a str, Element<'a, 'input>>,
    objects: HashMap<&'a str, Element<'a, 'input>>,
    attributes: HashMap<&'a str, Element<'a, 'input>>,
    enumerations: HashMap<&'a str, Element<'a, 'input>>,
}

/// A basic value in a dataset member.
#[derive(Debug)]
pub(crate) struct Leaf<'a> {
    /// Its path below the member; empty if the member is itself a basic value.
    pub(crate) path: String,
    /// `Val` of its type.
    pub(crate) value: Option<&'a str>,
    /// The enumeration with the names of its values; empty if it has none.
    enumeration: &'a str,
}

/// A dataset member, while its type is being resolved.
struct Walk<'a, 'w> {
    fc: &'w str,
    /// Number of values that may still be added.
    budget: usize,
    path: Vec<&'a str>,
    leaves: Vec<Leaf<'a>>,
}

/// Reason why a path has no type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoType {
    /// The logical node has no type in the file.
    NoTemplate,
    /// There is no part with this name.
    NoPart(String),
    /// A type that contains itself, or is larger than any real one.
    TooLarge,
    /// There is no part with this functional constraint.
    NoSuchConstraint,
}

impl NoType {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::NoTemplate => "DataTypeTemplates has no type of its logical node".into(),
            Self::NoPart(name) => format!("its type has no part `{name}`"),
            Self::TooLarge => "its type contains itself, or has more than 1000 values".into(),
            Self::NoSuchConstraint => "its type has no part with this fc".into(),
        }
    }
}

impl<'a, 'input> Types<'a, 'input> {
    pub(crate) fn of(root: Element<'a, 'input>) -> Self {
        let mut types = Self::default();
        for element in root
            .named("DataTypeTemplates")
            .flat_map(|templates| templates.elements().collect::<Vec<_>>())
        {
            let table = match element.name() {
                "LNodeType" => &mut types.nodes,
                "DOType" => &mut types.objects,
                "DAType" => &mut types.attributes,
                "EnumType" => &mut types.enumerations,
                _ => continue,
            };
            table.insert(element.text_of("id"), element);
        }
        types
    }

    /// The type at `path` (data object, sub-objects, attribute and its parts) in a logical node of type `ln_type`, of the
    /// functional constraint `fc`, and the basic values in it.
    pub(crate) fn resolve(&self, ln_type: &str, path: &[&str], fc: &str) -> Result<(Type, Vec<Leaf<'a>>), NoType> {
        let node = self.nodes.get(ln_type).ok_or(NoType::NoTemplate)?;
        let (object, rest) = path.split_first().ok_or(NoType::NoTemplate)?;
        let no_part = |name: &str| NoType::NoPart(name.to_owned());
        let data = node
            .named("DO")
            .find(|data| data.text_of("name") == *object)
            .ok_or_else(|| no_part(object))?;
        let mut at = self
            .objects
            .get(data.text_of("type"))
            .copied()
            .ok_or(NoType::NoTemplate)?;
        let mut walk = Walk {
            fc,
            budget: MOST_VALUES,
            path: Vec::new(),
            leaves: Vec::new(),
        };
        let mut rest = rest;
        while let Some((name, further)) = rest.split_first() {
            let part = at
                .elements()
                .find(|part| part.text_of("name") == *name)
                .ok_or_else(|| no_part(name))?;
            match (part.name(), further) {
                (_, []) => {
                    let found = self.part(part, DEEPEST, &mut walk)?;
                    return Ok((found, walk.leaves));
                }
                ("SDO", _) => at = *self.objects.get(part.text_of("type")).ok_or(NoType::NoTemplate)?,
                _ => {
                    at = *self
                        .attributes
                        .get(part.text_of("type"))
                        .ok_or_else(|| no_part(further[0]))?;
                }
            }
            rest = further;
        }
        let found = self.structure(at, DEEPEST, &mut walk)?;
        Ok((found, walk.leaves))
    }

    /// A value in the form in which it is sent: for an enumeration the number of its name.
    pub(crate) fn plain(&self, leaf: &Leaf<'a>, text: &'a str) -> &'a str {
        let number = || {
            let mut names = self.enumerations.get(leaf.enumeration)?.named("EnumVal");
            names.find(|name| name.content() == text)?.get("ord")
        };
        number().unwrap_or(text)
    }

    /// The type of a `DA`, `BDA` or `SDO`.
    fn part(&self, part: Element<'a, 'input>, depth: usize, walk: &mut Walk<'a, '_>) -> Result<Type, NoType> {
        let table = match part.name() {
            "SDO" => &self.objects,
            _ if part.text_of("bType") == "Struct" => &self.attributes,
            _ => {
                walk.budget = walk.budget.checked_sub(1).ok_or(NoType::TooLarge)?;
                walk.leaves.push(Leaf {
                    path: walk.path.join("."),
                    value: part.first("Val").map(Element::content),
                    enumeration: part.text_of("type"),
                });
                return Ok(Type::Basic(basic(part.text_of("bType"))));
            }
        };
        let inner = *table.get(part.text_of("type")).ok_or(NoType::NoTemplate)?;
        self.structure(inner, depth, walk)
    }

    /// All parts with the functional constraint. A `BDA` has none itself: its `DA` has it.
    fn structure(&self, of: Element<'a, 'input>, depth: usize, walk: &mut Walk<'a, '_>) -> Result<Type, NoType> {
        let depth = depth.checked_sub(1).ok_or(NoType::TooLarge)?;
        walk.budget = walk.budget.checked_sub(1).ok_or(NoType::TooLarge)?;
        let mut parts = Vec::new();
        for part in of.elements() {
            let is_meant = match part.name() {
                "SDO" | "BDA" => true,
                "DA" => part.text_of("fc") == walk.fc,
                _ => false,
            };
            if !is_meant {
                continue;
            }
            walk.path.push(part.text_of("name"));
            let inner = self.part(part, depth, walk);
            walk.path.pop();
            match inner {
                Ok(inner) => parts.push((part.text_of("name").to_owned(), inner)),
                Err(NoType::NoSuchConstraint) => {}
                Err(error) => return Err(error),
            }
        }
        if parts.is_empty() {
            return Err(NoType::NoSuchConstraint);
        }
        Ok(Type::Structure(parts))
    }
}

/// The basic type for a `bType`.
fn basic(word: &str) -> Basic {
    match word {
        "BOOLEAN" => Basic::Boolean,
        "INT8" => Basic::Integer(8),
        "INT16" => Basic::Integer(16),
        "INT24" => Basic::Integer(24),
        "INT32" => Basic::Integer(32),
        "INT64" | "INT128" => Basic::Integer(64),
        "INT8U" => Basic::Unsigned(8),
        "INT16U" => Basic::Unsigned(16),
        "INT24U" => Basic::Unsigned(24),
        "INT32U" => Basic::Unsigned(32),
        "FLOAT32" => Basic::Float(32),
        "FLOAT64" => Basic::Float(64),
        "Enum" => Basic::Enumerated,
        "Dbpos" => Basic::DoublePoint,
        "Tcmd" => Basic::StepCommand,
        "Quality" => Basic::Quality,
        "Timestamp" => Basic::Timestamp,
        "Check" | "TrgOps" | "OptFlds" | "SvOptFlds" => Basic::Bits,
        _ if ["VisString", "Unicode", "Octet"]
            .iter()
            .any(|start| word.starts_with(start)) =>
        {
            Basic::Text
        }
        "ObjRef" | "Currency" | "PhyComAddr" | "EntryTime" => Basic::Text,
        _ => Basic::Unknown,
    }
}

/// The type of an attribute by its name in the common data classes, if there is no template.
pub(crate) fn by_name(path: &[&str]) -> Basic {
    match path {
        [.., "q"] => Basic::Quality,
        [.., "t"] => Basic::Timestamp,
        [.., "instMag", "i"] => Basic::Integer(32),
        [.., "instMag", "f"] | [.., "mag", "f"] => Basic::Float(32),
        [.., "general"] => Basic::Boolean,
        _ => Basic::Unknown,
    }
}
