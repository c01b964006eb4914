//! Files that rules name by their path. `{cpu}` and `{nic}` stand for the part that is asked.

use crate::audit::facts::{Class, Facts};
use crate::audit::rule::Rule;
use crate::audit::value::{Known, Unknown, Value, Why};
use crate::reader::Reader;

pub(super) fn gather<'a>(reader: &Reader, rules: impl Iterator<Item = &'a Rule>, facts: &mut Facts) {
    for rule in rules {
        for path in rule.facts().into_iter().filter(|name| name.starts_with('/')) {
            match rule.each {
                Some(class) if path.contains('{') => of_parts(reader, class, path, facts),
                _ if facts.is_gathered(None, path) => {}
                _ => facts.set_known(path, read(reader, path)),
            }
        }
    }
}

fn of_parts(reader: &Reader, class: Class, path: &str, facts: &mut Facts) {
    for part in facts.parts_mut(class) {
        let place = path.replace("{cpu}", &part.name).replace("{nic}", &part.name);
        part.set_known(path, read(reader, &place));
    }
}

/// The one line of a file.
fn read(reader: &Reader, path: &str) -> Known {
    let line = reader.line_or_blank(path).map(Value::Text).map_err(Unknown::from);
    line.map_err(|unknown| believed(reader, path, unknown))
}

/// A missing file says something only where `/proc`, `/sys` or the folder is there at all.
fn believed(reader: &Reader, path: &str, unknown: Unknown) -> Unknown {
    let witness = match path.split('/').nth(1) {
        Some("proc") => "/proc/sys/kernel/osrelease",
        Some("sys") => "/sys/devices/system/cpu/online",
        _ => path.rsplit_once('/').map_or("/", |(folder, _)| folder),
    };
    if unknown.why == Why::Absent && !reader.exists(witness).unwrap_or(false) {
        return Unknown::unclear(format!("{path}: {witness} is missing too, so that says nothing"));
    }
    unknown
}
