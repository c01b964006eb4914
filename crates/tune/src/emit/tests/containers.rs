//! An emitted file never takes memory, CPUs, capabilities or the start from a container.

use std::fs;

use serde_json::{Value as Json, json};

use super::{Lists, audit, failed, mends, outcome, patched};
use crate::emit::{emit, risks};
use audit::finding::Outcome;
use audit::parameters::Parameters;
use audit::yaml_documents;
use host::Host;

/// A quadlet with the emitted lines as a drop-in.
fn mended_quadlet(definition: &str) -> (String, audit::Audit) {
    let (before, _root) = audit("relay.container", definition);
    let emitted = emit(&before, &failed(&before, "quadlet"), "quadlet").expect("lines");
    let (after, _root) = audit("relay.container", &format!("{definition}{emitted}"));
    (emitted, after)
}

#[test]
fn a_quadlet_that_adds_what_must_go_still_starts() {
    for lists in [
        "AddCapability=SYS_NICE IPC_LOCK NET_ADMIN SYS_TIME",
        "AddCapability=CAP_SYS_NICE NET_RAW\nAddCapability=net_admin\nDropCapability=ALL",
        "DropCapability=SYS_NICE MKNOD",
        "AddCapability=ALL",
    ] {
        let (emitted, after) = mended_quadlet(&format!("[Container]\nImage=x\n{lists}\n"));
        for id in ["ctr-capabilities", "ctr-no-time-daemon"] {
            assert_eq!(outcome(&after, id), Outcome::Pass, "{lists}:\n{emitted}");
        }
        assert_eq!(emitted.contains("NET_RAW"), lists.contains("NET_RAW"), "{emitted}");
        assert_eq!(emitted.contains("MKNOD"), lists.contains("MKNOD"), "{emitted}");
    }
    let (emitted, after) = mended_quadlet("[Container]\nImage=x\nPodmanArgs=--cap-add=NET_ADMIN\n");
    assert!(
        emitted.contains("# by hand: take --cap-add=\"NET_ADMIN\" out of PodmanArgs="),
        "{emitted}"
    );
    assert!(
        !emitted.contains("DropCapability=NET_ADMIN"),
        "podman refuses it: {emitted}"
    );
    assert_eq!(
        outcome(&after, "ctr-capabilities"),
        Outcome::Fail,
        "and it is not refused"
    );
}

#[test]
fn a_pod_keeps_its_capabilities_its_cpus_and_its_memory() {
    let pod = |context: &str, limits: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: relay}}\nspec:\n  runtimeClassName: performance-relay\n  containers:\n  \
             - {{name: vpc, image: x, securityContext: {{capabilities: {context}}}, resources: {{limits: {limits}}}}}\n"
        )
    };
    let given = pod(
        "{add: [NET_RAW, NET_ADMIN, SYS_NICE], drop: [ALL]}",
        "{cpu: 2500m, memory: 16Gi}",
    );
    mends("pod.yaml", &given, "kubernetes", Lists::Named);
    let of = |definition: &str| {
        let (before, _root) = audit("pod.yaml", definition);
        let emitted = emit(&before, &failed(&before, "kubernetes"), "kubernetes").expect("a patch");
        let mut whole = yaml_documents(definition).expect("a definition").remove(0);
        for patch in yaml_documents(&emitted).expect("YAML") {
            if patch["kind"] == "Pod" {
                patched(&mut whole, patch, Lists::Named);
            }
        }
        (emitted, whole["spec"]["containers"][0].take())
    };
    let (_, container) = of(&given);
    assert_eq!(
        container["securityContext"]["capabilities"],
        json!({"add": ["NET_RAW", "SYS_NICE", "IPC_LOCK"], "drop": ["ALL"]})
    );
    let resources = json!({"cpu": "3", "memory": "16Gi"});
    assert_eq!(
        container["resources"],
        json!({"requests": resources, "limits": resources})
    );
    // Without limits nobody but the author knows how much is enough.
    let (emitted, container) = of(&pod("{}", "{}").replace("  runtimeClassName: performance-relay\n", ""));
    assert_eq!(container["resources"], json!({"limits": {}}), "{emitted}");
    for what in ["no limit of CPUs", "no limit of memory", "spec.runtimeClassName"] {
        let step = emitted.lines().find(|line| line.contains(what));
        assert!(
            step.is_some_and(|line| line.starts_with("# by hand: \"relay/vpc\": ")),
            "{what}: {emitted}"
        );
    }
    assert!(!emitted.contains("runtimeClassName: "), "{emitted}");
}

#[test]
fn a_probe_that_runs_no_command_stays() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: relay}\nspec:\n  containers:\n  - {name: vpc, image: x, livenessProbe: \
               {exec: {command: [a]}}, readinessProbe: {tcpSocket: {port: 102}}}\n";
    let (before, _root) = audit("pod.yaml", pod);
    let emitted = emit(&before, &["ctr-exec-probes".to_owned()], "kubernetes").expect("a patch");
    let patch = &yaml_documents(&emitted).expect("YAML")[0]["spec"]["containers"][0];
    assert_eq!(*patch, json!({"name": "vpc", "livenessProbe": null}), "{emitted}");
}

/// Limits of memory: in a compose file, a quadlet, `docker inspect` and a bundle.
#[test]
fn a_limit_of_memory_stays_and_none_is_invented() {
    let compose = |limit: &str| {
        let (before, _root) = audit("compose.yaml", &format!("services:\n  relay: {{image: x{limit}}}\n"));
        let emitted = emit(&before, &["ctr-memory-limits".to_owned()], "compose").expect("a file");
        let service = yaml_documents(&emitted).expect("YAML")[0]["services"]["relay"].take();
        (emitted, service)
    };
    let kept = json!({"oom_score_adj": -900, "mem_limit": "17179869184", "memswap_limit": "17179869184"});
    assert_eq!(compose(", mem_limit: 16g").1, kept);
    let (emitted, service) = compose("");
    assert_eq!(service, json!({"oom_score_adj": -900}));
    assert!(
        emitted.contains("# by hand: \"relay\": the definition sets no limit of memory"),
        "{emitted}"
    );

    let docker = |memory: u64| {
        let inspected = json!([{"Name": "/relay", "Config": {}, "HostConfig": {"Memory": memory}}]);
        let (before, _root) = audit("relay.json", &inspected.to_string());
        emit(&before, &["ctr-memory-limits".to_owned()], "docker").expect("options")
    };
    assert!(docker(16 << 30).contains("--memory=17179869184 --memory-swap=17179869184\n"));
    assert!(docker(0).contains("# by hand: the definition sets no limit") && !docker(0).contains("--memory"));

    for limit in [
        "",
        "PodmanArgs=--memory=16g\n",
        "[Service]\nMemoryMax=16G\nMemoryHigh=8G\n",
    ] {
        let (emitted, after) = mended_quadlet(&format!("[Container]\nImage=x\n{limit}"));
        assert_eq!(
            outcome(&after, "ctr-memory-limits"),
            Outcome::Pass,
            "{limit}: {emitted}"
        );
        assert!(!emitted.contains("--memory"), "{emitted}");
    }
}

/// Lists that the merging tool replaces are complete in the document.
#[test]
fn a_bundle_keeps_its_limits_and_its_capabilities() {
    let sets = |more: &str| format!("[\"CAP_KILL\", \"CAP_NET_ADMIN\"{more}]");
    let bundle = |memory: &str, ambient: &str| {
        format!(
            r#"{{"ociVersion": "1.0.2", "process": {{"args": ["/x"], "rlimits": [{{"type": "RLIMIT_NOFILE", "soft": 1024, "hard": 524288}},
            {{"type": "RLIMIT_RTPRIO", "soft": 1, "hard": 1}}],
            "capabilities": {{"effective": {own}, "permitted": {own}, "bounding": {own}, "inheritable": {ambient}, "ambient": {ambient}}}}},
            "linux": {{"resources": {{"memory": {{{memory}}}}}}}}}"#,
            own = sets(", \"CAP_MKNOD\"")
        )
    };
    let merged = |text: &str| {
        let (before, root) = audit("config.json", text);
        let emitted = emit(&before, &failed(&before, "oci"), "oci").expect("a document");
        let mut whole: Json = serde_json::from_str(text).expect("JSON");
        patched(
            &mut whole,
            serde_json::from_str(&emitted).expect("JSON"),
            Lists::Replaced,
        );
        (whole, risks(&before, &[], "oci"), root)
    };
    let (whole, said, _root) = merged(&bundle("\"limit\": 17179869184", &sets("")));
    let memory = &whole["linux"]["resources"]["memory"];
    assert_eq!(
        *memory,
        json!({"limit": 17_179_869_184_u64, "swap": 17_179_869_184_u64})
    );
    assert!(!said.iter().any(|line| line.starts_with("by hand")), "{said:?}");
    let lists = &whole["process"]["capabilities"];
    let wanted = ["CAP_SYS_NICE", "CAP_IPC_LOCK", "CAP_NET_RAW"];
    for (set, own) in [
        ("effective", &["CAP_KILL", "CAP_MKNOD"][..]),
        ("bounding", &["CAP_KILL", "CAP_MKNOD"]),
        ("ambient", &["CAP_KILL"]),
    ] {
        assert_eq!(lists[set], json!([own, &wanted[..]].concat()), "{set}");
    }
    let limits = whole["process"]["rlimits"].as_array().expect("limits");
    let of = |kind: &str| {
        limits
            .iter()
            .find(|limit| limit["type"] == kind)
            .map(|limit| limit["hard"].clone())
    };
    assert_eq!(
        [of("RLIMIT_NOFILE"), of("RLIMIT_RTPRIO")],
        [Some(json!(524_288)), Some(json!(99))]
    );

    let (whole, said, _root) = merged(&bundle("", "[]"));
    assert_eq!(whole["linux"]["resources"]["memory"], json!({}));
    assert_eq!(whole["process"]["capabilities"]["ambient"], json!([]));
    assert!(said.iter().any(|line| line.contains("no limit of memory")), "{said:?}");
}

#[test]
fn a_container_gets_no_cpu_of_a_domain() {
    let domain = |name: &str, tuning: &str| {
        format!(
            "<domain type='kvm'><name>{name}</name><memory>1</memory><vcpu>1</vcpu><cputune>{tuning}</cputune></domain>"
        )
    };
    let (_, root) = audit("compose.yaml", "services:\n  relay: {image: x}\n");
    let of = |named: &[&str], stored: &str| {
        let folder = root.path().join("etc/libvirt/qemu");
        fs::create_dir_all(&folder).expect("folders");
        fs::write(folder.join("c.xml"), domain("c", stored)).expect("a definition");
        let named = named.iter().map(|tuning| {
            let path = root.path().join("relay.xml");
            fs::write(&path, domain("relay", tuning)).expect("a definition");
            path.display().to_string()
        });
        let parameters = Parameters {
            rt_cpus: Some("4-7".parse().expect("CPUs")),
            domains: named.collect(),
            containers: vec![root.path().join("compose.yaml").display().to_string()],
            ..Parameters::default()
        };
        let audit = audit::audit(&Host::at(root.path()).expect("a tree"), &parameters, &[]);
        emit(&audit, &["ctr-cpuset".to_owned()], "compose")
    };
    let has = |text: Result<String, String>, cpus: &str| {
        let text = text.expect("a file");
        assert!(text.contains(&format!("cpuset: \"{cpus}\"")), "{cpus}: {text}");
    };
    has(of(&[], ""), "4-7");
    has(
        of(&["<vcpupin vcpu='0' cpuset='4'/>"], "<emulatorpin cpuset='5'/>"),
        "6-7",
    );
    // A definition that was written for another machine.
    has(
        of(&["<vcpupin vcpu='0' cpuset='4'/><emulatorpin cpuset='40'/>"], ""),
        "4-7",
    );
    assert!(of(&[], "<emulatorpin cpuset='0-7'/>").is_err_and(|why| why.contains("no other container or domain")));
}
