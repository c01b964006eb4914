//! Files that rules name by path. `{cpu}` and `{nic}` are replaced by the part under audit.

use super::absence::believed;
use crate::facts::{Class, Facts};
use crate::rule::Rule;
use crate::value::{Known, Value};
use host::reader::Reader;

pub(super) fn gather<'a>(reader: &Reader, rules: impl Iterator<Item = &'a Rule>, facts: &mut Facts) {
    for rule in rules {
        for path in rule.facts().into_iter().filter(|name| name.starts_with('/')) {
            match rule.each {
                Some(class) if path.contains('{') => of_parts(reader, class, path, facts),
                _ if facts.is_gathered(None, path) => {}
                _ => facts.set_known(path, read(reader, path, "")),
            }
        }
    }
}

fn of_parts(reader: &Reader, class: Class, path: &str, facts: &mut Facts) {
    let names: Vec<String> = facts.parts(class).iter().map(|part| part.name.clone()).collect();
    let read: Vec<Known> = names.iter().map(|name| read(reader, path, name)).collect();
    // All CPUs of one machine have the same files.
    let is_known = class == Class::RtCpu && read.iter().any(Result::is_ok);
    for (part, known) in facts.parts_mut(class).iter_mut().zip(read) {
        part.set_known(
            path,
            known.map_err(|unknown| if is_known { unknown.never_absent() } else { unknown }),
        );
    }
}

/// The first line of a file.
fn read(reader: &Reader, path: &str, part: &str) -> Known {
    let place = path.replace("{cpu}", part).replace("{nic}", part);
    let line = reader.line_or_blank(&place).map(Value::Text);
    line.map_err(|error| believed(reader, path, part, error))
}
