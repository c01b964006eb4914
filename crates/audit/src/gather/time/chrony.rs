//! chrony's configuration: its clock steps, and the hardware clock it reads.

use super::options;
use crate::gather::daemons::Daemon;
use crate::value::Unknown;
use host::reader::Reader;

/// Configuration files of Debian and Red Hat.
const FILES: [&str; 2] = ["/etc/chrony/chrony.conf", "/etc/chrony.conf"];

/// State of chrony, and the lines of its configuration, split into words.
#[derive(Debug, Clone)]
pub(super) struct Chrony {
    runs: bool,
    lines: Result<Vec<Vec<String>>, Unknown>,
}

impl Chrony {
    /// Offset in seconds above which it steps at any time; 0: never after its first updates.
    pub(super) fn step(&self) -> Result<f64, Unknown> {
        let lines = self.lines.as_ref().map_err(Clone::clone)?;
        let Some(line) = lines.iter().rfind(|line| line[0].eq_ignore_ascii_case("makestep")) else {
            return Ok(0.0);
        };
        let number = |at: usize| line.get(at).and_then(|word| word.parse::<f64>().ok());
        match (number(1), number(2)) {
            (Some(threshold), Some(updates)) if updates < 0.0 => Ok(threshold),
            (Some(_), Some(_)) => Ok(0.0),
            _ => Err(Unknown::unclear(format!(
                "chrony: \"{}\" is not a makestep",
                line.join(" ")
            ))),
        }
    }

    /// Number of the hardware clock that it reads; `None`: it reads none, or does not run.
    pub(super) fn clock(&self) -> Result<Option<u32>, Unknown> {
        if !self.runs {
            return Ok(None);
        }
        let lines = self.lines.as_ref().map_err(Clone::clone)?;
        let mut sources = lines.iter().filter(|line| line[0].eq_ignore_ascii_case("refclock"));
        let Some(source) = sources.find(|line| line.get(1).is_some_and(|kind| kind == "PHC")) else {
            return Ok(None);
        };
        let path = source
            .get(2)
            .map_or("", String::as_str)
            .split(':')
            .next()
            .unwrap_or_default();
        let number = path.strip_prefix("/dev/ptp").and_then(|number| number.parse().ok());
        number
            .map(Some)
            .ok_or_else(|| Unknown::unclear(format!("chrony reads {path}, a clock with an unknown number")))
    }
}

/// Configuration of the running process, else the usual file. No readable file means unknown.
pub(super) fn read(reader: &Reader, found: &[Daemon]) -> Chrony {
    let daemon = found.iter().find(|daemon| daemon.name == "chronyd");
    let text = daemon.map_or(Ok(None), |daemon| named(reader, daemon));
    let text = text.and_then(|named| match named {
        Some(path) => Ok(reader.text(&path)?),
        None => {
            let first = reader.text(FILES[0]);
            Ok(first.or_else(|first| reader.text(FILES[1]).map_err(|_| first))?)
        }
    });
    Chrony {
        runs: daemon.is_some(),
        lines: text.and_then(|text| with_others(reader, &text)),
    }
}

/// Lines of a file, and of those that it includes (chrony.conf(5): `include`, `confdir`).
fn with_others(reader: &Reader, text: &str) -> Result<Vec<Vec<String>>, Unknown> {
    let mut all = Vec::new();
    for line in lines(text) {
        let arguments = line[1..].iter();
        match line[0].to_ascii_lowercase().as_str() {
            "include" => {
                for path in arguments
                    .map(|pattern| matching(reader, pattern))
                    .collect::<Result<Vec<_>, _>>()?
                    .concat()
                {
                    all.extend(lines(&reader.text(&path)?));
                }
            }
            "confdir" => {
                for folder in arguments {
                    for path in in_folder(reader, folder, "", ".conf")? {
                        all.extend(lines(&reader.text(&path)?));
                    }
                }
            }
            _ => all.push(line),
        }
    }
    Ok(all)
}

/// Files that match a pattern; a pattern without wildcards is a file name.
fn matching(reader: &Reader, pattern: &str) -> Result<Vec<String>, Unknown> {
    let wild = |text: &str| text.contains(['*', '?', '[']);
    if !wild(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    match name.split_once('*') {
        Some((before, after)) if !wild(folder) && !wild(before) && !wild(after) => {
            in_folder(reader, folder, before, after)
        }
        _ => Err(Unknown::unclear(format!(
            "chrony includes {pattern}, which cannot be resolved"
        ))),
    }
}

/// Files in a folder by prefix and suffix of their names, in order; empty if the folder does not exist.
fn in_folder(reader: &Reader, folder: &str, before: &str, after: &str) -> Result<Vec<String>, Unknown> {
    let fits = |name: &str| {
        let rest = name.strip_prefix(before);
        rest.is_some_and(|rest| rest.ends_with(after))
    };
    match reader.names(folder, fits) {
        Ok(names) => Ok(names.iter().map(|name| format!("{folder}/{name}")).collect()),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Configuration file in the process's arguments, if any.
fn named(reader: &Reader, daemon: &Daemon) -> Result<Option<String>, Unknown> {
    options::check(daemon)?;
    let words = &daemon.arguments;
    let at = words.iter().position(|word| word == "-f");
    let path = at.and_then(|at| words.get(at + 1));
    path.map(|path| daemon.path(reader, path)).transpose()
}

fn lines(text: &str) -> Vec<Vec<String>> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '!', ';', '%']));
    lines
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect()
}
