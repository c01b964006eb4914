//! The latency test of an operator, in its words.

use super::{exported, out};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::{json, root_or_skip, stderr};

/// The environment of a latency test of the Node Tuning Operator: a limit that no machine keeps, one that all keep, none, and wrong values.
#[test]
fn a_latency_test_is_asked_for_by_its_environment() {
    if !root_or_skip("interop: latency test") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let measure = |name: &str, variables: &[(&str, &str)]| {
        let file = out(directory.path(), name);
        let mut command = Command::new(support::binary());
        let command = command.args(["latency-test", "cyclictest", "--quiet", "--json", "--out", &file]);
        let output = command.envs(variables.iter().copied()).output().expect("the binary");
        (output, file)
    };
    let short = ("LATENCY_TEST_RUNTIME", "1");
    let (over, file) = measure("over.triptime", &[short, ("MAXIMUM_LATENCY", "0")]);
    // Undecided beside another measurement, but never a pass.
    assert!(matches!(over.status.code(), Some(1 | 3)), "{}", stderr(&over));
    let document = json(&over);
    let measured: Vec<&str> = document["series"]
        .as_array()
        .expect("series")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(
        !measured.is_empty() && !measured.contains(&"wakeup/cpu0"),
        "the first CPU is left alone: {measured:?}"
    );
    let settings = &document["series"][0]["settings"];
    assert_eq!(
        (&settings["policy"], &settings["interval"]),
        (&"fifo:95".into(), &"1.00 ms".into()),
        "{settings}"
    );

    let findings: Value = serde_json::from_str(&exported(&file, "ansible-vpac")).expect("JSON");
    let first = &findings[0];
    assert_eq!(
        (&first["check"], &first["status"]),
        (&"latency-test.max".into(), &"fail".into()),
        "{findings}"
    );
    assert!(
        first["msg"]
            .as_str()
            .is_some_and(|msg| msg.contains("(MAXIMUM_LATENCY=0)")),
        "{findings}"
    );
    let partial = exported(&file, "asciidoc");
    assert!(
        partial.contains("|FAILED\n{set:cellbgcolor:#F08080}") && partial.contains("\n*FAILED*: "),
        "{partial}"
    );

    let (kept, _) = measure(
        "kept.triptime",
        &[
            short,
            ("MAXIMUM_LATENCY", "0"),
            ("CYCLICTEST_MAXIMUM_LATENCY", "100000000"),
        ],
    );
    assert!(matches!(kept.status.code(), Some(0 | 3)), "{}", stderr(&kept));
    let allowed = &json(&kept)["checks"][0]["allowed"];
    assert_eq!(*allowed, Value::from(99_999_999_999_u64));
    let (none, _) = measure("none.triptime", &[short]);
    assert_eq!(
        (none.status.code(), json(&none)["checks"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    for wrong in [
        ("LATENCY_TEST_RUNTIME", "1H"),
        ("LATENCY_TEST_CPU", "2"),
        ("LATENCY_TEST_CPUS", "100000"),
    ] {
        let (refused, file) = measure("wrong.triptime", &[wrong]);
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
        assert!(
            stderr(&refused).contains(wrong.0) && !Path::new(&file).exists(),
            "{}",
            stderr(&refused)
        );
    }
}
