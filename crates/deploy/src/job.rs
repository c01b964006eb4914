//! A Kubernetes Job that measures once, in a guaranteed pod with dedicated CPUs.

use serde_json::{Map, Value, json};

use crate::{CAPABILITIES, RUNS};

/// Command and resources of the Job.
#[derive(Debug, Clone)]
pub struct JobSpec<'a> {
    /// Name of the Job.
    pub name: &'a str,
    /// Namespace; `None`: that of the user who applies it.
    pub namespace: Option<&'a str>,
    /// Image, by name and tag. It must already be on the node, because nothing is pulled.
    pub image: &'a str,
    /// Words after `triptime`.
    pub words: &'a [String],
    /// Number of dedicated CPUs.
    pub cpus: u32,
    /// Memory: `1Gi`.
    pub memory: &'a str,
    /// Huge pages: size of a page and amount, `1Gi` and `2Gi`.
    pub huge_pages: Option<(&'a str, String)>,
    /// Its network.
    pub network: PodNetwork<'a>,
    /// Runtime class whose handler applies the annotations of CRI-O.
    pub runtime_class: Option<&'a str>,
    /// Node to run on; `None`: any.
    pub node: Option<&'a str>,
    /// Folder of the node for run files.
    pub runs: &'a str,
}

/// The network of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodNetwork<'a> {
    /// The node's network.
    Host,
    /// A network attachment definition (Multus): SR-IOV or macvlan.
    Attached(&'a str),
}

/// Annotations that make CRI-O's high-performance handler turn off CPU features for the pod (CRI-O: performance annotations).
const ANNOTATIONS: [&str; 3] = [
    "cpu-load-balancing.crio.io",
    "cpu-quota.crio.io",
    "irq-load-balancing.crio.io",
];

/// The complete manifest.
pub fn job(spec: &JobSpec<'_>) -> Value {
    let mut pod = json!({"restartPolicy": "Never", "automountServiceAccountToken": false});
    if let Some(class) = spec.runtime_class {
        pod["runtimeClassName"] = json!(class);
    }
    if let Some(node) = spec.node {
        pod["nodeSelector"] = json!({"kubernetes.io/hostname": node});
    }
    if spec.network == PodNetwork::Host {
        pod["hostNetwork"] = json!(true);
    }
    pod["containers"] = json!([container(spec)]);
    pod["volumes"] = volumes(spec).into();
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(spec.name, spec.namespace),
        "spec": {
            // A second attempt would hide the first one's results.
            "backoffLimit": 0,
            "template": {"metadata": {"annotations": annotations(spec)}, "spec": pod},
        },
    })
}

fn metadata(name: &str, namespace: Option<&str>) -> Value {
    match namespace {
        Some(namespace) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": name}),
    }
}

fn annotations(spec: &JobSpec<'_>) -> Map<String, Value> {
    let mut all: Map<String, Value> = ANNOTATIONS
        .map(|name| (name.to_owned(), json!("disable")))
        .into_iter()
        .collect();
    if let PodNetwork::Attached(network) = spec.network {
        all.insert("k8s.v1.cni.cncf.io/networks".into(), json!(network));
    }
    all
}

fn container(spec: &JobSpec<'_>) -> Value {
    let mut container = json!({
        "name": "triptime",
        "image": spec.image,
        "imagePullPolicy": "Never",
        "args": spec.words,
    });
    // Requests equal the limits: this makes a guaranteed pod, whose CPUs the static CPU manager gives to no other pod.
    container["resources"] = json!({"requests": resources(spec), "limits": resources(spec)});
    container["securityContext"] = json!({
        "runAsUser": 0,
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"], "add": CAPABILITIES},
    });
    let mut mounts = vec![
        json!({"name": "runs", "mountPath": RUNS}),
        json!({"name": "tmp", "mountPath": "/tmp"}),
    ];
    mounts.extend(
        spec.huge_pages
            .as_ref()
            .map(|_| json!({"name": "hugepages", "mountPath": "/dev/hugepages"})),
    );
    container["volumeMounts"] = mounts.into();
    container
}

fn resources(spec: &JobSpec<'_>) -> Value {
    let mut all = json!({"cpu": spec.cpus.to_string(), "memory": spec.memory});
    if let Some((size, amount)) = &spec.huge_pages {
        all[format!("hugepages-{size}")] = json!(amount);
    }
    all
}

fn volumes(spec: &JobSpec<'_>) -> Vec<Value> {
    let mut volumes = vec![
        json!({"name": "runs", "hostPath": {"path": spec.runs, "type": "DirectoryOrCreate"}}),
        json!({"name": "tmp", "emptyDir": {"medium": "Memory"}}),
    ];
    let pages = spec.huge_pages.as_ref();
    volumes.extend(
        pages.map(|(size, _)| json!({"name": "hugepages", "emptyDir": {"medium": format!("HugePages-{size}")}})),
    );
    volumes
}

#[cfg(test)]
mod tests {
    use super::{JobSpec, PodNetwork, job};

    #[test]
    fn everything_that_is_asked_for_is_in_it() {
        let made = job(&JobSpec {
            name: "triptime",
            namespace: Some("relay"),
            image: "localhost/triptime:0.1.0",
            words: &["wakeup".into(), "--duration=60s".into()],
            cpus: 3,
            memory: "1Gi",
            huge_pages: Some(("1Gi", "2Gi".into())),
            network: PodNetwork::Attached("process-bus"),
            runtime_class: Some("performance-relay"),
            node: Some("node-1"),
            runs: "/var/lib/triptime",
        });
        insta::assert_snapshot!(crate::documents(&[(String::new(), made)]));
    }
}
