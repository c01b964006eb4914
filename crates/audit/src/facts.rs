//! Facts by name, of the machine and of its parts.

use std::collections::BTreeMap;

use super::value::{Known, Unknown, Value};

/// Classes of parts to which a rule applies; the machine as a whole has no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A CPU reserved for real-time work; every online CPU if none is reserved.
    RtCpu,
    /// A network interface of the process bus.
    Nic,
    /// A libvirt domain.
    Domain,
    /// A VMware virtual machine, by its `.vmx`.
    Vmx,
    /// A container, by its definition or running.
    Container,
    /// A real-time task that is planned.
    Task,
    /// A ptp4l: a running one, or the one for which a file exists.
    Ptp,
}

impl Class {
    /// Word that precedes the name of a part.
    pub fn word(self) -> &'static str {
        match self {
            Self::RtCpu => "CPU",
            Self::Nic => "interface",
            Self::Domain => "domain",
            Self::Vmx => "virtual machine",
            Self::Container => "container",
            Self::Task => "planned task",
            Self::Ptp => "ptp4l",
        }
    }
}

/// A part of the machine, or a definition, with its own facts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subject {
    /// Name: `3`, `eth0`, `relay-vm`.
    pub name: String,
    facts: BTreeMap<String, Known>,
}

impl Subject {
    /// A part without facts.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            facts: BTreeMap::new(),
        }
    }

    /// Stores a fact.
    pub fn set(&mut self, name: &str, value: impl IntoKnown) {
        self.set_known(name, value.into_known());
    }

    /// Same as [`Subject::set`], for a value that is already a fact.
    pub fn set_known(&mut self, name: &str, known: Known) {
        self.facts.insert(name.to_owned(), known);
    }
}

/// Types that can be stored as a fact: a value, or a result with the reason that it is missing.
pub trait IntoKnown {
    /// Converts it into a fact.
    fn into_known(self) -> Known;
}

impl<V: Into<Value>> IntoKnown for V {
    fn into_known(self) -> Known {
        Ok(self.into())
    }
}

impl<V: Into<Value>, E: Into<Unknown>> IntoKnown for Result<V, E> {
    fn into_known(self) -> Known {
        self.map(Into::into).map_err(Into::into)
    }
}

/// All facts of a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    machine: Subject,
    parts: BTreeMap<Class, Vec<Subject>>,
    /// Process ids by process name, read once for all gatherers.
    pub(super) processes: Option<Result<BTreeMap<String, Vec<u64>>, Unknown>>,
}

impl Facts {
    /// Stores a fact of the machine.
    pub fn set(&mut self, name: &str, value: impl IntoKnown) {
        self.machine.set(name, value);
    }

    /// Same as [`Facts::set`], for a value that is already a fact.
    pub fn set_known(&mut self, name: &str, known: Known) {
        self.machine.set_known(name, known);
    }

    /// Adds a part, or adds its facts to the existing part of that name.
    pub fn add(&mut self, class: Class, subject: Subject) {
        let parts = self.parts.entry(class).or_default();
        match parts.iter_mut().find(|part| part.name == subject.name) {
            Some(part) => part.facts.extend(subject.facts),
            None => parts.push(subject),
        }
    }

    /// Parts of a class, in the order in which they were added.
    pub fn parts(&self, class: Class) -> &[Subject] {
        self.parts.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Same as [`Facts::parts`], for changing their facts.
    pub fn parts_mut(&mut self, class: Class) -> &mut [Subject] {
        self.parts.get_mut(&class).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Fact of `part`, else of the machine. A name that no gatherer stores is unknown, and a test fails.
    pub fn get(&self, part: Option<&Subject>, name: &str) -> Known {
        let of_part = part.and_then(|part| part.facts.get(name));
        match of_part.or_else(|| self.machine.facts.get(name)) {
            Some(known) => known.clone(),
            None => Err(Unknown::unclear(format!("{name}: {NOT_GATHERED}"))),
        }
    }

    /// True if a gatherer stored a fact of this name, known or not.
    pub fn is_gathered(&self, part: Option<&Subject>, name: &str) -> bool {
        part.is_some_and(|part| part.facts.contains_key(name)) || self.machine.facts.contains_key(name)
    }
}

/// Reason for a name that no gatherer stores.
pub(super) const NOT_GATHERED: &str = "nothing gathers this fact";
