use super::{ContainerSpec, HugePages, Network, config};
use serde_json::json;

pub(super) fn spec() -> ContainerSpec {
    ContainerSpec {
        program: None,
        words: vec!["wakeup".into(), "--cpus=2".into()],
        cpus: Some("0,2-3".parse().expect("CPUs")),
        network: Network::Joined("/run/netns/relay".into()),
        runs: "/srv/runs".into(),
        real_time_us: None,
        cgroup: None,
        memory: None,
        oom_score: None,
        huge_pages: None,
        latency_device: None,
    }
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let made = config(&spec());
    assert_eq!(
        made["process"]["args"],
        json!(["/usr/bin/triptime", "wakeup", "--cpus=2"])
    );
    assert_eq!(made["linux"]["resources"]["cpu"], json!({"cpus": "0,2-3"}));
    for (part, key) in [
        ("process", "oomScoreAdj"),
        ("process", "rlimits"),
        ("linux", "devices"),
        ("linux", "seccomp"),
        ("linux", "cgroupsPath"),
        ("linux", "netDevices"),
    ] {
        assert_eq!(made[part].get(key), None, "{part}.{key}");
    }
    assert_eq!(made["linux"]["resources"].get("memory"), None);
}

#[test]
fn it_holds_three_capabilities_and_no_way_to_more() {
    let made = config(&spec());
    let three = json!(["CAP_SYS_NICE", "CAP_IPC_LOCK", "CAP_NET_RAW"]);
    let held = &made["process"]["capabilities"];
    assert_eq!(
        *held,
        json!({"bounding": three, "effective": three, "permitted": three})
    );
    assert_eq!(made["process"]["noNewPrivileges"], json!(true));
}

#[test]
fn budget_device_memory_and_huge_pages_are_where_the_runtime_looks() {
    let asked = ContainerSpec {
        real_time_us: Some((400_000, 1_000_000)),
        cgroup: Some("/triptime/relay".into()),
        memory: Some(4 << 30),
        oom_score: Some(-900),
        huge_pages: HugePages::of(6 << 20),
        latency_device: Some((10, 259)),
        ..spec()
    };
    let made = config(&asked);
    let resources = &made["linux"]["resources"];
    assert_eq!(resources["cpu"]["realtimeRuntime"], json!(400_000));
    assert_eq!(
        resources["memory"],
        json!({"limit": 4_294_967_296_u64, "swap": 4_294_967_296_u64})
    );
    assert_eq!(
        resources["hugepageLimits"],
        json!([{"pageSize": "2MB", "limit": 6_291_456}])
    );
    assert_eq!(made["linux"]["devices"][0]["minor"], json!(259));
    assert_eq!(
        resources["devices"],
        json!([
            {"allow": false, "access": "rwm"},
            {"allow": true, "type": "c", "major": 10, "minor": 259, "access": "rw"}
        ])
    );
    assert_eq!(made["process"]["oomScoreAdj"], json!(-900));
    assert_eq!(made["linux"]["cgroupsPath"], json!("/triptime/relay"));
}

#[test]
fn each_network_has_its_namespace() {
    let of = |network| {
        let made = config(&ContainerSpec { network, ..spec() });
        let all = made["linux"]["namespaces"].as_array().expect("namespaces").clone();
        let network = all.into_iter().find(|one| one["type"] == "network");
        (
            network,
            made["linux"].get("netDevices").cloned(),
            made["ociVersion"].clone(),
        )
    };
    assert_eq!(of(Network::Host), (None, None, json!("1.0.2")));
    assert_eq!(
        of(Network::Own),
        (Some(json!({"type": "network"})), None, json!("1.0.2"))
    );
    let joined = json!({"type": "network", "path": "/run/netns/relay"});
    assert_eq!(
        of(Network::Joined("/run/netns/relay".into())),
        (Some(joined), None, json!("1.0.2"))
    );
    let moved = (
        Some(json!({"type": "network"})),
        Some(json!({"eth1": {}})),
        json!("1.3.0"),
    );
    assert_eq!(of(Network::Moved("eth1".into())), moved);
}

#[test]
fn huge_pages_are_whole_ones_and_large_where_they_can_be() {
    assert_eq!(HugePages::of(0), None);
    assert_eq!(HugePages::of(3 << 20), None);
    assert!(HugePages::of(2 << 30).is_some_and(HugePages::is_of_gib));
    assert!(!HugePages::of(512 << 20).expect("pages").is_of_gib());
}
