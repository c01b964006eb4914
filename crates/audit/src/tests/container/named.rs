//! Containers given by name: one or several files, an id, and files that are not definitions.

use std::fs;
use std::path::Path;

use super::{HOST, file, naming, of_path};
use crate::check_definitions;
use crate::finding::Outcome::{self, Fail, Pass, Unknown};
use crate::tests::tree::{finding, outcome, tree};

#[test]
fn two_containers_on_one_cpu_fail_both() {
    let (one, other) = (file("docker-inspect.json"), file("relay.container"));
    let both = naming(&[one.to_str().expect("a path"), other.to_str().expect("a path")]);
    let found = finding(&tree(&HOST), &both, "ctr-cpuset");
    let parts: Vec<(&str, Outcome)> = found
        .parts
        .iter()
        .map(|part| (part.part.as_str(), part.outcome))
        .collect();
    assert_eq!(parts, [("vpc", Fail), ("relay", Fail)]);
}

#[test]
fn what_cannot_be_read_is_unknown_and_never_a_pass() {
    for broken in ["{", "a: [", "kind: Podd", ""] {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.yaml");
        fs::write(&path, broken).expect("a file");
        for id in [
            "ctr-cpuset",
            "ctr-no-cpu-quota",
            "ctr-capabilities",
            "k8s-rt-pod",
            "kubevirt-rt-vm",
        ] {
            assert_eq!(of_path(&path, id), Unknown, "{broken:?}: {id}");
        }
    }
    assert_eq!(of_path(Path::new("/nowhere/at/all"), "ctr-cpuset"), Unknown);
}

#[test]
fn a_container_is_found_by_its_id() {
    let bundle = fs::read_to_string(file("config.json")).expect("a bundle");
    let place = "run/containerd/io.containerd.runtime.v2.task/moby/0123456789abcdef/config.json";
    let host = tree(&[&HOST[..], &[(place, bundle.as_str())]].concat());
    assert_eq!(outcome(&host, &naming(&["01234567"]), "ctr-capabilities"), Pass);
    assert_eq!(outcome(&host, &naming(&["fedcba98"]), "ctr-capabilities"), Unknown);
    assert_eq!(outcome(&host, &naming(&["../../etc"]), "ctr-capabilities"), Unknown);
}

#[test]
fn containers_of_one_name_are_two() {
    let (good, folder) = (file("docker-inspect.json"), tempfile::tempdir().expect("a directory"));
    let other = folder.path().join("docker-inspect.json");
    let text = fs::read_to_string(&good).expect("a definition");
    fs::write(&other, text.replace("\"4-7\"", "\"\"")).expect("a file");
    let both = naming(&[good.to_str().expect("a path"), other.to_str().expect("a path")]);
    let found = finding(&tree(&HOST), &both, "ctr-cpuset");
    let parts: Vec<(&str, Outcome)> = found
        .parts
        .iter()
        .map(|part| (part.part.as_str(), part.outcome))
        .collect();
    assert_eq!(parts, [("vpc", Pass), ("vpc (2)", Fail)]);
}

#[test]
fn files_that_are_no_definitions_are_refused_with_the_place() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, text, place) in [
        ("pod.yaml", "kind: Pod\nspec: [unclosed\n", "line 3"),
        ("compose.yaml", "services:\n  relay:\n\tcpus: 2\n", "line 3"),
        ("inspect.json", "[\n {\"HostConfig\": }]\n", "line 2"),
        ("relay.container", "[Container]\nImage=a\nCpus 3\n", "line 3"),
        ("other.yaml", "a: 1\n", "neither an OCI bundle"),
        ("empty.yaml", "", "defines no container"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        let path = path.to_str().expect("a path");
        let error = check_definitions(&naming(&[path])).expect_err(name);
        assert!(error.starts_with(path) && error.contains(place), "{error}");
    }
    assert!(check_definitions(&naming(&["./no-such.yaml"])).is_err());
    assert_eq!(check_definitions(&naming(&["0123456789ab"])), Ok(()), "an id");
    for good in [
        "abb-after.yaml",
        "config.json",
        "docker-inspect.json",
        "pod.yaml",
        "relay.container",
        "vmi.yaml",
    ] {
        let path = file(good);
        assert_eq!(
            check_definitions(&naming(&[path.to_str().expect("a path")])),
            Ok(()),
            "{good}"
        );
    }
}
