//! Arguments that the boot loader will pass to the kernel next time.

use std::collections::BTreeMap;

use crate::facts::Facts;
use crate::value::Unknown;
use host::cmdline::Cmdline;
use host::cmdline_facts::{CPU_LISTS, OTHERS};
use host::error::HostError;
use host::reader::Reader;

const GRUB: [&str; 3] = ["/boot/grub/grub.cfg", "/boot/grub2/grub.cfg", "/grub/grub.cfg"];
const ENTRIES: [&str; 3] = [
    "/boot/loader/entries",
    "/boot/efi/loader/entries",
    "/efi/loader/entries",
];
pub(super) const GRUB_ENVIRONMENT: [&str; 2] = ["/boot/grub2/grubenv", "/boot/grub/grubenv"];
const EXTLINUX: &str = "/boot/extlinux/extlinux.conf";
const KERNEL_INSTALL: &str = "/etc/kernel/cmdline";
const GRUB_DEFAULTS: &str = "/etc/default/grub";

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let next = next(reader);
    let shown = next.as_ref().map_err(Unknown::clone);
    facts.set(
        "kernel.arguments-next",
        shown.map(|next| format!("{}: {}", next.path, known(&next.line))),
    );
    let pending = next.and_then(|next| pending(reader, &next));
    facts.set("kernel.arguments-pending", pending);
}

/// A command line and its file.
struct Stored {
    path: String,
    line: Cmdline,
}

fn pending(reader: &Reader, next: &Stored) -> Result<Vec<String>, Unknown> {
    let running = Cmdline::read(reader)?;
    let differ = names().filter_map(|name| {
        let (now, then) = (given(&running, name), given(&next.line, name));
        (now != then).then(|| format!("{name}: {now} now, {then} by {}", next.path))
    });
    let mut found: Vec<String> = differ.collect();
    if GRUB.contains(&next.path.as_str()) {
        found.extend(not_written(reader, &next.line)?);
    }
    Ok(found)
}

/// Arguments in `/etc/default/grub` that `grub.cfg` lacks: `update-grub` was not run.
fn not_written(reader: &Reader, next: &Cmdline) -> Result<Vec<String>, Unknown> {
    let defaults = match grub_defaults(reader)? {
        Some(defaults) => defaults,
        None => return Ok(Vec::new()),
    };
    let missing = names().filter_map(|name| {
        let (asked, has) = (given(&defaults.line, name), given(next, name));
        let differs = asked != NOT_GIVEN && asked != has;
        differs.then(|| format!("{name}: {asked} in {GRUB_DEFAULTS}, {has} in grub.cfg"))
    });
    Ok(missing.collect())
}

const NOT_GIVEN: &str = "not given";

fn given(line: &Cmdline, name: &str) -> String {
    let values: Vec<&str> = line.values(name).collect();
    match values.as_slice() {
        [] => NOT_GIVEN.to_owned(),
        [""] => "given".to_owned(),
        values => values.join(" and "),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    CPU_LISTS.into_iter().chain(OTHERS)
}

/// Arguments of a line that are compared.
fn known(line: &Cmdline) -> String {
    let given = names().filter(|name| line.last(name).is_some());
    let shown: Vec<String> = given
        .map(|name| format!("{name}={}", given_value(line, name)))
        .collect();
    if shown.is_empty() {
        "none that matters".to_owned()
    } else {
        shown.join(" ")
    }
}

fn given_value(line: &Cmdline, name: &str) -> String {
    line.values(name).collect::<Vec<_>>().join(",")
}

/// A place where a boot loader keeps command lines, called with a release; returns `None` if it has none.
type LineStore = fn(&Reader, &str) -> Result<Option<Stored>, HostError>;

/// The first place with a line for the running kernel.
fn next(reader: &Reader) -> Result<Stored, Unknown> {
    let release = reader.line("/proc/sys/kernel/osrelease")?;
    let places: [LineStore; 5] = [
        loader_entry,
        grub_entry,
        extlinux,
        |reader, _| whole(reader, KERNEL_INSTALL),
        |reader, _| grub_defaults(reader),
    ];
    for place in places {
        if let Some(stored) = place(reader, &release)? {
            return Ok(stored);
        }
    }
    Err(Unknown::absent(format!(
        "no boot loader's line for kernel {release} is found in /boot or /etc"
    )))
}

/// Text of a file; `None` if it does not exist.
fn text(reader: &Reader, path: &str) -> Result<Option<String>, HostError> {
    match reader.text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

fn stored(path: &str, line: &str) -> Stored {
    Stored {
        path: path.to_owned(),
        line: Cmdline::parse(line),
    }
}

fn whole(reader: &Reader, path: &str) -> Result<Option<Stored>, HostError> {
    Ok(text(reader, path)?.map(|text| stored(path, &text)))
}

/// An entry of the boot loader specification: `version` and `options` lines, with variables of GRUB.
fn loader_entry(reader: &Reader, release: &str) -> Result<Option<Stored>, HostError> {
    let variables = grub_environment(reader)?;
    for folder in ENTRIES {
        let names = match reader.names(folder, |name| name.ends_with(".conf")) {
            Err(error) if error.is_absent() => continue,
            names => names?,
        };
        for name in names {
            let path = format!("{folder}/{name}");
            let Some(entry) = text(reader, &path)? else { continue };
            if field(&entry, "version").next() == Some(release) {
                let options: Vec<String> = field(&entry, "options").map(|line| expand(line, &variables)).collect();
                return Ok(Some(stored(&path, &options.join(" "))));
            }
        }
    }
    Ok(None)
}

fn field<'a>(entry: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = entry.lines().map(str::trim);
    lines.filter_map(move |line| Some(line.strip_prefix(key)?.strip_prefix([' ', '\t'])?.trim()))
}

fn grub_environment(reader: &Reader) -> Result<BTreeMap<String, String>, HostError> {
    let mut variables = BTreeMap::new();
    for path in GRUB_ENVIRONMENT {
        let text = text(reader, path)?.unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        variables.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    Ok(variables)
}

/// First `linux` line of `grub.cfg` whose image is the running kernel's: later ones are for recovery.
fn grub_entry(reader: &Reader, release: &str) -> Result<Option<Stored>, HostError> {
    let variables = grub_environment(reader)?;
    for path in GRUB {
        let Some(text) = text(reader, path)? else { continue };
        let commands = ["linux", "linux16", "linuxefi"];
        let lines = commands.iter().find_map(|command| {
            let mut lines = field(&text, command);
            lines.find_map(|line| {
                let (image, arguments) = line.split_once(char::is_whitespace)?;
                image.ends_with(&format!("-{release}")).then_some(arguments)
            })
        });
        if let Some(arguments) = lines {
            return Ok(Some(stored(path, &expand(arguments, &variables))));
        }
    }
    Ok(None)
}

fn extlinux(reader: &Reader, _release: &str) -> Result<Option<Stored>, HostError> {
    let Some(text) = text(reader, EXTLINUX)? else {
        return Ok(None);
    };
    let line = text.lines().map(str::trim).find_map(|line| {
        let (key, rest) = line.split_once(char::is_whitespace)?;
        key.eq_ignore_ascii_case("append").then_some(rest)
    });
    Ok(line.map(|line| stored(EXTLINUX, line)))
}

/// `GRUB_CMDLINE_LINUX` and `GRUB_CMDLINE_LINUX_DEFAULT`, after the drop-ins.
fn grub_defaults(reader: &Reader) -> Result<Option<Stored>, HostError> {
    let Some(mut script) = text(reader, GRUB_DEFAULTS)? else {
        return Ok(None);
    };
    let folder = format!("{GRUB_DEFAULTS}.d");
    let names = match reader.names(&folder, |name| name.ends_with(".cfg")) {
        Err(error) if error.is_absent() => Vec::new(),
        names => names?,
    };
    for name in names {
        script.push('\n');
        script.push_str(&text(reader, &format!("{folder}/{name}"))?.unwrap_or_default());
    }
    let variables = assignments(&script);
    let value = |name: &str| variables.get(name).map_or("", String::as_str);
    let line = [value("GRUB_CMDLINE_LINUX"), value("GRUB_CMDLINE_LINUX_DEFAULT")].join(" ");
    Ok(Some(stored(GRUB_DEFAULTS, &line)))
}

/// Variables of a shell script that contains only assignments and appends.
fn assignments(script: &str) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    for (name, value) in lines.filter_map(|line| line.split_once('=')) {
        let (name, append) = match name.strip_suffix('+') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
        let inner = match quote {
            Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
            None => value.split_whitespace().next().unwrap_or_default(),
        };
        let value = expand(inner, &variables);
        let before = if append {
            variables.remove(name).unwrap_or_default()
        } else {
            String::new()
        };
        variables.insert(name.trim_start_matches("export ").to_owned(), before + &value);
    }
    variables
}

/// Replaces `$name` and `${name}` by their values; unset variables become empty, as in a shell.
fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        shown.push_str(before);
        let braced = behind.strip_prefix('{');
        let name_at = braced.unwrap_or(behind);
        let end = name_at.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, after) = name_at.split_at(end.unwrap_or(name_at.len()));
        shown.push_str(variables.get(name).map_or("", String::as_str));
        rest = match braced {
            Some(_) => after.split_once('}').map_or("", |(_, after)| after),
            None => after,
        };
    }
    shown + rest
}
