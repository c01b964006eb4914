//! Translates a header that C and Rust share into Rust.
//!
//! | in the header | in Rust |
//! | --- | --- |
//! | `#define NAME 6`, `6u`, `6ull`, `(1u << 31)` | a constant: `usize`, `u32`, `u64`, `u32` |
//! | an enumerator `NAME = 6,` | a constant: `u32` |
//! | `OCTETS(cell, 320);` | the size of the structure `Cell` is asserted |
//! | `FIELD(cell, next, 4, 4);` | offset and size of its field `next` are asserted |
//! | `GLOBAL(wanted, 48);` | the size of the field `wanted` of `Globals` is asserted, and it is listed as one of the variables |
//!
//! The structures themselves are written by hand on both sides.

use std::fmt::Write;

/// A structure whose fields follow.
struct Structure {
    name: String,
    octets: usize,
    /// Offset of its next field.
    end: usize,
}

#[derive(Default)]
struct Translation {
    rust: String,
    in_enum: bool,
    structure: Option<Structure>,
    globals: Vec<String>,
    /// A structure or variable whose OCTETS or GLOBAL line has not come yet.
    undescribed: Option<String>,
}

/// The constants and assertions for a header, or the mistake in it.
pub(crate) fn rust(header: &str) -> Result<String, String> {
    let mut translation = Translation::default();
    for line in header.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        translation.line(code).map_err(|why| format!("{why}: {line}"))?;
    }
    translation.end_structure()?;
    translation.expect(None)?;
    translation.list_globals();
    Ok(translation.rust)
}

impl Translation {
    fn line(&mut self, code: &str) -> Result<(), String> {
        if self.in_enum {
            return self.enumerator(code);
        }
        if code.starts_with("enum ") {
            self.in_enum = true;
            return code
                .ends_with('{')
                .then_some(())
                .ok_or("one enumerator a line".to_owned());
        }
        if let Some(definition) = code.strip_prefix("#define ") {
            let (name, value) = definition.split_once(' ').ok_or("a number is missing")?;
            let (kind, value) = number(value)?;
            return self.add(format_args!("pub(crate) const {name}: {kind} = {value};"));
        }
        if let Some(name) = declared(code) {
            return self.expect(Some(name));
        }
        let row = code.strip_suffix(");").and_then(|row| row.split_once('('));
        let Some((what, arguments)) = row else { return Ok(()) };
        let arguments: Vec<&str> = arguments.split(", ").collect();
        match (what, &arguments[..]) {
            ("OCTETS", [of, octets]) => self.structure(of, plain(octets)?),
            ("FIELD", [of, field, at, octets]) => self.field(of, field, plain(at)?, plain(octets)?),
            ("GLOBAL", [name, octets]) => self.global(name, plain(octets)?),
            ("OCTETS" | "FIELD" | "GLOBAL", _) => Err("too few arguments, or too many".to_owned()),
            _ => Ok(()),
        }
    }

    fn add(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), String> {
        writeln!(self.rust, "{line}").map_err(|error| error.to_string())
    }

    fn enumerator(&mut self, code: &str) -> Result<(), String> {
        if code == "};" {
            self.in_enum = false;
            return Ok(());
        }
        let parts = code.strip_suffix(',').and_then(|code| code.split_once(" = "));
        let (name, value) = parts.ok_or("no enumerator with a number")?;
        let value = plain(value)?;
        self.add(format_args!("pub(crate) const {name}: u32 = {value};"))
    }

    /// Expects the OCTETS or GLOBAL line of this name next; errors if the one before has none.
    fn expect(&mut self, name: Option<&str>) -> Result<(), String> {
        match std::mem::replace(&mut self.undescribed, name.map(str::to_owned)) {
            Some(undescribed) => Err(format!("nothing is said of {undescribed}")),
            None => Ok(()),
        }
    }

    fn described(&mut self, name: &str) {
        self.undescribed.take_if(|undescribed| undescribed == name);
    }

    fn structure(&mut self, of: &str, octets: usize) -> Result<(), String> {
        self.end_structure()?;
        self.described(of);
        let name = camel_case(of);
        self.add(format_args!(
            "const _: () = assert!(size_of::<{name}>() == {octets}, \"octets of struct {of}\");\n\
             impl crate::layout::Layout for {name} {{ const OCTETS: usize = {octets}; }}"
        ))?;
        self.structure = Some(Structure { name, octets, end: 0 });
        Ok(())
    }

    fn field(&mut self, of: &str, field: &str, at: usize, octets: usize) -> Result<(), String> {
        let name = camel_case(of);
        let structure = self.structure.as_mut().filter(|structure| structure.name == name);
        let structure = structure.ok_or("a field behind no OCTETS of its structure")?;
        // A gap would hide a field that only one side has.
        if structure.end != at {
            return Err(format!("the field before it ends at {}", structure.end));
        }
        structure.end += octets;
        self.add(format_args!(
            "const _: () = assert!(std::mem::offset_of!({name}, {field}) == {at}, \"place of {of}.{field}\");"
        ))?;
        self.size_of_field(&name, field, octets, &format!("{of}.{field}"))
    }

    fn global(&mut self, global: &str, octets: usize) -> Result<(), String> {
        self.described(global);
        self.globals.push(global.to_owned());
        self.size_of_field("Globals", global, octets, global)
    }

    fn size_of_field(&mut self, name: &str, field: &str, octets: usize, called: &str) -> Result<(), String> {
        self.add(format_args!(
            "const _: () = assert!(crate::layout::octets_of(|it: &{name}| &it.{field}) == {octets}, \"octets of {called}\");"
        ))
    }

    fn end_structure(&mut self) -> Result<(), String> {
        match self.structure.take() {
            Some(Structure { name, octets, end }) if octets != end => {
                Err(format!("the fields of {name} end at {end}, and not at {octets}"))
            }
            _ => Ok(()),
        }
    }

    fn list_globals(&mut self) {
        if self.globals.is_empty() {
            return;
        }
        let names = self.globals.join(", ");
        let listed = self.globals.iter();
        let listed: Vec<String> = listed.map(|name| format!("(\"{name}\", {name}.as_bytes())")).collect();
        self.rust += &format!(
            "impl Globals {{\n    /// Each variable by its name.\n    pub(crate) fn each(&self) -> [(&'static str, &[u8]); {}] {{\n        \
             let Self {{ {names} }} = self;\n        [{}]\n    }}\n}}\n",
            listed.len(),
            listed.join(", ")
        );
    }
}

/// The name of the structure or variable whose definition begins in this line.
fn declared(code: &str) -> Option<&str> {
    let structure = code.strip_prefix("struct ").and_then(|rest| rest.strip_suffix(" {"));
    structure.or_else(|| {
        let (declaration, _) = code.strip_prefix("volatile const ")?.split_once(" = ")?;
        declaration
            .split(['[', ' '])
            .rfind(|word| !word.is_empty() && !word.ends_with(']'))
    })
}

/// The Rust type and the value of a number in C notation.
fn number(text: &str) -> Result<(&'static str, u64), String> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    let (base, shift) = text.split_once(" << ").unwrap_or((text, "0"));
    let kinds = [("ull", "u64"), ("u", "u32"), ("", "usize")];
    let suffixed = kinds
        .iter()
        .find_map(|(suffix, kind)| Some((*kind, base.strip_suffix(suffix)?)));
    let (kind, digits) = suffixed.unwrap_or(("usize", base));
    Ok((kind, (plain(digits)? as u64) << plain(shift)?))
}

/// A number without a suffix.
fn plain(text: &str) -> Result<usize, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{text} is no number"))
}

/// The Rust name of a C structure: `stream_key` is `StreamKey`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(usize::from(!word.is_empty()));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}
