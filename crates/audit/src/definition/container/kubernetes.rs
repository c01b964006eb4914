//! Kubernetes: pods, and the objects that contain a pod template.

use serde_json::Value as Json;

use super::annotations;
use super::capabilities::{Runtime, after};
use super::docker::of_user;
use super::kubevirt;
use super::shape::{Form, Shape};
use super::tree::{as_text, at, flag, text, texts};

/// Objects that run no containers themselves: listed, so that a mistyped kind is an error.
const OTHERS: [&str; 14] = [
    "ConfigMap",
    "Secret",
    "Service",
    "Namespace",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "NetworkAttachmentDefinition",
    "RuntimeClass",
    "DataVolume",
];

pub(super) fn read(object: &Json) -> Result<Vec<Shape>, String> {
    let kind = text(object, &["kind"]).unwrap_or_default();
    let name = text(object, &["metadata", "name"]).unwrap_or_else(|| kind.clone());
    match kind.as_str() {
        "Pod" => Ok(pod(&name, object)),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job" | "ReplicationController" => {
            Ok(pod(&name, &object["spec"]["template"]))
        }
        "CronJob" => Ok(pod(&name, &object["spec"]["jobTemplate"]["spec"]["template"])),
        "VirtualMachineInstance" => Ok(vec![kubevirt::read(&name, &object["spec"])]),
        "VirtualMachine" => Ok(vec![kubevirt::read(&name, &object["spec"]["template"]["spec"])]),
        "List" | "PodList" => {
            let items = at(object, &["items"]).and_then(Json::as_array).into_iter().flatten();
            // Items of a typed list may omit their kind.
            let items = items.map(|item| match (kind.as_str(), item.get("kind")) {
                ("PodList", None) => Ok(pod(&text(item, &["metadata", "name"]).unwrap_or_default(), item)),
                _ => read(item),
            });
            Ok(items.collect::<Result<Vec<_>, _>>()?.concat())
        }
        other if OTHERS.contains(&other) => Ok(Vec::new()),
        other => Err(format!("kind {other} runs no containers, or is not known to triptime")),
    }
}

fn pod(name: &str, pod: &Json) -> Vec<Shape> {
    let spec = &pod["spec"];
    let containers = at(spec, &["containers"]).and_then(Json::as_array);
    let containers: Vec<&Json> = containers.into_iter().flatten().collect();
    let guaranteed = !containers.is_empty() && containers.iter().all(|one| is_guaranteed(one));
    let of_each = containers.iter().map(|container| {
        let called = text(container, &["name"]).unwrap_or_default();
        let mut shape = Shape::new(Form::Pod, &format!("{name}/{called}"));
        shape.set("pod.guaranteed", guaranteed);
        of_container(&mut shape, pod, container, guaranteed);
        shape
    });
    of_each.collect()
}

/// An omitted request equals the limit.
fn resource(container: &Json, name: &str) -> (Option<String>, Option<String>) {
    let limit = text(container, &["resources", "limits", name]);
    let request = text(container, &["resources", "requests", name]).or_else(|| limit.clone());
    (request, limit)
}

/// True if requests and limits of CPU and memory exist and are equal, as numbers (Kubernetes: pod-qos).
fn is_guaranteed(container: &Json) -> bool {
    ["cpu", "memory"].iter().all(|name| {
        let (request, limit) = resource(container, name);
        limit.is_some() && request.as_deref().map(quantity) == limit.as_deref().map(quantity)
    })
}

/// Parses a quantity such as `500m`, `2`, `4Gi`, `1M`; `None` if it is not a quantity.
fn quantity(text: &str) -> Option<f64> {
    const SUFFIXES: [(&str, f64); 9] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("m", 0.001),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    let found = SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    let (digits, factor) = found.unwrap_or((text, 1.0));
    digits.parse::<f64>().ok().map(|number| number * factor)
}

fn of_container(shape: &mut Shape, pod: &Json, container: &Json, guaranteed: bool) {
    let cpu = resource(container, "cpu").1.as_deref().and_then(quantity);
    let whole = cpu.is_some_and(|cpus| cpus >= 1.0 && cpus.fract() == 0.0);
    shape.set("pod.whole-cpus", whole);
    // Only whole CPUs of a guaranteed pod are exclusive, and the node decides which ones.
    match guaranteed && whole {
        true => shape.set_or::<units::CpuList>(
            "ctr.cpus",
            None,
            "the node's CPU manager assigns them: audit the running container",
        ),
        false => shape.set_cpus(None),
    }
    shape.set("ctr.quota", cpu.is_some());
    shape.set("pod.load-balancing-off", false);
    shape.set("pod.irqs-off", false);
    let class = text(pod, &["spec", "runtimeClassName"]).filter(|class| !class.is_empty());
    match class.as_deref() {
        // The node's default handler allows none of these annotations (CRI-O: allowed_annotations is empty).
        None => {}
        Some(class) => annotations::of_class(class, &pod["metadata"]["annotations"], shape),
    }
    security(shape, pod, container);
    let sriov = at(container, &["resources", "limits"]).and_then(Json::as_object);
    let sriov = sriov.is_some_and(|all| all.keys().any(|key| key.to_ascii_lowercase().contains("sriov")));
    let attached = text(pod, &["metadata", "annotations", "k8s.v1.cni.cncf.io/networks"]);
    let network = match (flag(pod, &["spec", "hostNetwork"]), sriov, &attached) {
        (Some(true), ..) => Some("host"),
        (_, true, _) => Some("sriov"),
        (_, _, None) => Some("bridge"),
        _ => None,
    };
    let why = format!("network {} is defined elsewhere", attached.unwrap_or_default());
    shape.set_or("ctr.network", network.map(str::to_owned), &why);
    resources(shape, container);
    shape.set_or(
        "pod.runtime-class",
        class,
        "the cluster names its runtime classes: write the one of its high-performance handler into spec.runtimeClassName",
    );
    if guaranteed {
        // The kubelet gives a guaranteed pod the score -997, and no soft limit, since it requests its whole limit.
        shape.set("ctr.oom-score", -997.0);
        shape.set("ctr.memory-high", false);
    } else {
        shape.set("ctr.oom-score", 999.0);
    }
    let pages = at(container, &["resources", "limits"])
        .and_then(Json::as_object)
        .into_iter()
        .flatten();
    let pages = pages.filter_map(|(key, _)| key.strip_prefix("hugepages-").map(str::to_owned));
    shape.set("ctr.hugepages", pages.max().unwrap_or_default());
    let probes = ["livenessProbe", "readinessProbe", "startupProbe"].into_iter();
    let probes = probes.filter(|probe| at(container, &[probe, "exec"]).is_some());
    let probes: Vec<String> = probes.map(str::to_owned).collect();
    shape.set("ctr.exec-probe", !probes.is_empty());
    shape.set("pod.exec-probes", probes);
    shape.set(
        "ctr.cache-class",
        text(
            pod,
            &["metadata", "annotations", "rdt.resources.beta.kubernetes.io/pod"],
        )
        .unwrap_or_default(),
    );
    let words = [texts(container, &["command"]), texts(container, &["args"])].concat();
    shape.set("ctr.time-daemons", annotations::time_daemons(&words));
}

/// Its limits, and what to write so that requests equal them without taking any of it away.
fn resources(shape: &mut Shape, container: &Json) {
    let limit = |name| resource(container, name).1;
    let memory = limit("memory");
    shape.set_memory(memory.as_deref().map_or(Some(0.0), quantity));
    let cpus = limit("cpu").as_deref().and_then(quantity).map(f64::ceil);
    let why =
        |what| format!("the pod sets no limit of {what}: write requests and limits that are enough for the container");
    shape.set_or(
        "pod.cpus",
        cpus.filter(|cpus| *cpus >= 1.0),
        &format!("{}, in whole CPUs", why("CPUs")),
    );
    let memory = memory.filter(|limit| quantity(limit).is_some_and(|octets| octets > 0.0));
    shape.set_or("pod.memory", memory, &why("memory"));
}

fn security(shape: &mut Shape, pod: &Json, container: &Json) {
    let own = &container["securityContext"];
    let privileged = flag(own, &["privileged"]).unwrap_or(false);
    shape.set("ctr.privileged", privileged);
    let names = |key| texts(own, &["capabilities", key]);
    let (added, dropped) = (names("add"), names("drop"));
    shape.set_changes([&added, &dropped], [Vec::new(), Vec::new()]);
    let held = after(Runtime::Kubernetes, &added, &dropped, privileged);
    let user = at(own, &["runAsUser"]).or_else(|| at(pod, &["spec", "securityContext", "runAsUser"]));
    let user = user.and_then(as_text);
    shape.set("ctr.capabilities", held.and_then(|held| of_user(user, held)));
}
