//! Rules for containers, applied to definitions before and after their authors' own changes.

mod inside;
mod named;

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::{outcome, tree};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/definitions/container");
    folder.join(name)
}

/// A bare machine with eight CPUs.
const HOST: [(&str, &str); 4] = [
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("proc/sys/kernel/osrelease", "6.12.0\n"),
    ("proc/1/comm", "systemd\n"),
    ("proc/2/comm", "kthreadd\n"),
];

fn naming(containers: &[&str]) -> Parameters {
    Parameters {
        rt_cpus: Some("4-7".parse().expect("CPUs")),
        containers: containers.iter().map(|name| (*name).to_owned()).collect(),
        ..Parameters::default()
    }
}

fn of_path(path: &Path, id: &str) -> Outcome {
    outcome(&tree(&HOST), &naming(&[path.to_str().expect("a path")]), id)
}

/// Outcome of `id` for a definition after these changes.
fn says(name: &str, id: &str, changes: &[(&str, &str)]) -> Outcome {
    let mut text = fs::read_to_string(file(name)).expect("a definition");
    for (from, to) in changes {
        assert!(text.contains(from), "{name}: {from}");
        text = text.replace(from, to);
    }
    let folder = tempfile::tempdir().expect("a directory");
    let changed = folder.path().join(name);
    fs::write(&changed, text).expect("a file");
    of_path(&changed, id)
}

#[test]
fn what_abb_changed_by_hand_is_what_is_asked_for() {
    for id in [
        "ctr-cpuset",
        "ctr-no-cpu-quota",
        "ctr-capabilities",
        "ctr-rt-works",
        "ctr-network-path",
        "ctr-memory-limits",
        "ctr-exec-probes",
    ] {
        assert_eq!(of_path(&file("abb-before.yaml"), id), Fail, "{id}");
        assert_eq!(of_path(&file("abb-after.yaml"), id), Pass, "{id}");
    }
    assert_eq!(of_path(&file("abb-after.yaml"), "ctr-no-time-daemon"), Pass);
}

#[test]
fn every_form_says_the_same_of_the_same_container() {
    for name in ["docker-inspect.json", "relay.container", "config.json"] {
        for id in [
            "ctr-cpuset",
            "ctr-no-cpu-quota",
            "ctr-capabilities",
            "ctr-rt-works",
            "ctr-network-path",
            "ctr-memory-limits",
            "ctr-no-time-daemon",
        ] {
            assert_eq!(of_path(&file(name), id), Pass, "{name}: {id}");
        }
    }
}

#[test]
fn each_fault_of_a_definition_is_found() {
    for (name, id, from, to) in [
        ("docker-inspect.json", "ctr-cpuset", "\"4-7\"", "\"\""),
        ("docker-inspect.json", "ctr-cpuset", "\"4-7\"", "\"3-7\""),
        (
            "docker-inspect.json",
            "ctr-no-cpu-quota",
            "\"NanoCpus\": 0",
            "\"NanoCpus\": 2000000000",
        ),
        (
            "docker-inspect.json",
            "ctr-capabilities",
            "\"CAP_IPC_LOCK\"",
            "\"CAP_NET_ADMIN2\"",
        ),
        ("docker-inspect.json", "ctr-network-path", "\"host\"", "\"bridge\""),
        (
            "docker-inspect.json",
            "ctr-memory-limits",
            "\"OomScoreAdj\": -900",
            "\"OomScoreAdj\": 0",
        ),
        (
            "docker-inspect.json",
            "ctr-no-time-daemon",
            "/opt/vpc/run",
            "/usr/sbin/chronyd",
        ),
        (
            "docker-inspect.json",
            "ctr-exec-probes",
            "\"Cmd\": null",
            "\"Healthcheck\": {\"Test\": [\"CMD\", \"x\"]}",
        ),
        ("relay.container", "ctr-no-cpu-quota", "LimitRTPRIO=99", "CPUQuota=200%"),
        ("relay.container", "ctr-network-path", "Network=host", "Network=bridge"),
        (
            "relay.container",
            "ctr-capabilities",
            "DropCapability=NET_ADMIN",
            "AddCapability=SYS_TIME",
        ),
        (
            "relay.container",
            "ctr-exec-probes",
            "Network=host",
            "HealthCmd=/bin/true",
        ),
        ("config.json", "ctr-no-cpu-quota", "\"quota\": -1", "\"quota\": 50000"),
        (
            "config.json",
            "ctr-rt-works",
            "\"CAP_SYS_NICE\", ",
            "\"CAP_IPC_LOCK\"], \"x\": [",
        ),
        (
            "config.json",
            "ctr-memory-limits",
            "\"swap\": 4294967296",
            "\"swap\": 8589934592",
        ),
        ("pod.yaml", "k8s-rt-pod", "4000m", "3500m"),
        (
            "pod.yaml",
            "k8s-rt-pod",
            "irq-load-balancing.crio.io: \"disable\"",
            "x: y",
        ),
        ("pod.yaml", "ctr-no-cpu-quota", "cpu-quota.crio.io: \"disable\"", "x: y"),
        (
            "pod.yaml",
            "ctr-exec-probes",
            "image: vpc:1",
            "livenessProbe: {exec: {command: [x]}}",
        ),
        ("vmi.yaml", "kubevirt-rt-vm", "realtime: {}", "x: {}"),
        ("vmi.yaml", "kubevirt-rt-vm", "autoattachMemBalloon: false", "x: false"),
        ("vmi.yaml", "kubevirt-rt-vm", "pageSize: 1Gi", "pageSize: 2Mi"),
        (
            "vmi.yaml",
            "kubevirt-rt-vm",
            "isolateEmulatorThread: true",
            "isolateEmulatorThread: false",
        ),
    ] {
        let before = says(name, id, &[]);
        assert!(before == Pass, "{name}: {id} is {before:?} before");
        let changes = match (name, id) {
            // Another limit on locked memory would still grant the rest.
            ("config.json", "ctr-rt-works") => vec![(from, to), ("RLIMIT_RTPRIO", "RLIMIT_NICE")],
            _ => vec![(from, to)],
        };
        assert_eq!(says(name, id, &changes), Fail, "{name}: {id} with {to}");
    }
}

#[test]
fn a_privileged_container_is_a_warning_and_another_user_is_not_known() {
    let privileged = [("\"Privileged\": false", "\"Privileged\": true")];
    assert_eq!(says("docker-inspect.json", "ctr-capabilities", &privileged), Warn);
    let user = [("\"User\": \"\"", "\"User\": \"1000:1000\"")];
    assert_eq!(says("docker-inspect.json", "ctr-capabilities", &user), Unknown);
    let elsewhere = [("\"NetworkMode\": \"host\"", "\"NetworkMode\": \"process-bus\"")];
    assert_eq!(says("docker-inspect.json", "ctr-network-path", &elsewhere), Unknown);
    for (driver, wanted) in [("macvlan", Pass), ("bridge", Fail)] {
        let network = format!("}}, {{\"Name\": \"process-bus\", \"Driver\": \"{driver}\", \"IPAM\": {{}}}}]");
        let with = [elsewhere[0], ("}]", network.as_str())];
        assert_eq!(
            says("docker-inspect.json", "ctr-network-path", &with),
            wanted,
            "{driver}"
        );
    }
}

#[test]
fn drop_ins_of_a_quadlet_and_its_network_count() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("bay-relay.container");
    let text = fs::read_to_string(file("relay.container")).expect("a definition");
    fs::write(&path, text.replace("Network=host", "Network=bus.network")).expect("a file");
    fs::write(folder.path().join("bus.network"), "[Network]\nDriver=macvlan\n").expect("a file");
    let put = |place: &str, text: &str| {
        let place = folder.path().join(place);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(place, text).expect("a file");
    };
    let outcome = || of_path(&path, "ctr-network-path");
    assert_eq!(outcome(), Pass);
    put("bus.network.d/10.conf", "[Network]\nDriver=bridge\n");
    assert_eq!(outcome(), Fail, "of the network");
    put("bay-.container.d/20.conf", "[Container]\nNetwork=\nNetwork=host\n");
    assert_eq!(outcome(), Pass, "of all units of a bay");
    put(
        "bay-relay.container.d/30.conf",
        "[Container]\nNetwork=\nNetwork=bridge\n",
    );
    assert_eq!(outcome(), Fail, "the later name counts");
    put("container.d/30.conf", "[Container]\nNetwork=\nNetwork=host\n");
    assert_eq!(outcome(), Fail, "its own counts, of two with one name");
    put("bay-relay.container.d/30.conf", "neither\n");
    assert_eq!(outcome(), Unknown);
    put("bay-relay.container.d/30.txt", "neither\n");
}

#[test]
fn a_network_of_a_quadlet_is_read_beside_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let of = |networks: &str, made: Option<&str>| {
        let text = fs::read_to_string(file("relay.container")).expect("a definition");
        let path = folder.path().join("relay.container");
        fs::write(&path, text.replace("Network=host", networks)).expect("a file");
        let beside = folder.path().join("bus.network");
        let _ = fs::remove_file(&beside);
        if let Some(made) = made {
            fs::write(&beside, made).expect("a file");
        }
        of_path(&path, "ctr-network-path")
    };
    let (macvlan, plain) = ("[Network]\nDriver=macvlan\n", "[Network]\nOptions=mtu=1500\n");
    for (networks, made, wanted) in [
        ("Network=bus.network", Some(macvlan), Pass),
        ("Network=bus.network:ip=10.0.0.7", Some(macvlan), Pass),
        ("Network=bridge\nNetwork=bus.network", Some(macvlan), Pass),
        ("Network=bus.network", Some(plain), Fail),
        ("Network=bus.network", None, Unknown),
        ("Network=bus.network", Some("[Network]\nDriver\n"), Unknown),
        (
            "Network=bus.network",
            Some("[Network]\nDriver=macvlan\nPodmanArgs=--driver=bridge\n"),
            Unknown,
        ),
        ("Network=../bus.network", Some(macvlan), Unknown),
        // podman refuses two networks if one of them is not a bridge.
        ("Network=pasta\nNetwork=bus.network", Some(macvlan), Unknown),
        ("Network=other", Some(macvlan), Unknown),
    ] {
        assert_eq!(of(networks, made), wanted, "{networks} {made:?}");
    }
}

#[test]
fn a_service_that_takes_settings_from_another_is_not_judged() {
    let extends = [("    image:", "    extends: {service: base}\n    image:")];
    for id in ["ctr-cpuset", "ctr-capabilities", "ctr-network-path"] {
        assert_eq!(says("abb-after.yaml", id, &[]), Pass, "{id}");
        assert_eq!(says("abb-after.yaml", id, &extends), Unknown, "{id}");
    }
}

#[test]
fn a_value_that_depends_on_a_variable_is_not_known() {
    for (id, added) in [
        ("ctr-capabilities", "privileged: ${DEBUG:-false}"),
        ("ctr-no-cpu-quota", "cpus: ${CPUS:-0}"),
        ("ctr-exec-probes", "healthcheck: {disable: \"$CHECK\"}"),
    ] {
        let with = |line: &str| {
            says(
                "abb-after.yaml",
                id,
                &[("    image:", &format!("    {line}\n    image:"))],
            )
        };
        assert_eq!(with(added), Unknown, "{id}: {added}");
        assert_eq!(with("command: [relay, $PORT]"), Pass, "{id}");
    }
}

/// The container has CPUs 4 to 7.
#[test]
fn a_domain_on_the_cpus_of_a_container_is_found() {
    let docker = naming(&[file("docker-inspect.json").to_str().expect("a path")]);
    let of = |tuning: &str| {
        let domain = format!(
            "<domain type='kvm'><name>c</name><memory>1048576</memory><vcpu>1</vcpu><cputune>{tuning}</cputune></domain>"
        );
        let files = [&HOST[..], &[("etc/libvirt/qemu/c.xml", &domain)]].concat();
        outcome(&tree(&files), &docker, "ctr-cpuset")
    };
    assert_eq!(of("<vcpupin vcpu='0' cpuset='3'/>"), Pass);
    assert_eq!(of("<vcpupin vcpu='0' cpuset='4'/>"), Fail);
    assert_eq!(of("<emulatorpin cpuset='3,7'/>"), Fail);
    let broken = [&HOST[..], &[("etc/libvirt/qemu/c.xml", "<domain")]].concat();
    assert_eq!(outcome(&tree(&broken), &docker, "ctr-cpuset"), Unknown);
}

#[test]
fn the_cpus_of_a_pod_are_the_node_s_matter() {
    assert_eq!(says("pod.yaml", "ctr-cpuset", &[]), Unknown);
    assert_eq!(says("pod.yaml", "ctr-cpuset", &[("4000m", "3500m")]), Fail, "it floats");
    assert_eq!(says("pod.yaml", "ctr-capabilities", &[]), Pass);
    assert_eq!(says("vmi.yaml", "ctr-cpuset", &[]), NotApplicable);
    assert_eq!(says("pod.yaml", "kubevirt-rt-vm", &[]), NotApplicable);
}

/// Docker appends added capabilities, Kubernetes drops last, podman refuses both.
#[test]
fn a_capability_on_both_sides_goes_by_the_order_of_its_runtime() {
    let id = "ctr-capabilities";
    let compose = |add: &str, drop: &str| {
        let lists = [("[SYS_NICE, IPC_LOCK, NET_RAW]", add), ("cap_drop: [NET_ADMIN]", drop)];
        says("abb-after.yaml", id, &lists)
    };
    let both = "[SYS_NICE, IPC_LOCK, net_admin, CAP_SYS_TIME]";
    assert_eq!(compose(both, "cap_drop: [NET_ADMIN, SYS_TIME]"), Fail);
    assert_eq!(compose("[ALL]", "cap_drop: [NET_ADMIN, SYS_TIME]"), Pass);
    assert_eq!(compose("[ALL]", "cap_drop: [ALL]"), Fail);
    assert_eq!(compose("[SYS_NICE, IPC_LOCK]", "cap_drop: [all]"), Pass);
    let inspect = [(
        "\"CapDrop\"",
        "\"CapAdd\": [\"SYS_NICE\", \"IPC_LOCK\", \"NET_ADMIN\"], \"CapDrop\": [\"NET_ADMIN\"], \"x\"",
    )];
    assert_eq!(says("docker-inspect.json", id, &inspect), Fail);
    let pod = |lists: &str| {
        says(
            "pod.yaml",
            id,
            &[("add: [SYS_NICE, IPC_LOCK], drop: [NET_ADMIN]", lists)],
        )
    };
    assert_eq!(pod("add: [SYS_NICE, IPC_LOCK, NET_ADMIN], drop: [NET_ADMIN]"), Pass);
    assert_eq!(pod("add: [SYS_NICE, IPC_LOCK, NET_ADMIN], drop: [ALL]"), Fail);
    assert_eq!(pod("add: [ALL], drop: [ALL]"), Fail, "nothing is left");
    let quadlet = |drop: &str| says("relay.container", id, &[("DropCapability=NET_ADMIN", drop)]);
    // As the function of podman itself answered (go.podman.io/common 0.67.1).
    for (lists, expected) in [
        ("AddCapability=NET_ADMIN\nDropCapability=NET_ADMIN", Fail),
        ("AddCapability=cap_kill\nDropCapability=KILL", Fail),
        ("AddCapability=KILL\nPodmanArgs=--cap-drop=KILL", Fail),
        ("AddCapability=ALL\nDropCapability=ALL", Fail),
        (
            "AddCapability=ALL NET_ADMIN SYS_TIME\nDropCapability=NET_ADMIN SYS_TIME",
            Pass,
        ),
        ("AddCapability=KILL\nDropCapability=ALL KILL", Pass),
        ("AddCapability=KILL\nDropCapability=KILL\nPodmanArgs=--privileged", Warn),
    ] {
        assert_eq!(quadlet(lists), expected, "{lists}");
    }
    assert_eq!(quadlet("DropCapability=all"), Pass);
    assert_eq!(quadlet("AddCapability="), Fail, "an empty value takes back");
}

#[test]
fn annotations_of_crio_count_with_a_runtime_class_and_take_true_for_disable() {
    for id in ["k8s-rt-pod", "ctr-no-cpu-quota"] {
        let none = [("runtimeClassName: performance-relay", "priorityClassName: x")];
        assert_eq!(says("pod.yaml", id, &none), Fail, "{id}");
        assert_eq!(says("pod.yaml", id, &[("\"disable\"", "\"true\"")]), Pass, "{id}");
        assert_eq!(says("pod.yaml", id, &[("\"disable\"", "\"enable\"")]), Fail, "{id}");
        let other = ("runtimeClassName: performance-relay", "runtimeClassName: kata");
        assert_eq!(
            says("pod.yaml", id, &[other]),
            Unknown,
            "{id}: only the handler decides"
        );
        assert_eq!(
            says("pod.yaml", id, &[other, ("\"disable\"", "\"enable\"")]),
            Fail,
            "{id}"
        );
    }
    let quota = |manager: &str| {
        let annotations = format!("\"annotations\": {{{manager}\"cpu-quota.crio.io\": \"disable\"}}, \"ociVersion\"");
        let changes = [
            ("\"quota\": -1", "\"quota\": 50000"),
            ("\"ociVersion\"", annotations.as_str()),
        ];
        says("config.json", "ctr-no-cpu-quota", &changes)
    };
    assert_eq!(quota(""), Fail, "runc does nothing with it");
    assert_eq!(quota("\"io.container.manager\": \"cri-o\", "), Pass);
}

#[test]
fn a_class_of_cache_allocation_counts_by_cpu_or_by_name() {
    let with = |cpus| {
        [
            &HOST[..],
            &[
                ("sys/fs/resctrl/schemata", "L3:0=f\n"),
                ("sys/fs/resctrl/relay/cpus_list", cpus),
            ],
        ]
        .concat()
    };
    let docker = naming(&[file("docker-inspect.json").to_str().expect("a path")]);
    assert_eq!(outcome(&tree(&with("4-7\n")), &docker, "ctr-cache-allocation"), Pass);
    assert_eq!(outcome(&tree(&with("4-5\n")), &docker, "ctr-cache-allocation"), Fail);
    assert_eq!(outcome(&tree(&HOST), &docker, "ctr-cache-allocation"), NotApplicable);
    let oci = naming(&[file("config.json").to_str().expect("a path")]);
    assert_eq!(outcome(&tree(&with("0\n")), &oci, "ctr-cache-allocation"), Pass);
}

#[test]
fn a_node_gives_whole_cpus_away_by_the_static_policy() {
    let of = |text| {
        outcome(
            &tree(&[&HOST[..], &[("var/lib/kubelet/config.yaml", text)]].concat()),
            &naming(&[]),
            "k8s-node",
        )
    };
    let good = "kind: KubeletConfiguration\ncpuManagerPolicy: static\ntopologyManagerPolicy: single-numa-node\nreservedSystemCPUs: 0-3\n";
    assert_eq!(of(good), Pass);
    assert_eq!(of("kind: KubeletConfiguration\n"), Fail);
    assert_eq!(of("kind: Other\ncpuManagerPolicy: static\n"), Unknown);
    assert_eq!(of("a: [\n"), Unknown);
    assert_eq!(outcome(&tree(&HOST), &naming(&[]), "k8s-node"), NotApplicable);
}

#[test]
fn a_running_kubelet_is_judged_by_its_own_file_and_arguments() {
    let good = "kind: KubeletConfiguration\ncpuManagerPolicy: static\ntopologyManagerPolicy: single-numa-node\nreservedSystemCPUs: 0-3\n";
    let of = |arguments: &str| {
        let files = [
            ("proc/1/comm", "systemd\n"),
            ("proc/2/comm", "kthreadd\n"),
            ("proc/900/comm", "kubelet\n"),
            ("proc/900/cmdline", arguments),
            ("var/lib/kubelet/config.yaml", good),
            ("etc/k/bad.yaml", "kind: KubeletConfiguration\n"),
            ("etc/k/good.yaml", good),
        ];
        outcome(&tree(&[&HOST[..], &files].concat()), &naming(&[]), "k8s-node")
    };
    assert_eq!(
        of("kubelet\0--config=/etc/k/bad.yaml\0"),
        Fail,
        "the other file is not its own"
    );
    assert_eq!(of("kubelet\0--config\0/etc/k/good.yaml\0"), Pass);
    assert_eq!(of("kubelet\0--config=/etc/k/gone.yaml\0"), Unknown);
    assert_eq!(of("kubelet\0--v=2\0"), Unknown);
    assert_eq!(
        of("kubelet\0--config=/etc/k/good.yaml\0--config-dir=/etc/k/d\0"),
        Unknown
    );
    let outweighed = "kubelet\0--config=/etc/k/good.yaml\0--cpu-manager-policy=none\0";
    assert_eq!(of(outweighed), Fail);
}
