//! The kernel's description of its own types (BTF): the part that shows which tracepoints and functions take an `sk_buff`.
//!
//! The parser is pure: bytes in, names out. The layout is that of the kernel's `Documentation/bpf/btf.rst`.

use std::collections::BTreeMap;
use std::path::Path;

/// Descriptions of the types of the kernel and its modules, one file for each.
const DESCRIPTIONS: &str = "/sys/kernel/btf";
/// File of the kernel's own types.
const KERNEL: &str = "vmlinux";

const MAGIC: u16 = 0xeb9f;
const TYPE_OCTETS: usize = 12;

const POINTER: u32 = 2;
const STRUCT: u32 = 4;
const ENUM: u32 = 6;
const FORWARD: u32 = 7;
const TYPEDEF: u32 = 8;
const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;
const ENUM64: u32 = 19;
/// Qualifiers (volatile, const, restrict and type tags), which do not change the type.
const QUALIFIERS: [u32; 4] = [9, 10, 11, 18];

/// Types of the kernel, or the reason why they cannot be read.
pub(super) type Parsed<T> = Result<T, &'static str>;

#[derive(Debug, Clone, Copy)]
struct Type {
    name: u32,
    kind: u32,
    /// Number of members, values or arguments that follow.
    count: usize,
    /// Size, or number of the type that this one refers to.
    about: u32,
    /// Offset of the data that follows.
    at: usize,
}

/// The types.
#[derive(Debug, Default)]
pub(super) struct Types {
    types: Vec<Type>,
    octets: Vec<u8>,
    strings: Vec<u8>,
}

/// A tracepoint that takes an `sk_buff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tracepoint {
    pub(super) name: String,
    /// Position of the `sk_buff` among the arguments.
    pub(super) skb_at: usize,
    /// Position of the reason why the frame was dropped.
    pub(super) reason_at: Option<usize>,
    /// Position of the address of the code that freed it.
    pub(super) location_at: Option<usize>,
}

/// A function that takes an `sk_buff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) skb_at: usize,
}

impl Types {
    /// Parses the types of `/sys/kernel/btf/vmlinux`.
    pub(super) fn parse(btf: &[u8]) -> Parsed<Self> {
        let void = Type {
            name: 0,
            kind: 0,
            count: 0,
            about: 0,
            at: 0,
        };
        let mut types = Self {
            types: vec![void],
            ..Self::default()
        };
        types.append(btf)?;
        Ok(types)
    }

    /// Adds the types of a module while `look` runs; `look` gets the number of the module's first type.
    pub(super) fn with_module<T>(&mut self, btf: &[u8], look: impl FnOnce(&Self, usize) -> T) -> Parsed<T> {
        let (types, octets, strings) = (self.types.len(), self.octets.len(), self.strings.len());
        let looked = self.append(btf).map(|()| look(self, types));
        self.types.truncate(types);
        self.octets.truncate(octets);
        self.strings.truncate(strings);
        looked
    }

    fn append(&mut self, btf: &[u8]) -> Parsed<()> {
        let place = |at: usize| word(btf, at).map(|word| word as usize);
        if btf.get(..2) != Some(&MAGIC.to_le_bytes()) {
            return Err("it is not BTF of this kind of machine");
        }
        let (header, types, types_octets, strings, strings_octets) =
            (place(4)?, place(8)?, place(12)?, place(16)?, place(20)?);
        let part = |from: usize, octets: usize| btf.get(header + from..header + from + octets);
        let (Some(types), Some(strings)) = (part(types, types_octets), part(strings, strings_octets)) else {
            return Err("it is cut short");
        };
        let mut at = self.octets.len();
        self.octets.extend_from_slice(types);
        self.strings.extend_from_slice(strings);
        while at < self.octets.len() {
            let info = word(&self.octets, at + 4)?;
            let kind = info >> 24 & 0x1f;
            let count = (info & 0xffff) as usize;
            self.types.push(Type {
                name: word(&self.octets, at)?,
                kind,
                count,
                about: word(&self.octets, at + 8)?,
                at: at + TYPE_OCTETS,
            });
            at += TYPE_OCTETS + octets_behind(kind, count)?;
        }
        Ok(())
    }

    /// Tracepoints among the types from this number on.
    pub(super) fn tracepoints(&self, from: usize) -> Vec<Tracepoint> {
        let found = self.types.iter().skip(from).filter_map(|of| {
            let name = self
                .name(of)
                .strip_prefix("btf_trace_")
                .filter(|_| of.kind == TYPEDEF)?;
            // The first argument is the tracer's own.
            let prototype = self.prototype(self.pointed(of.about)?)?;
            let arguments = prototype.get(1..)?;
            let skb_at = self.skb_among(arguments)?;
            Some(Tracepoint {
                name: name.to_owned(),
                skb_at,
                reason_at: arguments.iter().position(|number| self.is_reason(*number)),
                location_at: arguments.iter().position(|number| self.pointed(*number) == Some(0)),
            })
        });
        found.collect()
    }

    /// Functions among the types from this number on.
    pub(super) fn functions(&self, from: usize) -> Vec<Function> {
        let found = self.types.iter().skip(from).filter(|of| of.kind == FUNCTION);
        let found = found.filter_map(|of| {
            let skb_at = self.skb_among(&self.prototype(of.about)?)?;
            Some(Function {
                name: self.name(of).to_owned(),
                skb_at,
            })
        });
        found.collect()
    }

    /// The names of an enumeration's values.
    pub(super) fn values(&self, name: &str) -> BTreeMap<u32, String> {
        let found = self
            .types
            .iter()
            .find(|of| matches!(of.kind, ENUM | ENUM64) && of.count > 0 && self.name(of) == name);
        let Some(of) = found else { return BTreeMap::new() };
        let octets = if of.kind == ENUM { 8 } else { 12 };
        let values = (0..of.count).filter_map(|number| {
            let at = of.at + number * octets;
            let value = word(&self.octets, at + 4).ok()?;
            Some((value, self.string(word(&self.octets, at).ok()?).to_owned()))
        });
        values.collect()
    }

    /// Numbers of the types of a prototype's arguments.
    fn prototype(&self, number: u32) -> Option<Vec<u32>> {
        let of = self.types.get(number as usize)?;
        if of.kind != PROTOTYPE {
            return None;
        }
        let arguments = (0..of.count).map(|argument| word(&self.octets, of.at + 8 * argument + 4).ok());
        arguments.collect()
    }

    fn skb_among(&self, arguments: &[u32]) -> Option<usize> {
        arguments.iter().position(|number| {
            let pointed = self.pointed(*number).and_then(|to| self.types.get(to as usize));
            pointed.is_some_and(|of| matches!(of.kind, STRUCT | FORWARD) && self.name(of) == "sk_buff")
        })
    }

    fn is_reason(&self, number: u32) -> bool {
        let of = self.types.get(self.plain(number) as usize);
        of.is_some_and(|of| matches!(of.kind, ENUM | ENUM64) && self.name(of) == "skb_drop_reason")
    }

    /// Number of the type that a pointer points to, 0 for void; `None` if it is no pointer.
    fn pointed(&self, number: u32) -> Option<u32> {
        let of = self.types.get(self.plain(number) as usize)?;
        (of.kind == POINTER).then(|| self.plain(of.about))
    }

    /// The type without its qualifiers.
    fn plain(&self, mut number: u32) -> u32 {
        while let Some(of) = self
            .types
            .get(number as usize)
            .filter(|of| QUALIFIERS.contains(&of.kind))
        {
            number = of.about;
        }
        number
    }

    fn name(&self, of: &Type) -> &str {
        self.string(of.name)
    }

    fn string(&self, at: u32) -> &str {
        let rest = self.strings.get(at as usize..).unwrap_or_default();
        let end = rest.iter().position(|octet| *octet == 0).unwrap_or(0);
        std::str::from_utf8(&rest[..end]).unwrap_or_default()
    }
}

/// Reads the description of the kernel's own types.
pub(super) fn kernel() -> std::io::Result<Vec<u8>> {
    std::fs::read(Path::new(DESCRIPTIONS).join(KERNEL))
}

/// Names of the loaded modules, with the descriptions of their types; modules that cannot be read are left out.
pub(super) fn modules() -> Result<Vec<(String, Vec<u8>)>, String> {
    let entries = std::fs::read_dir(DESCRIPTIONS).map_err(|error| format!("{DESCRIPTIONS}: {error}"))?;
    let modules = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| name != KERNEL)?;
        Some((name, std::fs::read(entry.path()).ok()?))
    });
    Ok(modules.collect())
}

/// Number of bytes that follow a type.
fn octets_behind(kind: u32, count: usize) -> Parsed<usize> {
    Ok(match kind {
        // Integers, variables, and tags of declarations.
        1 | 14 | 17 => 4,
        // Arrays.
        3 => 12,
        STRUCT | 5 | 15 | ENUM64 => 12 * count,
        ENUM | PROTOTYPE => 8 * count,
        POINTER | FORWARD..=FUNCTION | 16 | 18 => 0,
        _ => return Err("it has unknown kinds of types"),
    })
}

fn word(octets: &[u8], at: usize) -> Parsed<u32> {
    let word = octets.get(at..).and_then(<[u8]>::first_chunk);
    word.map(|word| u32::from_le_bytes(*word)).ok_or("it is cut short")
}

#[cfg(test)]
mod tests;
