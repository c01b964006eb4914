//! Reads the output of `docker inspect` and `podman inspect`: a container, and networks named in the same command.

use serde_json::Value as Json;

use super::annotations::{self, time_daemons};
use super::capabilities::{Runtime, after, exactly};
use super::shape::{Form, Shape};
use super::tree::{at, flag, number, text, texts};
use crate::value::Unknown;

/// True for a network of docker (`docker inspect CONTAINER NETWORK` prints both).
pub(super) fn is_network(inspected: &Json) -> bool {
    ["Name", "Driver", "IPAM"]
        .iter()
        .all(|key| inspected.get(key).is_some())
}

pub(super) fn read(name: &str, inspected: &Json, networks: &[&Json]) -> Shape {
    let called = text(inspected, &["Name"]).map(|name| name.trim_start_matches('/').to_owned());
    let mut shape = Shape::new(
        Form::Docker,
        &called
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| name.to_owned()),
    );
    let host = &inspected["HostConfig"];
    shape.set_cpus(text(host, &["CpusetCpus"]));
    shape.set("ctr.mems", text(host, &["CpusetMems"]).unwrap_or_default());
    let limited = |key: &str| number(host, &[key]).is_some_and(|value| value > 0.0);
    shape.set("ctr.quota", limited("NanoCpus") || limited("CpuQuota"));
    let privileged = flag(host, &["Privileged"]).unwrap_or(false);
    shape.set("ctr.privileged", privileged);
    capabilities(inspected, privileged, &mut shape);
    let limits = at(host, &["Ulimits"]).and_then(Json::as_array);
    let limit = |wanted: &str| {
        let all = limits.into_iter().flatten();
        // docker writes `rtprio`, podman `RLIMIT_RTPRIO`.
        let is_it = |one: &&Json| {
            text(one, &["Name"]).is_some_and(|name| name.to_ascii_lowercase().trim_start_matches("rlimit_") == wanted)
        };
        all.filter(is_it).find_map(|one| number(one, &["Soft"]))
    };
    shape.set("ctr.rtprio", limit("rtprio").unwrap_or(0.0));
    shape.set(
        "ctr.memlock",
        limit("memlock").is_some_and(|octets| octets < 0.0 || octets >= u64::MAX as f64),
    );
    network(inspected, networks, &mut shape);
    let devices = at(host, &["Devices"]).and_then(Json::as_array);
    let paths = devices
        .into_iter()
        .flatten()
        .filter_map(|one| text(one, &["PathOnHost"]));
    shape.set("ctr.devices", paths.collect::<Vec<_>>());
    let memory = number(host, &["Memory"]).unwrap_or(0.0);
    shape.set_memory(Some(memory));
    // Limit of memory and swap together.
    shape.set(
        "ctr.swap",
        !(memory > 0.0 && number(host, &["MemorySwap"]) == Some(memory)),
    );
    shape.set("ctr.memory-high", false);
    shape.set("ctr.oom-score", number(host, &["OomScoreAdj"]).unwrap_or(0.0));
    let checks =
        at(inspected, &["Config", "Healthcheck", "Test"]).or_else(|| at(inspected, &["Config", "Healthcheck"]));
    let is_none = texts(inspected, &["Config", "Healthcheck", "Test"])
        .first()
        .is_some_and(|word| word == "NONE");
    shape.set("ctr.exec-probe", checks.is_some() && !is_none);
    // Docker has no setting for it: the host assigns classes by CPU.
    shape.set("ctr.cache-class", "");
    let words = [
        texts(inspected, &["Config", "Entrypoint"]),
        texts(inspected, &["Config", "Cmd"]),
        texts(inspected, &["Args"]),
    ];
    let path = text(inspected, &["Path"]);
    shape.set(
        "ctr.time-daemons",
        time_daemons(&words.concat().into_iter().chain(path).collect::<Vec<_>>()),
    );
    if let Some(all) = at(inspected, &["HostConfig", "Annotations"]) {
        annotations::read(all, &mut shape);
    }
    shape
}

/// podman lists the resulting capabilities; docker lists those added and dropped.
fn capabilities(inspected: &Json, privileged: bool, shape: &mut Shape) {
    let host = &inspected["HostConfig"];
    let (added, dropped) = (texts(host, &["CapAdd"]), texts(host, &["CapDrop"]));
    shape.set_changes([&added, &dropped], [Vec::new(), Vec::new()]);
    let is_podman = at(inspected, &["EffectiveCaps"]).is_some();
    shape.set("ctr.refuses-both", is_podman);
    if is_podman {
        return shape.set("ctr.capabilities", exactly(&texts(inspected, &["EffectiveCaps"])));
    }
    let held = after(Runtime::Moby, &added, &dropped, privileged);
    let user = text(inspected, &["Config", "User"]);
    shape.set("ctr.capabilities", held.and_then(|held| of_user(user, held)));
}

/// Docker grants a process of another user none of the added capabilities: only files with capabilities restore them.
pub(super) fn of_user(user: Option<String>, held: Vec<String>) -> Result<Vec<String>, Unknown> {
    let user = user.unwrap_or_default();
    let plain = user.split(':').next().unwrap_or_default();
    match plain {
        "" | "0" | "root" => Ok(held),
        other => Err(Unknown::unclear(format!(
            "the process runs as user {other}: it gets added capabilities only from a program file that has them"
        ))),
    }
}

fn network(inspected: &Json, networks: &[&Json], shape: &mut Shape) {
    let mode = text(inspected, &["HostConfig", "NetworkMode"]).unwrap_or_default();
    let known = match mode.as_str() {
        "host" | "none" => Some(mode.clone()),
        "default" | "bridge" | "" | "slirp4netns" | "pasta" => Some("bridge".to_owned()),
        mode => {
            let is_it = |one: &&&Json| {
                ["Name", "Id"]
                    .iter()
                    .any(|key| text(one, &[key]).as_deref() == Some(mode))
            };
            networks.iter().find(is_it).and_then(|one| text(one, &["Driver"]))
        }
    };
    shape.set_or(
        "ctr.network",
        known,
        &format!("network {mode} is defined elsewhere: name it too, as in docker inspect CONTAINER {mode}"),
    );
}
