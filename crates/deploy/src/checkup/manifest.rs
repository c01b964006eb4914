//! What the cluster is given: an account that may read and update one ConfigMap, the ConfigMap, and the Job.

use serde_json::{Map, Value, json};

use super::{NAME_VARIABLE, NAMESPACE_VARIABLE, NODE_VARIABLE, PARAMETER, TIMEOUT};
use crate::job::{JobSpec, job, metadata};

/// A checkup.
#[derive(Debug, Clone)]
pub struct CheckupSpec<'a> {
    /// The Job; its words are the checkup's own, and its account is made here.
    pub job: JobSpec<'a>,
    /// `spec.timeout`.
    pub timeout: &'a str,
    /// Parameters by their names.
    pub parameters: &'a [(String, String)],
}

/// Every manifest, each with what it is for, in the order in which they are applied.
pub fn manifests(spec: &CheckupSpec<'_>) -> Vec<(String, Value)> {
    let name = spec.job.name;
    let at = |name: &str| metadata(name, spec.job.namespace);
    let map = format!("{name}-config");
    let access = format!("{name}-configmap-access");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": at(&access),
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [map], "verbs": ["get", "update"]}],
    });
    // No namespace: that of the binding.
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": at(&access),
        "subjects": [{"kind": "ServiceAccount", "name": name}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": access},
    });
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": at(name)});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": at(&map), "data": data(spec)});
    let job = job(&JobSpec {
        words: &["checkup".to_owned()],
        account: Some((name, environment(&map))),
        ..spec.job.clone()
    });
    vec![
        (
            "May read and update one ConfigMap, and nothing else.".to_owned(),
            account,
        ),
        (String::new(), role),
        (String::new(), binding),
        (
            "Parameters; the result comes into it too, under status.".to_owned(),
            config,
        ),
        ("Delete it and apply it again for another checkup.".to_owned(), job),
    ]
}

fn data(spec: &CheckupSpec<'_>) -> Map<String, Value> {
    let parameters = spec
        .parameters
        .iter()
        .map(|(name, value)| (format!("{PARAMETER}{name}"), json!(value)));
    std::iter::once((TIMEOUT.to_owned(), json!(spec.timeout)))
        .chain(parameters)
        .collect()
}

fn environment(map: &str) -> Vec<Value> {
    let of_pod = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    vec![
        of_pod(NAMESPACE_VARIABLE, "metadata.namespace"),
        json!({"name": NAME_VARIABLE, "value": map}),
        of_pod(NODE_VARIABLE, "spec.nodeName"),
    ]
}
