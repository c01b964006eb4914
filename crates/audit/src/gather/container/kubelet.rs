//! The node's kubelet: its policies, from its configuration file.

use serde_json::Value as Json;

use crate::definition::container::documents;
use crate::facts::Facts;
use crate::gather::shared::{running, strings, unclear};
use crate::value::Unknown;
use host::reader::Reader;

/// File of a kubelet that does not run here; kubeadm writes it.
const PATH: &str = "/var/lib/kubelet/config.yaml";
const NAME: &str = "kubelet";

/// Facts, their keys, the arguments that outweigh the file, and the kubelet's defaults (KubeletConfiguration v1beta1).
const KEYS: [(&str, &str, &str, &str); 4] = [
    ("kubelet.cpu-policy", "cpuManagerPolicy", "--cpu-manager-policy", "none"),
    (
        "kubelet.topology-policy",
        "topologyManagerPolicy",
        "--topology-manager-policy",
        "none",
    ),
    (
        "kubelet.memory-policy",
        "memoryManagerPolicy",
        "--memory-manager-policy",
        "None",
    ),
    ("kubelet.reserved-cpus", "reservedSystemCPUs", "--reserved-cpus", ""),
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let arguments = arguments(reader, facts);
    let given = |argument: &str| match &arguments {
        Ok(Some(arguments)) => value(arguments, argument),
        _ => None,
    };
    let configuration = arguments
        .clone()
        .and_then(|arguments| read(reader, arguments.as_deref()));
    let text = |keys: &[&str], default: &str| {
        let found = keys
            .iter()
            .try_fold(configuration.as_ref().map_err(Clone::clone)?, |value, key| {
                value.get(key).ok_or(())
            });
        let text = found.ok().and_then(Json::as_str).unwrap_or(default);
        Ok::<_, Unknown>(text.to_owned())
    };
    for (fact, key, argument, default) in KEYS {
        let of_file = text(&[key], default);
        facts.set(fact, of_file.map(|of_file| given(argument).unwrap_or(of_file)));
    }
    facts.set(
        "kubelet.whole-cores",
        text(&["cpuManagerPolicyOptions", "full-pcpus-only"], "false"),
    );
}

/// Arguments of the running kubelet; `None`: none runs.
fn arguments(reader: &Reader, facts: &Facts) -> Result<Option<Vec<String>>, Unknown> {
    // Without a process list, the file shows what the next kubelet does.
    let Ok(running) = running(facts) else { return Ok(None) };
    match running.get(NAME).and_then(|pids| pids.first()) {
        Some(pid) => strings(reader, &format!("/proc/{pid}/cmdline"))
            .map(Some)
            .map_err(unclear),
        None => Ok(None),
    }
}

/// Last value of an argument: `--config=FILE` or `--config FILE`.
fn value(arguments: &[String], name: &str) -> Option<String> {
    let of = |(at, argument): (usize, &String)| match argument.strip_prefix(name)? {
        "" => arguments.get(at + 1).cloned(),
        rest => rest.strip_prefix('=').map(str::to_owned),
    };
    arguments.iter().enumerate().filter_map(of).next_back()
}

/// File of the running kubelet, which may be anywhere.
fn path(arguments: Option<&[String]>) -> Result<String, Unknown> {
    let Some(arguments) = arguments else {
        return Ok(PATH.to_owned());
    };
    if value(arguments, "--config-dir").is_some() {
        return Err(Unknown::unclear(
            "the kubelet merges the files of --config-dir, which are not read",
        ));
    }
    let path = value(arguments, "--config");
    path.ok_or_else(|| {
        Unknown::unclear("the kubelet runs without --config, and its arguments do not show all policies")
    })
}

fn read(reader: &Reader, arguments: Option<&[String]>) -> Result<Json, Unknown> {
    let path = path(arguments)?;
    let text = match reader.text(&path) {
        Err(error) if arguments.is_some() => return Err(unclear(error)),
        // In a tree of a definition alone, a missing kubelet is no evidence.
        Err(error) if error.is_absent() && !reader.exists("/proc/sys/kernel/osrelease").unwrap_or(false) => {
            return Err(Unknown::unclear(format!(
                "{error}, and the recorded tree has no other file of the machine"
            )));
        }
        text => text?,
    };
    let found = documents(&text).map_err(|error| Unknown::unclear(format!("{path}: {error}")))?;
    let is_ours = |one: &Json| one.get("kind").and_then(Json::as_str) == Some("KubeletConfiguration");
    let ours = found.into_iter().find(is_ours);
    ours.ok_or_else(|| Unknown::unclear(format!("{path} is no KubeletConfiguration")))
}
