use super::{Layout, Tables};
use model::RunView;
use model::fact::{CONTAINER, HYPERVISOR, LABEL};
use model::setting;
use serde_json::Value;
use testing::synthetic;

fn run() -> RunView {
    let mut run = synthetic::run(vec![
        synthetic::series("wakeup/no-load/cpu0", 1_000_000, 16_900, 60),
        synthetic::series("wakeup/hackbench/cpu0", 1_000_000, 37_400, 60),
        synthetic::series("wakeup/hackbench/cpu1", 1_000_000, 12_000, 60),
    ]);
    run.facts = synthetic::facts();
    run
}

fn text(layout: Layout, run: RunView) -> String {
    Tables::of(layout, vec![(None, run)]).text()
}

#[test]
fn the_guides_columns() {
    let text = text(Layout::Vm, run());
    for part in [
        "Number of Latency Samples",
        "1,000,000",
        "Overflows* (over 120 µs)",
        "| 37 ",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn jitter_is_max_and_average_over_all_cpus_of_a_load() {
    let text = text(Layout::Jitter, run());
    let row = text.lines().find(|line| line.contains("hackbench")).expect("a row");
    assert!(row.contains("| 2 ") && row.contains("37 ("), "{row}");
    let row = text.lines().find(|line| line.contains("no-load")).expect("a row");
    assert!(row.contains("16 ("), "{row}");
}

#[test]
fn skipped_periods_are_shown_whatever_skipped_them() {
    let mut run = run();
    run.series[0].counters.missed = 4;
    let text = text(Layout::Vm, run);
    assert!(text.contains("| 0 + 4 "), "{text}");
    assert!(
        text.contains("all periods that the thread skipped, however long"),
        "{text}"
    );
}

/// Two machines, and a container on the first: two columns, and a separate row for the container.
fn three() -> Tables {
    let of = |label: &str, container: &str| {
        let mut run = run();
        run.facts.push(LABEL.fact(Ok(label.into()), "--label"));
        run.facts.retain(|fact| fact.name != CONTAINER.name);
        run.facts.push(CONTAINER.fact(Ok(container.into()), "test"));
        (None, run)
    };
    Tables::of(
        Layout::Jitter,
        vec![of("old, big", "none"), of("new <b>", "none"), of("old, big", "docker")],
    )
}

#[test]
fn each_system_has_a_column_and_what_was_not_measured_a_dash() {
    let document: Value = serde_json::from_str(&three().json()).expect("JSON");
    let table = &document["tables"][0];
    let columns: Vec<&str> = table["columns"]
        .as_array()
        .expect("heads")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(columns, ["Environment", "Load", "CPUs", "old, big", "new <b>"]);
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{table}");
    let docker: Vec<&Value> = rows
        .iter()
        .filter(|row| row[0] == "docker in a virtual machine (kvm)")
        .collect();
    assert_eq!(docker.len(), 2, "{table}");
    for row in docker {
        assert_ne!(row[3], "–", "{table}");
        assert_eq!(row[4], "–", "{table}");
    }
    assert_eq!(document["runs"][2]["environment"], "docker in a virtual machine (kvm)");
}

/// Runs on one host: native, and in containers of two runtimes that the runs started.
#[test]
fn places_of_one_host_are_rows_of_one_column() {
    let of = |runtime: Option<&str>| {
        let mut run = run();
        run.facts
            .retain(|fact| ![CONTAINER.name, HYPERVISOR.name].contains(&fact.name.as_str()));
        let none = [&CONTAINER, &HYPERVISOR].map(|of| of.fact(Ok("none".into()), "test"));
        run.facts.extend(none);
        for series in &mut run.series {
            let place = runtime.map(|runtime| format!("container: {runtime}, capabilities CAP_NET_RAW"));
            series
                .spec
                .settings
                .extend(place.map(|place| (setting::PLACE.to_owned(), place)));
        }
        (Some("gold".to_owned()), run)
    };
    let table = |runs: &[Option<&str>]| {
        let tables = Tables::of(Layout::Jitter, runs.iter().map(|runtime| of(*runtime)).collect());
        let document: Value = serde_json::from_str(&tables.json()).expect("JSON");
        document["tables"][0].clone()
    };
    let all = table(&[None, Some("docker"), Some("lxc")]);
    assert_eq!(all["columns"].as_array().map(Vec::len), Some(4), "{all}");
    let rows = all["rows"].as_array().expect("rows");
    let mut places: Vec<&str> = rows.iter().filter_map(|row| row[0].as_str()).collect();
    places.dedup();
    assert_eq!(places, ["Native", "container (docker)", "container (lxc)"], "{all}");
    assert!(rows.iter().all(|row| row[3] != "–"), "{all}");
    // Two runs in the same place do not share a row.
    let twice = table(&[Some("lxc"), Some("lxc")]);
    assert_eq!(twice["columns"].as_array().map(Vec::len), Some(5), "{twice}");
}

#[test]
fn csv_quotes_what_it_must_and_the_page_escapes() {
    let csv = three().csv();
    assert!(
        csv.starts_with("table,Environment,Load,CPUs,\"old, big\",new <b>\r\n"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let mut run = run();
    run.facts.push(LABEL.fact(Ok("=1+1".into()), "--label"));
    let formula = Tables::of(Layout::Avb, vec![(None, run)]).csv();
    assert!(formula.starts_with("table,CPU,Figure,'=1+1\r\n"), "{formula}");
    let page = three().html().expect("a page");
    assert!(page.contains("<h2>Scheduling jitter, max (avg) µs</h2>"), "{page}");
    assert!(!page.contains("new <b>") && page.contains("old, big"), "escaped");
}

#[test]
fn a_run_without_wake_ups_gives_an_empty_table() {
    let other = synthetic::run(vec![synthetic::series("rtt/reflect", 10, 90_000, 1)]);
    for layout in [Layout::Vm, Layout::Jitter, Layout::Avb, Layout::Vpc] {
        let tables = Tables::of(layout, vec![(None, other.clone())]);
        let document: Value = serde_json::from_str(&tables.json()).expect("JSON");
        assert_eq!(document["layout"], layout.word());
        assert!(
            document["tables"][0]["rows"].as_array().is_some_and(Vec::is_empty),
            "{document}"
        );
    }
}
