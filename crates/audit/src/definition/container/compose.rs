//! Compose files (Compose Specification): each service is a container.

use serde_json::Value as Json;

use super::annotations::time_daemons;
use super::capabilities::{Runtime, after};
use super::docker::of_user;
use super::shape::{Form, Shape};
use super::tree::{as_text, at, flag, number, text, texts};

pub(super) fn read(file: &Json) -> Vec<Shape> {
    let services = at(file, &["services"]).and_then(Json::as_object);
    let services = services.into_iter().flatten();
    services
        .map(|(name, service)| of_service(file, name, service))
        .collect()
}

fn of_service(file: &Json, name: &str, service: &Json) -> Shape {
    if service.get("extends").is_some() {
        return Shape::broken(
            name,
            "it takes settings from another service (extends): audit what `docker compose config` prints",
        );
    }
    let mut shape = Shape::new(Form::Compose, name);
    shape.set_cpus(text(service, &["cpuset"]));
    shape.set("ctr.mems", "");
    let limited = [
        &["cpus"][..],
        &["cpu_quota"],
        &["deploy", "resources", "limits", "cpus"],
    ];
    shape.set(
        "ctr.quota",
        limited
            .iter()
            .any(|path| number(service, path).is_some_and(|value| value > 0.0)),
    );
    let privileged = flag(service, &["privileged"]).unwrap_or(false);
    shape.set("ctr.privileged", privileged);
    let (added, dropped) = (texts(service, &["cap_add"]), texts(service, &["cap_drop"]));
    let held = after(Runtime::Moby, &added, &dropped, privileged);
    let user = text(service, &["user"]);
    shape.set("ctr.capabilities", held.and_then(|held| of_user(user, held)));
    shape.set_changes([&added, &dropped], [Vec::new(), Vec::new()]);
    shape.set("ctr.refuses-both", false);
    let limits = at(service, &["deploy", "resources", "limits"]);
    shape.set("ctr.deploy-limits", limits.is_some());
    shape.set("ctr.external-networks", external(file));
    shape.set("ctr.network-mode", text(service, &["network_mode"]).unwrap_or_default());
    shape.set("ctr.rtprio", ulimit(service, "rtprio").unwrap_or(0.0));
    shape.set(
        "ctr.memlock",
        ulimit(service, "memlock").is_some_and(|octets| octets < 0.0),
    );
    let (network, why) = network(file, service);
    shape.set_or("ctr.network", network, &why);
    shape.set("ctr.devices", texts(service, &["devices"]));
    memory(service, &mut shape);
    shape.set("ctr.oom-score", number(service, &["oom_score_adj"]).unwrap_or(0.0));
    let checked = at(service, &["healthcheck"]).is_some() && flag(service, &["healthcheck", "disable"]) != Some(true);
    let is_none = texts(service, &["healthcheck", "test"])
        .first()
        .is_some_and(|word| word == "NONE");
    shape.set("ctr.exec-probe", checked && !is_none);
    shape.set("ctr.cache-class", "");
    let words = |key| match service.get(key) {
        Some(Json::Array(_)) => texts(service, &[key]),
        Some(one) => as_text(one).into_iter().collect(),
        None => Vec::new(),
    };
    shape.set(
        "ctr.time-daemons",
        time_daemons(&[words("entrypoint"), words("command")].concat()),
    );
    forget_variables(service, &mut shape);
    shape
}

/// Keys of a service from which facts are read.
const FACTS: [(&str, &[&str]); 13] = [
    ("privileged", &["ctr.privileged", "ctr.capabilities"]),
    ("cap_add", &["ctr.capabilities"]),
    ("cap_drop", &["ctr.capabilities"]),
    ("user", &["ctr.capabilities"]),
    ("cpus", &["ctr.quota"]),
    ("cpu_quota", &["ctr.quota"]),
    ("deploy", &["ctr.quota", "ctr.memory", "ctr.kept-memory", "ctr.swap"]),
    ("ulimits", &["ctr.rtprio", "ctr.memlock"]),
    ("network_mode", &["ctr.network"]),
    ("mem_limit", &["ctr.memory", "ctr.kept-memory", "ctr.swap"]),
    ("memswap_limit", &["ctr.swap"]),
    ("oom_score_adj", &["ctr.oom-score"]),
    ("healthcheck", &["ctr.exec-probe"]),
];

/// Compose replaces `${NAME}` by values of the environment (`$$` is a literal sign), so the file does not contain the result.
fn forget_variables(service: &Json, shape: &mut Shape) {
    let has_variable = |value: &Json| value.to_string().replace("$$", "").contains('$');
    for (key, facts) in FACTS {
        if service.get(key).is_some_and(has_variable) {
            let why = format!("{key} depends on a variable: audit what `docker compose config` prints");
            facts.iter().for_each(|fact| shape.set_or::<bool>(fact, None, &why));
        }
    }
}

/// Networks of the file that are made elsewhere.
fn external(file: &Json) -> Vec<String> {
    let networks = at(file, &["networks"]).and_then(Json::as_object).into_iter().flatten();
    let external = networks.filter(|(_, network)| is_external(network));
    external.map(|(name, _)| name.clone()).collect()
}

/// Older files write the name as `external: {name: x}`.
fn is_external(network: &Json) -> bool {
    flag(network, &["external"]) == Some(true) || at(network, &["external"]).is_some_and(Json::is_object)
}

/// Parses one number, or a soft and a hard one.
fn ulimit(service: &Json, name: &str) -> Option<f64> {
    number(service, &["ulimits", name]).or_else(|| number(service, &["ulimits", name, "soft"]))
}

/// Connection of the process bus: the best of its networks, each of whose drivers must be known.
fn network(file: &Json, service: &Json) -> (Option<String>, String) {
    if let Some(mode) = text(service, &["network_mode"]).filter(|mode| !mode.is_empty()) {
        let known = ["host", "none", "bridge"].contains(&mode.as_str());
        return (
            known.then(|| mode.clone()),
            format!("network mode {mode} shares the network of another container"),
        );
    }
    let names: Vec<String> = match service.get("networks") {
        Some(Json::Array(_)) => texts(service, &["networks"]),
        Some(Json::Object(map)) => map.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let mut drivers = Vec::new();
    for name in &names {
        match at(file, &["networks", name]) {
            Some(network) if is_external(network) => {
                return (None, format!("network {name} is defined elsewhere: check its driver"));
            }
            network => drivers.push(
                network
                    .and_then(|network| text(network, &["driver"]))
                    .unwrap_or("bridge".to_owned()),
            ),
        }
    }
    let best = drivers.iter().find(|driver| *driver != "bridge").or(drivers.first());
    (Some(best.cloned().unwrap_or("bridge".to_owned())), String::new())
}

fn memory(service: &Json, shape: &mut Shape) {
    let limit = text(service, &["mem_limit"]).or_else(|| text(service, &["deploy", "resources", "limits", "memory"]));
    let octets = limit.as_deref().map(octets);
    shape.set_memory(octets.unwrap_or(Some(0.0)));
    let with_swap = text(service, &["memswap_limit"]);
    let equal = limit.is_some() && with_swap.as_deref().map(self::octets) == octets;
    shape.set("ctr.swap", !equal);
    shape.set("ctr.memory-high", false);
}

/// Parses `512m`, `2gb`, `1024`: units are powers of 1024.
pub(super) fn octets(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    digits.trim().parse::<f64>().ok().map(|number| number * factor)
}
