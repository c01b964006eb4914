//! The node's kubelet: its policies, from its configuration file.

use serde_json::Value as Json;

use crate::definition::container::documents;
use crate::facts::Facts;
use crate::value::Unknown;
use host::reader::Reader;

const PATH: &str = "/var/lib/kubelet/config.yaml";

/// Facts, their keys, and the kubelet's defaults (KubeletConfiguration v1beta1).
const KEYS: [(&str, &str, &str); 4] = [
    ("kubelet.cpu-policy", "cpuManagerPolicy", "none"),
    ("kubelet.topology-policy", "topologyManagerPolicy", "none"),
    ("kubelet.memory-policy", "memoryManagerPolicy", "None"),
    ("kubelet.reserved-cpus", "reservedSystemCPUs", ""),
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let configuration = read(reader);
    let text = |keys: &[&str], default: &str| {
        let found = keys
            .iter()
            .try_fold(configuration.as_ref().map_err(Clone::clone)?, |value, key| {
                value.get(key).ok_or(())
            });
        let text = found.ok().and_then(Json::as_str).unwrap_or(default);
        Ok::<_, Unknown>(text.to_owned())
    };
    for (fact, key, default) in KEYS {
        facts.set(fact, text(&[key], default));
    }
    facts.set(
        "kubelet.whole-cores",
        text(&["cpuManagerPolicyOptions", "full-pcpus-only"], "false"),
    );
}

fn read(reader: &Reader) -> Result<Json, Unknown> {
    let text = match reader.text(PATH) {
        // In a tree of a definition alone, a missing kubelet is no evidence.
        Err(error) if error.is_absent() && !reader.exists("/proc/sys/kernel/osrelease").unwrap_or(false) => {
            return Err(Unknown::unclear(format!(
                "{error}, and the recorded tree has no other file of the machine"
            )));
        }
        text => text?,
    };
    let found = documents(&text).map_err(|error| Unknown::unclear(format!("{PATH}: {error}")))?;
    let is_ours = |one: &Json| one.get("kind").and_then(Json::as_str) == Some("KubeletConfiguration");
    let ours = found.into_iter().find(is_ours);
    ours.ok_or_else(|| Unknown::unclear(format!("{PATH} is no KubeletConfiguration")))
}
