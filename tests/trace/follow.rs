//! Single sampled values followed end to end: `trace --follow`.

use super::{bed, inside};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use support::{binary, json, root_or_skip};
use sys::netns::NetNs;
use testing::Running;

/// Two streams over the bridge to an application, until it is dropped.
struct Traffic {
    namespaces: [NetNs; 3],
    _others: [Running; 2],
    _directory: tempfile::TempDir,
}

impl Traffic {
    /// The svIDs begin with this text, because the beds of tests are alike and a frame is recognised by its content.
    fn start(names: &str) -> Self {
        let [publisher, switch, device] = bed();
        let directory = tempfile::tempdir().expect("tempdir");
        let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
        let (sent, received) = (path("sent.triptime"), path("received.triptime"));
        let publish = [
            "publish",
            "ts0",
            "--streams",
            "2",
            "--sv-id",
            names,
            "--rate",
            "1000",
            "-q",
            "--out",
            &sent,
        ];
        let subscribe = ["subscribe", "dut0", "-q", "--out", &received];
        let quiet = |mut command: Command| Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let others = [quiet(inside(&device, &subscribe)), quiet(inside(&publisher, &publish))];
        std::thread::sleep(std::time::Duration::from_secs(1));
        Self {
            namespaces: [publisher, switch, device],
            _others: others,
            _directory: directory,
        }
    }

    fn switch(&self) -> &NetNs {
        &self.namespaces[1]
    }
}

fn strings<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one[key].as_str().expect("a text")).collect()
}

#[test]
fn sampled_values_are_followed_into_another_namespace() {
    if !root_or_skip("sampled_values_are_followed_into_another_namespace") {
        return;
    }
    let traffic = Traffic::start("FA");
    let output = inside(traffic.switch(), &["trace", "p-ts", "--follow", "2", "--json", "-q"]).output();
    let output = output.expect("started");
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let document = json(&output);
    assert_eq!(document["schema"], "triptime.passage/1");
    assert!(strings(&document["passages"], "end").len() == 4, "{document:#}");
    assert_eq!(document["counts"]["streams"], 2);
    assert_eq!(document["counts"]["lost_events"], 0);
    for passage in document["passages"].as_array().expect("a list") {
        let events = strings(&passage["steps"], "event");
        for wanted in ["netif_receive_skb", "net_dev_start_xmit"] {
            assert!(events.contains(&wanted), "{wanted}: {passage:#}");
        }
        let interfaces = strings(&passage["steps"], "interface");
        assert!(
            interfaces.contains(&"p-dut") && interfaces.contains(&"dut0"),
            "{passage:#}"
        );
        let times = passage["steps"].as_array().expect("a list").iter();
        assert!(times.is_sorted_by_key(|step| step["since_first_ns"].as_u64()));
    }
    let owners = strings_or_null(&document["namespaces"]);
    let namespaces = document["namespaces"].as_array().expect("a list").len();
    assert_eq!(namespaces, 2, "{document:#}");
    assert!(owners.iter().any(|owner| owner.contains("triptime")), "{owners:?}");
    assert!(!document["summary"].as_array().expect("a list").is_empty());

    let shown = inside(traffic.switch(), &["trace", "p-ts", "--follow=2", "--stream", "FA02"]).output();
    let shown = shown.expect("started");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(text.matches("FA02 smpCnt ").count(), 2, "{text}");
    assert!(
        !text.contains("FA01") && text.contains("dut0@N1") && text.contains("all 2 together"),
        "{text}"
    );
    assert!(
        support::stderr(&shown).contains("listening to "),
        "{}",
        support::stderr(&shown)
    );
}

fn strings_or_null(namespaces: &Value) -> Vec<&str> {
    let list = namespaces.as_array().expect("a list");
    list.iter().filter_map(|one| one["owner"].as_str()).collect()
}

#[test]
fn two_capabilities_are_enough_to_follow() {
    if !root_or_skip("two_capabilities_are_enough_to_follow") {
        return;
    }
    let traffic = Traffic::start("FB");
    // nobody may have no way to where the program was built.
    let folder = tempfile::Builder::new()
        .prefix("triptime")
        .tempdir_in("/tmp")
        .expect("a folder");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("opened");
    let copy = folder.path().join("triptime");
    std::fs::copy(binary(), &copy).expect("a copy");
    let follow_with = |capabilities: &str| {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", traffic.switch().path().display()));
        command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        for set in ["bounding-set", "inh-caps", "ambient-caps"] {
            command.arg(format!("--{set}=-all{capabilities}"));
        }
        command
            .arg(&copy)
            .args(["trace", "p-ts", "--follow", "1", "--json", "-q"]);
        command.output().expect("started")
    };
    let output = follow_with(",+bpf,+perfmon");
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    assert_eq!(json(&output)["counts"]["followed"], 2);
    let refused = follow_with(",+bpf");
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        support::stderr(&refused).contains("needs CAP_PERFMON"),
        "{}",
        support::stderr(&refused)
    );
}

#[test]
fn what_cannot_be_followed_is_said() {
    if !root_or_skip("what_cannot_be_followed_is_said") {
        return;
    }
    let [_publisher, switch, _device] = bed();
    for (arguments, status, wanted) in [
        (
            &["p-ts", "--follow", "--duration", "300ms"][..],
            3,
            "no sampled values came to p-ts in 300 ms",
        ),
        (
            &[
                "p-ts",
                "--follow",
                "--stream",
                "MU09",
                "--smp-cnt",
                "7",
                "--duration",
                "300ms",
            ],
            3,
            "of MU09 with smpCnt 7",
        ),
        (&["p-ts", "--smp-cnt", "7"], 2, "--follow"),
        (&["p-ts", "--follow", "--live"], 2, "cannot be used with"),
        (
            &["p-ts", "--follow", "--first", "a=p-ts:queue"],
            2,
            "cannot be used with",
        ),
        (&["p-ts", "--follow", "--ptp", "auto"], 2, "cannot be used with"),
        (&["p-ts", "--follow", "0"], 2, "invalid value"),
        (&["nosuch0", "--follow"], 2, "have: "),
    ] {
        let mut all = vec!["trace"];
        all.extend_from_slice(arguments);
        let output = inside(&switch, &all).output().expect("started");
        let said = support::stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}
