//! Files for compose, read together with their original file by compose-go, the library of `docker compose config`.

use super::{emitted, folder, host, open, said, text, written};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// compose-go in a small program; `None` if the test was skipped.
fn reader(test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compose");
    if !path.exists() {
        testing::skip(
            test,
            &format!("no {} (Go module compose-go): run scripts/need.sh test", path.display()),
        );
        return None;
    }
    Some(path)
}

/// Several files as one.
fn merged(reader: &Path, files: &[&Path]) -> Output {
    Command::new(reader).args(files).output().expect("the reader starts")
}

/// Typical services, with settings that contradict the wanted ones.
const SERVICES: [&str; 10] = [
    "{image: x, mem_limit: 16g, memswap_limit: 32g, cap_drop: [ALL]}",
    "{image: x, cpus: 4, mem_limit: 2g, pids_limit: 100}",
    "{image: x, privileged: true, cpu_quota: 50000, cpuset: \"0\", healthcheck: {test: [CMD, a], interval: 5s}}",
    "{image: x, network_mode: bridge, cap_add: [SYS_NICE], ulimits: {memlock: {soft: 65536, hard: 65536}, rtprio: 1}}",
    "{image: x, deploy: {resources: {limits: {cpus: \"2\", memory: 512M, pids: 5}, reservations: {memory: 256M}}}}",
    "{image: x, cpus: 1.5, deploy: {resources: {limits: {cpus: \"1.5\"}}}, cap_drop: [ALL]}",
    "{image: x, mem_limit: 1g, memswap_limit: 2g, mem_swappiness: 60, oom_score_adj: 100, networks: [default, plant]}",
    "{image: x, networks: {process-bus: {priority: 3}}, cap_drop: [NET_ADMIN], oom_kill_disable: true}",
    "{build: ., network_mode: none, command: [relay, --port, \"1\"], scale: 1, deploy: {replicas: 1}}",
    "{image: x, container_name: relay, networks: {plant: {ipv4_address: 10.1.0.2}}}",
];
const NETWORKS: &str = "networks:\n  plant: {ipam: {config: [{subnet: 10.1.0.0/24}]}}\n  process-bus: {}\n";
/// Limit of memory of a service in bytes, as the author gave it.
fn limit(service: &str) -> Option<&'static str> {
    let sizes = [
        ("mem_limit: 16g", "17179869184"),
        ("mem_limit: 2g", "2147483648"),
        ("memory: 512M, pids", "536870912"),
        ("mem_limit: 1g", "1073741824"),
    ];
    let found = sizes.iter().find(|(text, _)| service.contains(text));
    found.map(|(_, octets)| *octets)
}

/// The settings that every service must have in the end.
fn is_wanted(service: &Value, memory: Option<&str>) {
    let memory = json!(memory);
    for (key, value) in [
        ("cpuset", json!("2-3")),
        ("mem_limit", memory.clone()),
        ("memswap_limit", memory.clone()),
        ("oom_score_adj", json!(-900)),
        ("privileged", Value::Null),
        ("network_mode", Value::Null),
        ("cpus", Value::Null),
        ("cpu_quota", Value::Null),
    ] {
        assert_eq!(service[key], value, "{key}: {service:#}");
    }
    // With capabilities no limits are needed: a privileged service fails no rule of limits.
    let limits = &service["ulimits"];
    assert!(
        limits.is_null() || *limits == json!({"memlock": -1, "rtprio": 99}),
        "{service:#}"
    );
    assert!(
        service["networks"]
            .as_object()
            .is_some_and(|all| all.contains_key("process-bus")),
        "{service:#}"
    );
    let limits = &service["deploy"]["resources"]["limits"];
    assert!(
        limits["cpus"].is_null() && (limits.is_null() || limits["memory"] == memory),
        "{service:#}"
    );
    let has = |key: &str, name| service[key].as_array().is_some_and(|all| all.contains(&json!(name)));
    assert!(has("cap_add", "SYS_NICE") && has("cap_add", "IPC_LOCK"), "{service:#}");
    assert!(has("cap_drop", "NET_ADMIN"), "{service:#}");
}

#[test]
fn compose_reads_both_files_and_every_service_is_as_wanted() {
    let Some(reader) = reader("compose_reads_both_files_and_every_service_is_as_wanted") else {
        return;
    };
    for tree in ["debian-untuned", "preempt-rt-bare-metal"] {
        for service in SERVICES {
            let own = folder();
            let before = format!("services:\n  relay: {service}\n{NETWORKS}");
            let file = written(own.path(), "compose.yaml", &before);
            let tune = emitted(&host(tree), &["--container", text(&file)], "compose");
            let other = written(own.path(), "tune.yaml", &tune);
            let output = merged(&reader, &[&file, &other]);
            assert!(output.status.success(), "{service}: {}\n{tune}", said(&output));
            let whole = support::json(&output);
            is_wanted(&whole["services"]["relay"], limit(service));
            let bus = &whole["networks"]["process-bus"];
            assert_eq!(
                (&bus["driver"], &bus["driver_opts"]),
                (&json!("macvlan"), &json!({"parent": "eno1"}))
            );
            let after = written(own.path(), "merged.yaml", &whole.to_string());
            // Without a limit nobody but the author knows how much memory is enough.
            let left = match limit(service) {
                Some(_) => &[][..],
                None => &["ctr-memory-limits"],
            };
            assert_eq!(open("--container", &after, "2-3"), left, "{service}: {whole:#}");
            assert_eq!(tune.contains("no limit of memory"), !left.is_empty(), "{tune}");
            for (right, wrong) in [
                (" cpuset:", " cpusets:"),
                ("cap_add:", "cap_add: x"),
                ("\"2-3\"", "\"2-3"),
            ] {
                let other = written(own.path(), "wrong.yaml", &tune.replacen(right, wrong, 1));
                assert!(!merged(&reader, &[&file, &other]).status.success(), "{wrong} is taken");
            }
        }
    }
}

/// Compose refuses settings for a network that is made elsewhere.
#[test]
fn a_network_that_is_made_elsewhere_is_left_to_its_maker() {
    let Some(reader) = reader("a_network_that_is_made_elsewhere_is_left_to_its_maker") else {
        return;
    };
    let own = folder();
    for external in ["external: true", "external: {name: bus7}"] {
        let before = format!("services:\n  relay: {{image: x}}\nnetworks:\n  process-bus: {{{external}}}\n");
        let file = written(own.path(), "compose.yaml", &before);
        let tune = emitted(&host("debian-untuned"), &["--container", text(&file)], "compose");
        let by_hand =
            "# by hand: the network \"process-bus\" is defined elsewhere: create it with the driver \"macvlan\"";
        assert!(tune.contains(by_hand), "{tune}");
        let other = written(own.path(), "tune.yaml", &tune);
        let output = merged(&reader, &[&file, &other]);
        assert!(output.status.success(), "{external}: {}\n{tune}", said(&output));
        let joined = &support::json(&output)["services"]["relay"]["networks"];
        assert!(
            joined.as_object().is_some_and(|all| all.contains_key("process-bus")),
            "{joined}"
        );
    }
}
