//! Rules of containers, on definitions before and after their authors' own changes, and on the container one is in.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::{finding, outcome, tree};
use crate::audit::check_definitions;
use crate::audit::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::audit::parameters::Parameters;

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/audit/tests/definitions/container");
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

/// What `id` says of a definition after these changes.
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
            // A limit of memory locks beside it would still grant the rest.
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

#[test]
fn the_cpus_of_a_pod_are_the_node_s_matter() {
    assert_eq!(says("pod.yaml", "ctr-cpuset", &[]), Unknown);
    assert_eq!(says("pod.yaml", "ctr-cpuset", &[("4000m", "3500m")]), Fail, "it floats");
    assert_eq!(says("pod.yaml", "ctr-capabilities", &[]), Pass);
    assert_eq!(says("vmi.yaml", "ctr-cpuset", &[]), NotApplicable);
    assert_eq!(says("pod.yaml", "kubevirt-rt-vm", &[]), NotApplicable);
}

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

/// Docker appends what is added, Kubernetes drops last, podman refuses.
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
    assert_eq!(quadlet("AddCapability=NET_ADMIN\nDropCapability=NET_ADMIN"), Unknown);
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

/// The inside of a container, as podman makes it on control groups of version 2.
fn inside(changes: &[(&str, &str)]) -> tempfile::TempDir {
    let stat = "9 1 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n1 0 0:30 / / rw - overlay overlay rw\n";
    let limits = "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  unlimited  unlimited  bytes\nMax realtime priority  0  0\n";
    let files = [
        ("proc/1/comm", "relay\n"),
        ("proc/self/mountinfo", stat),
        ("proc/self/cgroup", "0::/\n"),
        (
            "proc/self/status",
            "CapEff:\t0000000000804000\nCpus_allowed_list:\t4-7\n",
        ),
        ("proc/self/limits", limits),
        ("proc/self/oom_score_adj", "-900\n"),
        ("proc/sys/kernel/osrelease", "6.12.0\n"),
        ("run/.containerenv", "\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/memory.max", "max\n"),
        ("sys/fs/cgroup/memory.high", "max\n"),
        ("sys/fs/cgroup/memory.swap.max", "0\n"),
        ("sys/class/net/eth0/ifindex", "2\n"),
        ("sys/class/net/eth0/iflink", "7\n"),
        (".answers/macvlans", "[eth0]\n"),
    ];
    tree(&[&files[..], changes].concat())
}

#[test]
fn the_container_one_is_in_is_asked_from_inside() {
    for (id, path, text) in [
        (
            "ctr-cpuset",
            "proc/self/status",
            "CapEff:\t0000000000804000\nCpus_allowed_list:\t0-7\n",
        ),
        ("ctr-no-cpu-quota", "sys/fs/cgroup/cpu.max", "50000 100000\n"),
        (
            "ctr-capabilities",
            "proc/self/status",
            "CapEff:\t0000000000004000\nCpus_allowed_list:\t4-7\n",
        ),
        (
            "ctr-rt-works",
            "proc/self/status",
            "CapEff:\t0000000000004000\nCpus_allowed_list:\t4-7\n",
        ),
        ("ctr-network-path", ".answers/macvlans", "[eth1]\n"),
        ("ctr-no-time-daemon", "proc/7/comm", "chronyd\n"),
        ("ctr-memory-limits", "sys/fs/cgroup/memory.high", "1000000\n"),
    ] {
        assert_eq!(outcome(&inside(&[]), &naming(&[]), id), Pass, "{id}");
        assert_eq!(outcome(&inside(&[(path, text)]), &naming(&[]), id), Fail, "{id}");
        let garbage = outcome(&inside(&[(path, "\u{1}")]), &naming(&[]), id);
        assert!(garbage != Pass || path.contains("comm"), "{id}: {garbage:?}");
    }
}

#[test]
fn memory_of_control_groups_of_version_1() {
    let mounts =
        "9 1 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n1 0 0:30 / / rw - overlay overlay rw\n";
    let none = "9223372036854771712\n";
    let areas = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2\tpartition\t1\t0\t-2\n";
    let of = |limit: &str, with_swap: Option<&str>, soft: &str, swaps: &str| {
        let mut files = vec![
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "4:memory:/docker/x\n"),
            ("proc/swaps", swaps),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/memory.soft_limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.memsw.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.soft_limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", limit),
            ("sys/fs/cgroup/memory/docker/x/memory.soft_limit_in_bytes", soft),
        ];
        files.extend(with_swap.map(|text| ("sys/fs/cgroup/memory/docker/x/memory.memsw.limit_in_bytes", text)));
        let found = finding(&inside(&files), &naming(&[]), "ctr-memory-limits");
        (found.outcome, found.live_text())
    };
    let limit = "4294967296\n";
    let (outcome, live) = of(limit, Some(limit), none, "Filename\tType\n");
    assert_eq!(outcome, Pass, "{live}");
    assert!(live.contains("memory 4294967296"), "{live}");
    assert_eq!(of(limit, Some("8589934592\n"), none, areas).0, Fail);
    assert_eq!(of(limit, None, none, areas).0, Fail, "swap is not accounted");
    assert_eq!(of(none, Some(none), none, areas).0, Fail);
    assert_eq!(
        of(limit, Some(limit), none, areas).0,
        Unknown,
        "the kernel may still swap"
    );
    assert_eq!(of(limit, Some(limit), "1000000\n", "Filename\tType\n").0, Fail);
    assert_eq!(of("garbage\n", Some(limit), none, areas).0, Unknown);
    assert_eq!(of(limit, Some(limit), "\n", "Filename\tType\n").0, Unknown);
}

#[test]
fn a_real_time_priority_that_was_refused_is_worth_more_than_capabilities() {
    let tried = |answer| outcome(&inside(&[(".answers/fifo", answer)]), &naming(&[]), "ctr-rt-works");
    assert_eq!(tried("granted\n"), Pass);
    assert_eq!(tried("refused\n"), Fail);
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
