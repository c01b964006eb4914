//! Networks compared, end to end, on a short plan; and real ports, made of a veth pair.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use support::left::Before;
use support::{json, root_or_skip, run, series, stderr, triptime};
use sys::netns::NetNs;

const PLAN: &str = r#"
name = "short"
what = "Three networks in a few seconds, for tests"
limits = "substation"
window = "500ms"
table = "networks"

[cpus]
housekeeping = "first"
measured = "rest"

[bed]
networks = ["veth", "macvlan", "tap"]
rounds = 2

[[step]]
probe = "reflect"
duration = "500ms"
interval = "1ms"
policy = "other"
"#;

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn plan(directory: &Path, text: &str) -> String {
    let plan = path(directory, "short.toml");
    std::fs::write(&plan, text).expect("writable");
    plan
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A figure over a network, of the only system of a table.
fn cell<'a>(text: &'a str, figure: &str, network: &str) -> &'a str {
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let rows = text.lines().filter(|line| line.starts_with('|')).map(cells);
    let mut values = rows
        .filter(|row| row[0] == figure && row[1] == network)
        .map(|row| row[2]);
    values
        .next()
        .unwrap_or_else(|| panic!("no {figure} of {network} in\n{text}"))
}

#[test]
fn networks_are_measured_in_rounds_and_stand_side_by_side() {
    if !root_or_skip("networks_are_measured_in_rounds_and_stand_side_by_side") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (plan(directory.path(), PLAN), path(directory.path(), "run.triptime"));
    let before = Before::look();
    let output = run(&["qualify", &plan, "--out", &out]);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    before.nothing_is_left();
    let table = stdout(&output);
    assert_eq!(
        cell(&table, "p50 to the first", "veth"),
        "1.00",
        "the first is what the others are held against"
    );

    let document = json(&run(&["report", &out, "--json"]));
    let all = document["series"].as_array().expect("series");
    assert_eq!(
        all.len(),
        6,
        "one of the round trip and one of the turn-round over each network, not one each round"
    );
    for network in ["veth", "macvlan", "tap"] {
        let rtt = series(&document, &format!("rtt/{network}"));
        assert_eq!(rtt["expected"], 1_000, "two rounds of 500: {rtt}");
        let count = |name: &str| rtt[name].as_u64().expect("a count");
        assert_eq!(count("received") + count("lost") + count("missed"), 1_000, "{rtt}");
        assert!(count("received") > 100 && count("duplicate") == 0, "{rtt}");
        let lost = cell(&table, "lost", network);
        assert!(lost.starts_with(&format!("{} of ", count("lost"))), "{lost}");
    }
    let inventory = document["inventory"].as_array().expect("an inventory");
    let switch = inventory
        .iter()
        .find(|fact| fact["group"] == "test bed" && fact["name"] == "switch");
    assert_eq!(switch.expect("the bed's switch")["value"], "one of 3 networks");
    let html = std::fs::read_to_string(Path::new(&out).with_extension("html")).expect("an HTML report");
    assert!(html.contains(">Switch<tspan"), "the bed's picture has it");
    assert!(html.contains("<h2>Round trip by network</h2>") && html.contains("macvlan in bridge mode"));

    let again = run(&["compare", &out, &out, "--table", "networks"]);
    let again = stdout(&again);
    let head = again.lines().find(|line| line.starts_with("| Figure"));
    assert_eq!(
        head.map(|line| line.matches('|').count()),
        Some(5),
        "a column for each run: {again}"
    );
    assert_eq!(again.matches("| macvlan ").count(), 8, "a row for each figure: {again}");
}

#[test]
fn a_plan_says_how_long_all_networks_and_rounds_take() {
    let output = run(&["qualify", "networks", "--duration", "12s", "--show"]);
    let said = stdout(&output);
    assert!(
        said.contains("1 step over 5 networks in 4 rounds, 4.00 min of measuring"),
        "{said}"
    );
}

#[test]
fn ports_of_this_machine_stand_beside_the_plans_networks() {
    if !root_or_skip("ports_of_this_machine_stand_beside_the_plans_networks") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let one = PLAN
        .replace(r#""macvlan", "tap""#, "")
        .replace(r#""veth", ]"#, r#""veth"]"#);
    let (plan, out) = (plan(directory.path(), &one), path(directory.path(), "run.triptime"));
    let namespace = NetNs::create().expect("a namespace");
    let inside = || {
        sys::link::add_veth("portA", "portB", &NetNs::current()?)?;
        sys::link::set_up("portA")?;
        sys::link::set_up("portB")?;
        let qualify = |nic: &str| {
            let mut command = triptime();
            command.args(["qualify", &plan, "--out", &out, "--nic", nic]);
            command.output().expect("the binary starts")
        };
        let measured = [qualify("portA,portC"), qualify("portA"), qualify("portA,portB")];
        let route = Command::new("ip")
            .args(["route", "add", "default", "dev", "portB"])
            .status();
        assert!(route.expect("ip").success());
        let [missing, one, both] = measured;
        Ok::<_, sys::SysError>([missing, one, both, qualify("portA,portB")])
    };
    let [missing, one, both, connected] = namespace.run(inside).expect("a thread").expect("two ports");
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        stderr(&missing).contains("portC: no such interface (have: lo, "),
        "{}",
        stderr(&missing)
    );
    assert_eq!(one.status.code(), Some(2));
    assert!(stderr(&one).contains("--nic takes two ports"), "{}", stderr(&one));
    assert!(matches!(both.status.code(), Some(0 | 1 | 3)), "{}", stderr(&both));
    assert_eq!(connected.status.code(), Some(3));
    let said = stderr(&connected);
    assert!(
        said.contains("portB carries the connection to this machine") && said.contains("--disturb"),
        "{said}"
    );
    let table = stdout(&both);
    assert!(!table.is_empty(), "{}", stderr(&both));
    cell(&table, "max", "veth interface");
    assert!(
        table.contains("test set portA - network - portB (veth interface) device under test"),
        "{table}"
    );
    let document: Value = json(&run(&["report", &out, "--json"]));
    assert_eq!(series(&document, "rtt/nic")["expected"], 1_000);
}

#[test]
fn ports_are_refused_where_no_networks_are_compared() {
    let output = run(&["qualify", "quick", "--nic", "lo,lo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("compares no networks: use `triptime qualify networks --nic lo,lo`"),
        "{}",
        stderr(&output)
    );
}
