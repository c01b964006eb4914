//! Manifests of Kubernetes, read by the schemas of its API; patches, merged by kubectl with their object.

use super::{emitted, folder, host, open, text, written};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{run, stderr};

/// Checks each document with the schema of its kind; unknown keys are refused.
const SCHEMA: &str = "import sys, yaml, kubernetes_validate as kubernetes\n\
for one in yaml.safe_load_all(sys.stdin):\n    kubernetes.validate(one, '1.37', strict=True)\n    print(one['kind'])";

/// The result of the schemas for a text; `None` if the test was skipped.
fn kinds(test: &str, manifest: &str) -> Option<String> {
    testing::read_by_python(test, SCHEMA, manifest)
}

/// True if the schemas refuse a text.
fn is_refused(test: &str, manifest: &str) -> bool {
    let script = format!("{SCHEMA}\nsys.exit(1)");
    let turned = format!(
        "import sys\ntry:\n    exec({script:?})\nexcept (Exception, SystemExit) as why:\n    print(type(why).__name__)"
    );
    testing::read_by_python(test, &turned, manifest).is_none_or(|why| why.ends_with("ValidationError\n"))
}

/// kubectl, unpacked; `None` if the test was skipped.
fn kubectl(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/kubernetes-client/usr/bin/kubectl");
    if !path.exists() {
        testing::skip(
            test,
            &format!(
                "no {} (package kubernetes-client): run scripts/need.sh test",
                path.display()
            ),
        );
        return None;
    }
    Some(path)
}

/// The object with the patch applied.
fn patched(kubectl: &Path, folder: &Path, object: &Path, patch: &str) -> Result<String, String> {
    let patch = written(folder, "tune.yaml", patch);
    let mut command = Command::new(kubectl);
    let command = command.args(["patch", "--local", "--output=yaml", "--filename"]);
    let output = command
        .arg(object)
        .arg("--patch-file")
        .arg(patch)
        .output()
        .expect("kubectl starts");
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).expect("UTF-8")),
        false => Err(stderr(&output)),
    }
}

#[test]
fn the_schemas_of_kubernetes_take_what_emit_writes() {
    let test = "the_schemas_of_kubernetes_take_what_emit_writes";
    for words in [
        &["job"][..],
        &["job", "--net", "host"],
        &[
            "job",
            "--net",
            "bus7",
            "--hugepages",
            "2GiB",
            "--runtime-class",
            "performance-relay",
            "--cpu-count",
            "3",
            "--node",
            "node-1",
        ],
        &[
            "job",
            "--namespace",
            "relay",
            "--runtime-class",
            "x",
            "--",
            "wakeup",
            "--label",
            "a: b # \"c\"",
        ],
    ] {
        let output = run(&[&["emit"], words].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let manifest = String::from_utf8(output.stdout).expect("UTF-8");
        let Some(kinds) = kinds(test, &manifest) else { return };
        assert!(kinds.ends_with("Job\n"), "{kinds}");
        for (right, wrong) in [
            ("restartPolicy:", "restartPolicies:"),
            ("containers:", "containers: x\n      y:"),
            ("imagePullPolicy:", "imagePullPolicy: 3 #"),
        ] {
            assert!(
                manifest.contains(right) && is_refused(test, &manifest.replacen(right, wrong, 1)),
                "{wrong} is taken"
            );
        }
    }
}

/// Typical pods: with a probe that runs a program, with everything allowed, with some of the wanted settings, and as for CRI-O; each with
/// the checks that only its author can satisfy.
const PODS: [(&str, &[&str]); 4] = [
    (
        "containers: [{name: vpc, image: x, livenessProbe: {exec: {command: [a]}, periodSeconds: 5}, resources: {limits: {cpu: 500m, memory: 1Gi}}}]",
        &["ctr-no-cpu-quota"],
    ),
    (
        "containers: [{name: vpc, image: x, securityContext: {privileged: true}}, {name: side, image: sidecar, readinessProbe: {exec: {command: [a]}}}]",
        &["ctr-cpuset", "ctr-memory-limits"],
    ),
    (
        "containers: [{name: vpc, image: x, securityContext: {capabilities: {add: [NET_ADMIN, SYS_NICE]}}, resources: {requests: {cpu: 1}}, env: [{name: A, value: b}]}]",
        &["ctr-cpuset", "ctr-memory-limits"],
    ),
    (
        "runtimeClassName: performance-relay, containers: [{name: vpc, image: x, securityContext: {capabilities: {add: [NET_RAW, NET_ADMIN], drop: [ALL]}}, livenessProbe: {httpGet: {port: 80}}, resources: {limits: {cpu: 2, memory: 16Gi}}}]",
        &[],
    ),
];

/// The containers of a pod that was printed.
fn containers(test: &str, pod: &str) -> Vec<Value> {
    let script = "import sys, json, yaml\nprint(json.dumps(yaml.safe_load(sys.stdin)['spec']['containers']))";
    let read = testing::read_by_python(test, script, pod).unwrap_or_default();
    serde_json::from_str(&read).expect("containers")
}

#[test]
fn kubectl_merges_every_patch_and_the_schema_takes_the_pod() {
    let test = "kubectl_merges_every_patch_and_the_schema_takes_the_pod";
    let Some(kubectl) = kubectl(test) else { return };
    for tree in ["debian-untuned", "preempt-rt-bare-metal"] {
        for (spec, left) in PODS {
            let own = folder();
            let pod = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: relay}}\nspec: {{{spec}}}\n");
            let file = written(own.path(), "pod.yaml", &pod);
            let patch = emitted(&host(tree), &["--container", text(&file)], "kubernetes");
            let merged = patched(&kubectl, own.path(), &file, &patch).unwrap_or_else(|why| panic!("{why}\n{patch}"));
            if kinds(test, &merged).is_none() {
                return;
            }
            let after = written(own.path(), "merged.yaml", &merged);
            let mut still = open("--container", &after, "2-3");
            still.sort();
            assert_eq!(still, left, "{merged}");
            let (is_limited, is_dropped) = (spec.contains("limits"), spec.contains("drop: [ALL]"));
            for container in containers(test, &merged) {
                let (resources, context) = (&container["resources"], &container["securityContext"]);
                if is_limited {
                    assert_eq!(resources["requests"], resources["limits"], "{merged}");
                }
                let limits = [&resources["limits"]["cpu"], &resources["limits"]["memory"]];
                let whole = match (is_limited, is_dropped) {
                    (true, true) => [Value::from("2"), Value::from("16Gi")],
                    (true, false) => [Value::from("1"), Value::from("1Gi")],
                    _ => [Value::Null, Value::Null],
                };
                assert_eq!(limits, [&whole[0], &whole[1]], "{merged}");
                assert_eq!(context["privileged"], false, "{merged}");
                let has = |key: &str, name| {
                    context["capabilities"][key]
                        .as_array()
                        .is_some_and(|all| all.contains(&Value::from(name)))
                };
                assert!(
                    has("add", "SYS_NICE") && has("add", "IPC_LOCK") && !has("add", "NET_ADMIN"),
                    "{merged}"
                );
                assert!(has("drop", if is_dropped { "ALL" } else { "NET_ADMIN" }), "{merged}");
                assert!(!is_dropped || has("add", "NET_RAW"), "{merged}");
                assert_eq!(
                    container["livenessProbe"]["httpGet"].is_object(),
                    is_dropped,
                    "{merged}"
                );
                assert!(
                    container["livenessProbe"]["exec"].is_null() && container["image"].is_string(),
                    "{merged}"
                );
                assert!(container["readinessProbe"].is_null(), "{merged}");
            }
            for quota in ["cpu-quota.crio.io: disable", "networks: process-bus"] {
                assert!(merged.contains(quota) || left.is_empty(), "{quota}: {merged}");
            }
            assert_eq!(
                merged.contains("runtimeClassName"),
                spec.contains("runtimeClassName"),
                "{merged}"
            );
            assert_eq!(
                patch.contains("# by hand: \"relay/vpc\": the cluster names"),
                !spec.contains("runtimeClassName"),
                "{patch}"
            );
            assert!(
                is_refused(test, &merged.replacen("privileged:", "privilege:", 1)),
                "a wrong key is taken"
            );
            assert!(
                patched(
                    &kubectl,
                    own.path(),
                    &file,
                    &patch.replacen("containers:", "containers: x", 1)
                )
                .is_err()
            );
        }
    }
}
