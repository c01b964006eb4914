//! Output for containers is read back by real readers, merged as the tools merge it, and judged: it must satisfy the rules that produced
//! it.

mod containers;
mod definitions;
mod hostile;
mod numbers;

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

use super::{KINDS, emit, risks};
use audit::finding::Outcome;
use audit::parameters::Parameters;
use audit::rule::built_in;
use audit::{Audit, yaml_documents};
use host::Host;

/// A machine with eight CPUs; 4 to 7 are for containers.
fn audit(name: &str, definition: &str) -> (Audit, TempDir) {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in [
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("proc/sys/kernel/osrelease", "6.12.0\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\n"),
    ] {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let file = root.path().join(name);
    fs::write(&file, definition).expect("a definition");
    let parameters = Parameters {
        rt_cpus: Some("4-7".parse().expect("CPUs")),
        nics: vec!["eth1".to_owned()],
        containers: vec![file.display().to_string()],
        ..Parameters::default()
    };
    let host = Host::at(root.path()).expect("a tree");
    (audit::audit(&host, &parameters, &[]), root)
}

/// Checks of containers that failed and for which `kind` has settings.
fn failed(audit: &Audit, kind: &str) -> Vec<String> {
    let failed = audit.findings.iter().filter(|finding| finding.outcome == Outcome::Fail);
    let of = failed.filter(|finding| finding.group == "container" && finding.rule.remedy.emit.contains_key(kind));
    of.map(|finding| finding.rule.id.clone()).collect()
}

fn outcome(audit: &Audit, id: &str) -> Outcome {
    let finding = audit.findings.iter().find(|finding| finding.rule.id == id);
    finding.expect("a rule").outcome
}

/// How a tool merges lists.
#[derive(Clone, Copy)]
enum Lists {
    /// Compose: the items of both lists.
    Joined,
    /// JSON Merge Patch (RFC 7386), as `jq '.[0] * .[1]'`.
    Replaced,
    /// Kubernetes: merges containers by name, replaces other lists.
    Named,
}

fn patched(own: &mut Json, patch: Json, lists: Lists) {
    match (own, patch, lists) {
        (Json::Object(own), Json::Object(patch), _) => {
            for (key, value) in patch {
                match (own.get_mut(&key), value) {
                    (_, Json::Null) => drop(own.remove(&key)),
                    (Some(known), value) => patched(known, value, lists),
                    (None, value) => drop(own.insert(key, value)),
                }
            }
        }
        (Json::Array(own), Json::Array(patch), Lists::Joined) => own.extend(patch),
        (Json::Array(own), Json::Array(patch), Lists::Named) if patch.iter().all(|item| item["name"].is_string()) => {
            for item in patch {
                let known = own.iter_mut().find(|known| known["name"] == item["name"]);
                patched(known.expect("a container of that name"), item, lists);
            }
        }
        (own, patch, _) => *own = patch,
    }
}

/// Each rule of `kind` that the definition fails passes after the emitted document was merged into it. Returns the rules.
fn mends(name: &str, definition: &str, kind: &str, lists: Lists) -> Vec<String> {
    let (before, _root) = audit(name, definition);
    let wrong = failed(&before, kind);
    let emitted = emit(&before, &wrong, kind).unwrap_or_else(|why| panic!("{kind}: {why}"));
    assert!(!emitted.contains("not set"), "{emitted}");
    let mut whole = yaml_documents(definition).expect("a definition").remove(0);
    for patch in yaml_documents(&emitted).unwrap_or_else(|why| panic!("{why}:\n{emitted}")) {
        if patch["kind"] != "KubeletConfiguration" {
            patched(&mut whole, patch, lists);
        }
    }
    let (after, _root) = audit(name, &whole.to_string());
    for id in wrong.iter().filter(|id| *id != "k8s-node") {
        // A pod's node decides the CPUs of the pod; a separate object defines a network.
        let expected = match (kind, id.as_str()) {
            ("kubernetes", "ctr-cpuset" | "ctr-network-path") => Outcome::Unknown,
            _ => Outcome::Pass,
        };
        assert_eq!(outcome(&after, id), expected, "{kind}, {id}:\n{emitted}\n{whole:#}");
    }
    wrong
}

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/src/tests/definitions/container");
    fs::read_to_string(folder.join(name)).expect("a definition")
}

#[test]
fn compose_files_satisfy_the_rules_they_are_for() {
    let mended = mends("compose.yaml", &file("abb-before.yaml"), "compose", Lists::Joined);
    assert_eq!(
        mended.len(),
        7,
        "CPUs, quota, capabilities, real time, network, memory, health check: {mended:?}"
    );
    let everything = "services:\n  a.b:\n    image: x\n    privileged: true\n    mem_limit: 1g\n";
    let mended = mends("compose.yaml", everything, "compose", Lists::Joined);
    assert!(mended.contains(&"ctr-no-time-daemon".to_owned()), "{mended:?}");
}

#[test]
fn documents_for_bundles_satisfy_the_rules_they_are_for() {
    let bare = r#"{"ociVersion": "1.0.2", "process": {"args": ["/x"], "capabilities": {"effective": ["CAP_NET_ADMIN"]}},
        "linux": {"namespaces": [{"type": "network"}], "resources": {"cpu": {"quota": 50000}, "memory": {"limit": 2147483648}}}}"#;
    let mended = mends("config.json", bare, "oci", Lists::Replaced);
    assert!(mended.len() >= 5, "{mended:?}");
    let (before, _root) = audit("config.json", bare);
    let emitted = emit(&before, &[], "oci").expect("a document");
    let read: Json = serde_json::from_str(&emitted).expect("JSON as encoders of it read it");
    assert_eq!(read["process"]["rlimits"][1]["soft"], 1u64 << 53);
    assert!(read["linux"]["resources"]["unified"].is_null(), "{emitted}");
}

#[test]
fn patches_of_pods_and_virtual_machines_satisfy_the_rules_they_are_for() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: relay}\nspec:\n  runtimeClassName: performance-relay\n  containers:\n  - {name: vpc, image: x, \
               livenessProbe: {exec: {command: [a]}}, resources: {limits: {cpu: 500m, memory: 1Gi}}}\n";
    let mended = mends("pod.yaml", pod, "kubernetes", Lists::Named);
    for id in ["ctr-capabilities", "ctr-exec-probes", "k8s-rt-pod", "k8s-node"] {
        assert!(mended.contains(&id.to_owned()), "{id}: {mended:?}");
    }
    let machine = "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: relay}\nspec: {domain: {cpu: {cores: 2}}}\n";
    let mended = mends("vmi.yaml", machine, "kubernetes", Lists::Named);
    assert!(mended.contains(&"kubevirt-rt-vm".to_owned()), "{mended:?}");
}

#[test]
fn a_patch_of_the_kubelet_is_one() {
    let (before, root) = audit("pod.yaml", &file("pod.yaml"));
    let emitted = emit(&before, &["k8s-node".to_owned()], "kubernetes").expect("a patch");
    fs::write(root.path().join("var/lib/kubelet/config.yaml"), &emitted).expect("a file");
    let host = Host::at(root.path()).expect("a tree");
    assert_eq!(
        outcome(&audit::audit(&host, &Parameters::default(), &[]), "k8s-node"),
        Outcome::Pass,
        "{emitted}"
    );
}

#[test]
fn quadlets_satisfy_the_rules_they_are_for() {
    let bare = "[Container]\nImage=x\nHealthCmd=/bin/true\n[Service]\nCPUQuota=50%\n";
    let (before, _root) = audit("relay.container", bare);
    let wrong = failed(&before, "quadlet");
    assert!(wrong.len() >= 6, "{wrong:?}");
    let emitted = emit(&before, &wrong, "quadlet").expect("lines");
    let (after, _root) = audit("relay.container", &format!("{bare}{emitted}"));
    for id in &wrong {
        // The network is a separate unit, whose driver is not in this one.
        let expected = if id == "ctr-network-path" {
            Outcome::Unknown
        } else {
            Outcome::Pass
        };
        assert_eq!(outcome(&after, id), expected, "{id}:\n{emitted}");
    }
}

#[test]
fn what_is_not_known_is_said_and_nothing_is_invented() {
    let (before, _root) = audit("compose.yaml", &file("abb-before.yaml"));
    let without = Parameters {
        rt_cpus: Some("4-7".parse().expect("CPUs")),
        containers: vec![_root.path().join("compose.yaml").display().to_string()],
        ..Parameters::default()
    };
    let told = audit::audit(&Host::at(_root.path()).expect("a tree"), &without, &[]);
    let emitted = emit(&told, &[], "compose").expect("a file");
    assert!(
        emitted.contains("# ctr-network-path: not set: ") && emitted.contains("--nic"),
        "{emitted}"
    );
    assert_eq!(yaml_documents(&emitted).expect("YAML").len(), 1);
    assert!(
        emit(&before, &["ctr-network-path".to_owned()], "compose").is_ok_and(|text| text.contains("parent: \"eth1\""))
    );
    assert!(emit(&told, &["ctr-network-path".to_owned()], "compose").is_err());
}

#[test]
fn every_fragment_of_a_rule_is_well_formed() {
    let mut count = 0;
    for (group, rules) in built_in() {
        for rule in rules.rules {
            for kind in ["compose", "kubernetes", "oci"] {
                assert!(KINDS.contains(&kind));
                for text in rule.remedy.emit.get(kind).into_iter().flatten() {
                    let read = yaml_documents(text).unwrap_or_else(|why| panic!("{group}, {}: {text}: {why}", rule.id));
                    assert!(read.len() == 1 && read[0].is_object(), "{}: {text}", rule.id);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 20, "{count}");
}

/// Commands of modprobe.d(5) of kmod 30, which skips every other line.
#[test]
fn every_line_for_modprobe_is_a_command_of_its_files() {
    let rules = built_in().into_iter().flat_map(|(_, rules)| rules.rules);
    for rule in rules {
        for line in rule.remedy.emit.get("modprobe").into_iter().flatten() {
            let command = line.split(' ').next().unwrap_or_default();
            // A fact may consist of whole lines.
            let known = [
                "alias",
                "blacklist",
                "install",
                "options",
                "remove",
                "softdep",
                "{dom.host-device-softdeps}",
            ];
            assert!(known.contains(&command), "{}: {line}", rule.id);
        }
    }
}

const TWO: &str = "services:\n  a: {image: x}\n  b: {image: x}\n";

#[test]
fn two_containers_never_get_the_same_cpus() {
    let (before, _root) = audit("compose.yaml", TWO);
    let emitted = emit(&before, &["ctr-cpuset".to_owned()], "compose").expect("a file");
    let services = &yaml_documents(&emitted).expect("YAML")[0]["services"];
    assert_eq!([&services["a"]["cpuset"], &services["b"]["cpuset"]], ["4-5", "6-7"]);
    let options = emit(&before, &["ctr-cpuset".to_owned()], "docker").expect("options");
    assert!(
        options.ends_with("# of \"a\"\n--cpuset-cpus=4-5\n# of \"b\"\n--cpuset-cpus=6-7\n"),
        "{options}"
    );

    let taken = "services:\n  a: {image: x, cpuset: \"4-6\"}\n  b: {image: x}\n";
    let (before, _root) = audit("compose.yaml", taken);
    let emitted = emit(&before, &["ctr-cpuset".to_owned()], "compose").expect("a file");
    assert!(
        emitted.contains("cpuset: \"7\"") && !emitted.contains("  a:"),
        "{emitted}"
    );

    let many = "services:\n  a: {image: x}\n  b: {image: x}\n  c: {image: x}\n  d: {image: x}\n  e: {image: x}\n";
    let (before, _root) = audit("compose.yaml", many);
    let refused = emit(&before, &["ctr-cpuset".to_owned()], "compose").expect_err("five containers, four CPUs");
    assert!(refused.contains("5 containers have 4 real-time CPUs"), "{refused}");
}

#[test]
fn what_no_second_compose_file_can_take_away_is_said() {
    let adds = "services:\n  a:\n    image: x\n    cap_add: [SYS_NICE, IPC_LOCK, cap_net_admin]\n";
    let (before, _root) = audit("compose.yaml", adds);
    let emitted = emit(&before, &[], "compose").expect("a file");
    assert!(
        emitted.contains("# by hand: take \"cap_net_admin\" out of cap_add of the service \"a\""),
        "{emitted}"
    );
    let (before, _root) = audit("compose.yaml", TWO);
    assert!(
        !emit(&before, &[], "compose")
            .expect("a file")
            .contains("# by hand: take")
    );
}

#[test]
fn a_file_for_two_bundles_is_refused() {
    let (_, root) = audit("a.json", "{}");
    let bundle = "{\"ociVersion\": \"1.0.2\", \"process\": {\"args\": [\"/x\"]}, \"linux\": {}}";
    let places = ["a", "b"].map(|name| {
        let folder = root.path().join(name);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("config.json"), bundle).expect("a bundle");
        folder.join("config.json").display().to_string()
    });
    let told = |containers: &[String]| Parameters {
        rt_cpus: Some("4-7".parse().expect("CPUs")),
        containers: containers.to_vec(),
        ..Parameters::default()
    };
    let host = Host::at(root.path()).expect("a tree");
    let of = |containers: &[String]| {
        emit(
            &audit::audit(&host, &told(containers), &[]),
            &["ctr-cpuset".to_owned()],
            "oci",
        )
    };
    assert!(of(&places).is_err_and(|why| why.contains("name one with --container")));
    assert!(of(&places[..1]).is_ok_and(|text| text.contains("\"cpus\": \"4-7\"")));
}

/// Placeholders in capitals are for a person: in a file for a machine they are not values.
#[test]
fn no_rule_has_a_place_for_a_person_where_a_machine_reads() {
    for (_, rules) in built_in() {
        for rule in rules.rules {
            for kind in KINDS {
                for text in rule.remedy.emit.get(kind).into_iter().flatten() {
                    let words = text.split(|c: char| !c.is_ascii_alphabetic());
                    let values = match kind {
                        "compose" | "kubernetes" | "oci" | "libvirt" => text,
                        _ => text.split_once('=').map_or("", |(_, value)| value),
                    };
                    let places = ["N", "VENDOR", "DEVICE", "NAME", "PORT", "CLASS", "CONTAINER", "LIST"];
                    let is_place = |word: &str| values.contains(word) && places.contains(&word);
                    assert!(!words.into_iter().any(is_place), "{}: {text}", rule.id);
                }
            }
        }
    }
}

#[test]
fn what_can_go_wrong_stands_beside_every_setting() {
    let untuned = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/debian-untuned/root");
    let parameters = Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        nics: vec!["eno1".to_owned()],
        ..Parameters::default()
    };
    let host = Host::at(&untuned).expect("a recorded tree");
    let bundle = r#"{ "ociVersion": "1.0", "process": { "args": ["relay"] }, "linux": {} }"#;
    let (compose, _compose) = audit("compose.yaml", "services:\n  relay:\n    image: relay\n    cpus: 1\n");
    let (pod, _pod) = audit(
        "pod.yaml",
        "kind: Pod\nmetadata:\n  name: relay\nspec:\n  containers:\n  - name: relay\n",
    );
    let (bundle, _bundle) = audit("config.json", bundle);
    let mut said = std::collections::BTreeSet::new();
    for audit in [&audit::audit(&host, &parameters, &[]), &compose, &pod, &bundle] {
        for finding in &audit.findings {
            let (only, risk) = ([finding.rule.id.clone()], &finding.rule.remedy.risk);
            for kind in KINDS {
                let text = emit(audit, &only, kind).unwrap_or_default();
                if text.is_empty() || risk.is_empty() {
                    continue;
                }
                let beside = risks(audit, &only, kind).join("\n");
                assert!(
                    (if kind == "oci" { &beside } else { &text }).contains(risk),
                    "{only:?} {kind}: {text}"
                );
                said.insert(kind);
            }
        }
    }
    for kind in [
        "kernel-args",
        "ansible",
        "tuned",
        "compose",
        "kubernetes",
        "oci",
        "systemd",
        "udev",
    ] {
        assert!(said.contains(kind), "{kind}: {said:?}");
    }
}
