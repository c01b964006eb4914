//! `config.json` of an OCI bundle (runtime-spec).

use serde_json::Value as Json;

use super::annotations;
use super::capabilities::exactly;
use super::shape::{Form, Shape};
use super::tree::{at, flag, number, text, texts};

/// Largest integer on which JSON readers agree (RFC 8259, section 6), larger than any machine's memory. jq 1.6 turns the largest number of
/// 64 bits into 18446744073709552000, which runc refuses.
const NO_BOUND: f64 = (1u64 << 53) as f64;

pub(super) fn read(name: &str, bundle: &Json) -> Shape {
    let mut shape = Shape::new(Form::Oci, name);
    let resources = at(bundle, &["linux", "resources"]).unwrap_or(&Json::Null);
    shape.set_cpus(text(resources, &["cpu", "cpus"]));
    shape.set("ctr.mems", text(resources, &["cpu", "mems"]).unwrap_or_default());
    shape.set(
        "ctr.quota",
        number(resources, &["cpu", "quota"]).is_some_and(|quota| quota > 0.0),
    );
    let held = exactly(&texts(bundle, &["process", "capabilities", "effective"]));
    // A bundle has no such key: each capability is granted separately.
    shape.set(
        "ctr.privileged",
        ["SYS_ADMIN", "SYS_MODULE"]
            .iter()
            .all(|one| held.iter().any(|held| held == one)),
    );
    shape.set("ctr.capabilities", held);
    shape.set("ctr.capability-sets", capability_sets(bundle));
    shape.set("ctr.rlimits", rlimits(bundle));
    let limits = at(bundle, &["process", "rlimits"]).and_then(Json::as_array);
    let limit = |name: &str| {
        let all = limits.into_iter().flatten();
        all.filter(|one| text(one, &["type"]).as_deref() == Some(name))
            .find_map(|one| number(one, &["soft"]))
    };
    shape.set("ctr.rtprio", limit("RLIMIT_RTPRIO").unwrap_or(0.0));
    shape.set(
        "ctr.memlock",
        limit("RLIMIT_MEMLOCK").is_some_and(|octets| octets >= NO_BOUND),
    );
    shape.set_or(
        "ctr.network",
        network(bundle),
        "the runtime joins or fills the network namespace: audit from inside the container",
    );
    let devices = at(bundle, &["linux", "devices"]).and_then(Json::as_array);
    let paths = devices.into_iter().flatten().filter_map(|one| text(one, &["path"]));
    shape.set("ctr.devices", paths.collect::<Vec<_>>());
    memory(resources, &mut shape);
    shape.set("ctr.unified", at(resources, &["unified"]).is_some());
    shape.set(
        "ctr.oom-score",
        number(bundle, &["process", "oomScoreAdj"]).unwrap_or(0.0),
    );
    shape.set("ctr.hugepages", hugepages(resources));
    let class = text(bundle, &["linux", "intelRdt", "closID"]);
    let schemata = ["schemata", "l3CacheSchema", "memBwSchema"]
        .iter()
        .any(|key| at(bundle, &["linux", "intelRdt", key]).is_some());
    shape.set(
        "ctr.cache-class",
        class.unwrap_or_else(|| if schemata { "of its own" } else { "" }.to_owned()),
    );
    shape.set(
        "ctr.time-daemons",
        annotations::time_daemons(&texts(bundle, &["process", "args"])),
    );
    // Another runtime passes these annotations on without effect.
    let all =
        at(bundle, &["annotations"]).filter(|all| text(all, &["io.container.manager"]).as_deref() == Some("cri-o"));
    if let Some(all) = all {
        annotations::read(all, &mut shape);
    }
    shape
}

/// Connection of the network: without a network namespace in the list it is the host's; since runtime-spec 1.3 devices may be moved into
/// it.
fn network(bundle: &Json) -> Option<String> {
    let namespaces = at(bundle, &["linux", "namespaces"]).and_then(Json::as_array);
    let has_own = namespaces
        .into_iter()
        .flatten()
        .any(|one| text(one, &["type"]).as_deref() == Some("network"));
    if !has_own {
        return Some("host".to_owned());
    }
    let moved = at(bundle, &["linux", "netDevices"]).and_then(Json::as_object);
    moved
        .filter(|moved| !moved.is_empty())
        .map(|_| "moved device".to_owned())
}

fn memory(resources: &Json, shape: &mut Shape) {
    let limit = number(resources, &["memory", "limit"]).filter(|limit| *limit > 0.0);
    let both = number(resources, &["memory", "swap"]);
    shape.set_memory(Some(limit.unwrap_or(0.0)));
    // `swap` limits memory and swap together.
    let none = limit.is_some() && both == limit || flag(resources, &["memory", "disableSwap"]) == Some(true);
    let unified = text(resources, &["unified", "memory.swap.max"]);
    shape.set("ctr.swap", !(none || unified.as_deref() == Some("0")));
    let high = text(resources, &["unified", "memory.high"]);
    shape.set("ctr.memory-high", high.is_some_and(|high| high != "max"));
}

/// Sets of capabilities that the bundle has, as written.
fn capability_sets(bundle: &Json) -> Vec<String> {
    let sets = at(bundle, &["process", "capabilities"]).and_then(Json::as_object);
    let named = |(name, _): (&String, &Json)| {
        let names = texts(bundle, &["process", "capabilities", name]);
        [vec![name.clone()], names].concat().join(" ")
    };
    sets.into_iter().flatten().map(named).collect()
}

/// Resource limits as written; those without both numbers are left out.
fn rlimits(bundle: &Json) -> Vec<String> {
    let limits = at(bundle, &["process", "rlimits"]).and_then(Json::as_array);
    let written = |one: &Json| {
        let part = |key| text(one, &[key]);
        Some([part("type")?, part("soft")?, part("hard")?].join(" "))
    };
    limits.into_iter().flatten().filter_map(written).collect()
}

fn hugepages(resources: &Json) -> String {
    let limits = at(resources, &["hugepageLimits"]).and_then(Json::as_array);
    let used = limits
        .into_iter()
        .flatten()
        .filter(|one| number(one, &["limit"]).is_some_and(|limit| limit > 0.0));
    used.filter_map(|one| text(one, &["pageSize"]))
        .next()
        .unwrap_or_default()
}
