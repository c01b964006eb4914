//! The combinations of a matrix, and the plan of each.

use super::{Cell, Isolation};
use crate::Plan;
use bed::Network;
use model::fact::CELL_PLACE;
use place::PlaceKind;

const PLAN: &str = r#"
name = "site"
what = "Two networks beside two sets of loads"
limits = "substation"
window = "1s"

[cpus]
housekeeping = "first"
measured = "rest"

[matrix]
places = ["native", "container"]
networks = ["bridge", "macvlan"]
isolation = ["none", "isolcpus"]
repetitions = 3
budget = "15m"

[matrix.loads]
memory = [{kind = "memory", size = "64MiB"}, {kind = "hackbench"}]
none = []

[[step]]
probe = "wakeup"
duration = "2s"

[[step]]
probe = "reflect"
duration = "1s"
policy = "fifo:60"

[[step.load]]
kind = "cache"
"#;

fn plan() -> Plan {
    Plan::parse("site.toml", PLAN).expect("a plan")
}

#[test]
fn cells_are_all_combinations_and_the_first_is_what_others_are_held_against() {
    let plan = plan();
    let matrix = plan.matrix.as_ref().expect("a matrix");
    let cells = matrix.cells();
    assert_eq!(cells.len(), 2 * 2 * 2 * 2);
    assert_eq!(cells[0].name(), "native-bridge-none-none");
    assert_eq!(cells[0].words(), "native over bridge, load none, isolation none");
    assert_eq!(cells[15].name(), "container-macvlan-memory-isolcpus");
    let names: std::collections::BTreeSet<String> = cells.iter().map(Cell::name).collect();
    assert_eq!(names.len(), 16);
    assert_eq!(
        (matrix.repetitions, matrix.budget.map(|budget| budget.0)),
        (3, Some(900_000_000_000))
    );
}

#[test]
fn a_cell_is_a_plan_of_its_own() {
    let cell = Cell {
        place: PlaceKind::Native,
        network: Some(Network::Macvlan),
        load: "memory".to_owned(),
        management: None,
        isolation: Isolation::None,
    };
    let text = plan().of_cell(&cell).expect("a text");
    let own = Plan::parse("cell", &text).expect("a plan");
    assert_eq!(own.name, "site native-macvlan-memory-none");
    assert!(own.matrix.is_none());
    assert_eq!(own.cell, Some(cell));
    assert_eq!(own.bed.expect("a bed").networks, [Network::Macvlan]);
    let loads: Vec<String> = own.loads.iter().map(|load| load.kind.to_string()).collect();
    assert_eq!(loads.len(), 2, "{loads:?}");
    assert_eq!((own.steps.len(), own.steps[1].common.loads.len()), (2, 1));
    assert_eq!(own.limits, "substation");
}

#[test]
fn a_management_network_is_a_condition_of_cells() {
    let sets = "[matrix.management]\nstorm = { rate = \"max\", cpus = \"rest\" }\nnone = {}\noffice = { rate = 1000, bytes = 300 }\n\n[[step]]";
    let plan = Plan::parse("site.toml", &PLAN.replacen("[[step]]", sets, 1)).expect("a plan");
    let cells = plan.matrix.as_ref().expect("a matrix").cells();
    assert_eq!(cells.len(), 16 * 3);
    assert_eq!(cells[0].name(), "native-bridge-none-none-none");
    assert_eq!(
        cells[2].words(),
        "native over bridge, load none, management network office, isolation none"
    );
    let own = |cell: &Cell| Plan::parse("cell", &plan.of_cell(cell).expect("a text")).expect("a plan");
    assert!(own(&cells[0]).management.is_none(), "the process bus alone");
    let office = own(&cells[2]);
    assert!(
        office
            .management
            .is_some_and(|table| table.words().contains("1000 frames/s of 300 octets"))
    );
    assert_eq!(office.cell.as_ref(), Some(&cells[2]));
    let facts = cells[2].facts(None);
    assert!(
        facts
            .iter()
            .any(|fact| fact.name == "management network" && fact.value.as_deref() == Ok("office"))
    );
    for (from, to, says) in [
        (
            "office =",
            "\"of/fice\" =",
            "matrix.management: \"of/fice\" is part of the names of files",
        ),
        ("rate = 1000, ", "", "matrix.management.office.rate: missing"),
        ("rate = 1000", "rates = 1000", "did you mean `rate`?"),
        ("bytes = 300", "bytes = 1515", "matrix.management.office.bytes: 1515"),
        (
            "[matrix]\n",
            "[management]\nrate = 1\n\n[matrix]\n",
            "write matrix.management",
        ),
    ] {
        let text = plan.text.replacen(from, to, 1);
        assert_ne!(text, plan.text, "{from}");
        let refused = Plan::parse("site.toml", &text).expect_err(says).to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn a_matrix_without_keys_is_one_cell() {
    let matrix = PLAN.split("[matrix]").next().expect("its head").to_owned()
        + "[matrix]\n\n[[step]]\nprobe = \"wakeup\"\nduration = \"2s\"\n";
    let plan = Plan::parse("site.toml", &matrix).expect("a plan");
    let cells = plan.matrix.expect("a matrix").cells();
    assert_eq!(cells.iter().map(Cell::name).collect::<Vec<_>>(), ["native-none-none"]);
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    for (from, to, says) in [
        (
            "\"native\", \"container\"",
            "\"native\", \"native\"",
            "native is listed twice",
        ),
        (
            "\"bridge\", \"macvlan\"",
            "\"bridge\", \"hub\"",
            "unknown variant `hub`",
        ),
        ("\"none\", \"isolcpus\"", "", "no isolation"),
        ("repetitions = 3", "repetitions = 0", "no repetition"),
        ("repetitions = 3", "repetition = 3", "did you mean `repetitions`"),
        ("none = []", "\"no/ne\" = []", "part of the names of files"),
        ("none = []", "none = [{kind = \"memories\"}]", "memories"),
        (
            "[matrix]\n",
            "[[load]]\nkind = \"memory\"\n\n[matrix]\n",
            "matrix.loads",
        ),
        (
            "[matrix]\n",
            "[bed]\nnetworks = [\"veth\"]\n\n[matrix]\n",
            "matrix.networks",
        ),
        ("policy = \"fifo:60\"", "policy = \"fifo:60\"\nreceive = \"spin\"", ""),
    ] {
        assert!(PLAN.contains(from), "{from}");
        let changed = PLAN.replace(from, to);
        match says {
            "" => drop(Plan::parse("site.toml", &changed).expect("spinning is possible over a bridge")),
            _ => {
                let refused = Plan::parse("site.toml", &changed)
                    .expect_err("must be refused")
                    .to_string();
                assert!(refused.contains(says), "{refused}");
            }
        }
    }
    let spins = PLAN.replace("policy = \"fifo:60\"", "policy = \"fifo:60\"\nreceive = \"spin\"");
    let refused = Plan::parse("site.toml", &spins.replace("macvlan", "tap")).expect_err("a switch in user space");
    assert!(refused.to_string().contains("cell native-tap-none-none"), "{refused}");
}

#[test]
fn a_runtime_that_was_named_is_part_of_a_place_with_containers_only() {
    let of = |place, runtime| {
        let cell = Cell {
            place,
            network: None,
            load: "none".to_owned(),
            management: None,
            isolation: Isolation::None,
        };
        CELL_PLACE.of(&cell.facts(runtime)).expect("a place")
    };
    assert_eq!(of(PlaceKind::Native, Some("runc")), "native");
    assert_eq!(of(PlaceKind::Vm, Some("runc")), "vm");
    assert_eq!(of(PlaceKind::Container, None), "container");
    assert_eq!(of(PlaceKind::Container, Some("runc")), "container (runc)");
    assert_eq!(of(PlaceKind::ContainerInVm, Some("crun")), "container-in-vm (crun)");
}
