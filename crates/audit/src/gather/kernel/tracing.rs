//! Active tracers, probes and profilers.

use super::super::absence::believed;
use crate::facts::Facts;
use crate::value::{Unknown, Why};
use host::error::HostError;
use host::mounts;
use host::reader::Reader;

const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Lists that are empty if nothing is traced.
const LISTS: [(&str, &str); 3] = [
    ("set_event", "events are traced"),
    ("kprobe_events", "kprobes are defined"),
    ("uprobe_events", "uprobes are defined"),
];
const SWITCHES: [(&str, &str); 2] = [
    (
        "/proc/sys/kernel/bpf_stats_enabled",
        "run times of BPF programs are counted",
    ),
    ("/proc/sys/kernel/stack_tracer_enabled", "the stack tracer is on"),
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("tracing.active", active(reader));
    facts.set("tracing.statistics", statistics(reader));
}

/// Users of tracing, by the tracing file system. If it is not mounted, there are none.
fn active(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let Some((folder, tracer)) = current(reader)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    if tracer != "nop" {
        found.push(format!("tracer {tracer}"));
    }
    found.extend(lists(reader, folder)?);
    // Instances have their own tracers and events: rtla and perf use them (Linux: trace/ftrace.rst, instances).
    let instances = match reader.names(&format!("{folder}/instances"), |_| true) {
        Err(error) if error.is_absent() => Vec::new(),
        names => names?,
    };
    for instance in instances {
        let folder = format!("{folder}/instances/{instance}");
        let tracer = reader.line(&format!("{folder}/current_tracer"))?;
        let own = (tracer != "nop").then(|| format!("tracer {tracer}"));
        let own = own.into_iter().chain(lists(reader, &folder)?);
        found.extend(own.map(|what| format!("{what} (instance {instance})")));
    }
    Ok(found)
}

fn lists(reader: &Reader, folder: &str) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    for (file, text) in LISTS {
        match reader.head(&format!("{folder}/{file}"), 1) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(_) => found.push(text.to_owned()),
            // Kernels without these probes lack the file, and instances lack all of them.
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Mount point of the tracing file system, and the tracer; `None` if it is not mounted.
fn current(reader: &Reader) -> Result<Option<(&'static str, String)>, Unknown> {
    for folder in PLACES {
        let path = format!("{folder}/current_tracer");
        match reader.line(&path).map_err(|error| believed(reader, &path, "", error)) {
            Err(unknown) if unknown.why == Why::Absent => {}
            tracer => return Ok(Some((folder, tracer?))),
        }
    }
    let mounts = mounts::read(reader)?;
    match mounts.iter().any(|mount| mount.kind == "tracefs") {
        true => Err(Unknown::unclear(
            "tracefs is mounted, and has no current_tracer that can be read",
        )),
        false => Ok(None),
    }
}

/// A kernel without such a statistic has no switch for it.
fn statistics(reader: &Reader) -> Result<Vec<String>, HostError> {
    reader.line("/proc/sys/kernel/osrelease")?;
    let mut found = Vec::new();
    for (path, text) in SWITCHES {
        match reader.line(path) {
            Ok(line) if line == "0" => {}
            Ok(line) if line == "1" => found.push(text.to_owned()),
            Ok(line) => return Err(HostError::unexpected(path, "0 or 1", &line)),
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
