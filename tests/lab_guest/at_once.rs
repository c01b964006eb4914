//! Several guests measured at the same time.

use crate::kernel;
use serde_json::Value;
use support::left::Before;
use support::{json, root_or_skip, run, series, stderr};

#[test]
fn two_guests_are_measured_at_once_and_stand_in_one_table() {
    let test = "two_guests_are_measured_at_once_and_stand_in_one_table";
    let Some(kernel) = kernel(test).filter(|_| root_or_skip(test)) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run.triptime").display().to_string();
    let kernel = kernel.display().to_string();
    let before = Before::look();
    let output = run(&[
        "qualify",
        "vm-wakeup",
        "--place",
        "vm",
        "--guests",
        "2",
        "--duration",
        "2s",
        "--window",
        "1s",
        "--accel",
        "tcg",
        "--kernel",
        &kernel,
        "--out",
        &out,
        "--json",
        "--quiet",
        "--disturb",
    ]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "emulated, so undecided: {said}");
    before.nothing_is_left();
    let document = json(&output);
    let of = |name: &str| series(&document, name).clone();
    for own in [of("wakeup/guest1/cpu1"), of("wakeup/guest2/cpu1")] {
        assert!(own["received"].as_u64().is_some_and(|samples| samples > 20), "{own}");
        let place = own["settings"]["place"].as_str().unwrap_or_default();
        assert!(place.starts_with("vm: QEMU"), "{own}");
    }
    let rows: Vec<&Value> = document["tables"][0]["rows"].as_array().expect("rows").iter().collect();
    for guest in ["wakeup/guest1/cpu1", "wakeup/guest2/cpu1"] {
        let of_guest = rows.iter().filter(|row| row.to_string().contains(guest));
        assert_eq!(of_guest.count(), 5, "{rows:?}");
    }
}

#[test]
fn guests_need_a_place_in_guests() {
    let output = run(&["qualify", "vm-wakeup", "--guests", "2", "--show"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("guests = 2") && said.contains("add --place vm"), "{said}");
}
