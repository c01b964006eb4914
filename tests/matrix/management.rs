//! A management network as a condition of a matrix.

use crate::{CPUS, path, plan};
use std::path::Path;
use std::sync::PoisonError;
use support::{json, root_or_skip, run, stderr};

/// One step over one network, with only the process bus, and with an additional management network.
const MANAGED: &str = r#"
name = "managed"
what = "A second network in a few seconds, for tests"
limits = "substation"
window = "100ms"

[cpus]
housekeeping = "first"
measured = "rest"

[matrix]
networks = ["veth"]

[matrix.management]
none = {}
office = { rate = 500, bytes = 300 }

[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
receive = "block"
"#;

#[test]
fn a_management_network_is_a_condition_of_a_matrix() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    let test = "a_management_network_is_a_condition_of_a_matrix";
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (plan(directory.path(), MANAGED), path(directory.path(), "out"));
    let shown = run(&["qualify", &plan, "--show"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for part in [
        "native over veth, load none, management network office, isolation none: about",
        "office: 500 frames/s of 300 octets to each device, answered by its kernel",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    if !root_or_skip(test) {
        return;
    }
    let output = run(&["qualify", &plan, "--out", &out, "--no-flight-recorder", "--json"]);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    let document = json(&output);
    let names: Vec<&str> = document["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|cell| cell["management"].as_str())
        .collect();
    assert_eq!(names, ["none", "office"]);
    let conclusion = &document["conclusions"][0];
    assert_eq!(conclusion["differs_in"], "management", "{document}");
    let text = conclusion["text"].as_str().unwrap_or_default();
    assert!(
        text.starts_with(
            "Layer-2 round trip, management network office against none (native over veth, load none, isolation none)"
        ),
        "{text}"
    );
    let answers = |cell: &str| {
        let file = Path::new(&out).join(format!("{cell}.1.triptime"));
        let events = store::RunFile::open(&file).expect(cell).events().expect("events");
        let stopped = events
            .into_iter()
            .find(|event| event.text.starts_with("management load") && event.text.contains(" answers, "));
        stopped.map(|event| event.text)
    };
    assert_eq!(answers("native-veth-none-none-none"), None, "the process bus alone");
    let with = answers("native-veth-none-office-none").expect("counts");
    assert!(!with.contains(": 0 answers"), "{with}");
    let table = run(&["report", "--table", "matrix", &out]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("| load | management | isolation |"), "{table}");
}
