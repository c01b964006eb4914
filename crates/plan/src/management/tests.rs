//! Keys of the table, refused values, and the CPUs that the traffic uses.

use crate::{Named, Plan};
use host::CpuFacts;
use place::PlaceKind;

const PLAN: &str = r#"
name = "site"
what = "A round trip beside a management network"
limits = "substation"
window = "1s"

[cpus]
housekeeping = "first"
measured = "rest"

[management]
rate = 1000
bytes = 300

[[step]]
probe = "reflect"
duration = "1s"
policy = "fifo:60"
"#;

fn facts() -> CpuFacts {
    CpuFacts {
        online: "0-3".parse().expect("a list"),
        ..CpuFacts::default()
    }
}

/// The plan's texts about its loads and their CPUs, with the device in such a place.
fn said(text: &str, place: PlaceKind) -> Result<(Vec<String>, Vec<String>), String> {
    let mut plan = Plan::parse("site.toml", text).map_err(|error| error.to_string())?;
    plan.place = place;
    let roles = plan
        .roles(&facts(), &Named::default())
        .map_err(|error| error.to_string())?;
    plan.check_beside(&facts(), &roles).map_err(|error| error.to_string())?;
    let outline = plan.outline(&facts(), &roles).map_err(|error| error.to_string())?;
    Ok((outline.loads, roles.notes))
}

#[test]
fn it_runs_where_a_well_kept_host_has_it_unless_it_is_told_otherwise() {
    let on = |more: &str, place| {
        let (loads, notes) = said(&PLAN.replace("bytes = 300", more), place).expect("a plan");
        (loads.concat(), notes.concat())
    };
    let (load, notes) = on("bytes = 300", PlaceKind::Native);
    assert_eq!(
        load,
        "management network: 1000 frames/s of 300 octets to each device, answered by its kernel, on cpu 0"
    );
    assert_eq!(notes, "");
    let (load, notes) = on("cpus = \"rest\"", PlaceKind::Container);
    assert!(
        load.contains("of 1514 octets") && load.ends_with("on cpu 1-3"),
        "{load}"
    );
    assert!(
        notes.contains("cpu 1-3: carries a load of its own, judged ones among them"),
        "{notes}"
    );
    for (more, cpus) in [
        ("", "0"),
        ("cpus = \"first\"", "0"),
        ("cpus = \"rest\"", "1"),
        ("cpus = \"1\"", "1"),
    ] {
        let (load, notes) = on(more, PlaceKind::Vm);
        assert!(load.ends_with(&format!("on cpu {cpus} of the guest")), "{more}: {load}");
        assert_eq!(notes, "", "the host's CPUs are not the guest's");
    }
    let refused = said(&PLAN.replace("bytes = 300", "cpus = \"2\""), PlaceKind::Vm).expect_err("two CPUs");
    assert!(refused.contains("management: the guest has no cpu 2"), "{refused}");
}

#[test]
fn what_cannot_be_is_refused_with_its_line_and_key() {
    for (from, to, says) in [
        ("rate = 1000", "rate = 0", "line 12, column 8"),
        (
            "rate = 1000",
            "rate = \"most\"",
            "write frames a second, 1 to 1000000, or \"max\"",
        ),
        ("rate = 1000", "", "management.rate: missing"),
        ("rate = 1000", "rates = 1000", "did you mean `rate`?"),
        ("bytes = 300", "bytes = 20", "management.bytes: 20: give 60 to 1514"),
        ("bytes = 300", "cpus = \"some\"", "line 13"),
        ("rate = 1000\nbytes = 300\n", "", "management.rate: missing"),
        ("\"reflect\"", "\"wakeup\"", "no step measures over the test bed"),
        (
            "[management]",
            "[bed]\nnetworks = [\"veth\", \"bridge\"]\n\n[management]",
            "exactly one process bus at a time",
        ),
    ] {
        assert!(PLAN.contains(from), "{from}");
        let refused = Plan::parse("site.toml", &PLAN.replace(from, to))
            .expect_err(to)
            .to_string();
        assert!(
            refused.starts_with("site.toml: ") && refused.contains(says),
            "{to}: {refused}"
        );
    }
}

#[test]
fn a_command_at_an_end_of_the_bed_says_which() {
    let with = |load: &str| {
        let text =
            format!("{PLAN}\n[[step.load]]\nkind = \"command\"\nline = \"triptime publish {{interface}}\"\n{load}\n");
        Plan::parse("site.toml", &text).map_err(|error| error.to_string())
    };
    let ends = |load: &str| {
        let plan = with(load).expect(load);
        let load = &plan.steps[0].common.loads[0];
        (load.there, load.at_test_set)
    };
    assert_eq!(
        (ends("there = true"), ends("at = \"test-set\"")),
        ((true, false), (false, true))
    );
    for (load, says) in [
        ("", "add at = \"test-set\", or there = true"),
        ("at = \"bridge\"", "at = bridge: use \"test-set\""),
        ("at = \"test-set\"\nthere = true", "a command runs at one end"),
    ] {
        let refused = with(load).expect_err(says);
        assert!(refused.contains(says), "{refused}");
    }
    let other = format!("{PLAN}\n[[load]]\nkind = \"cache\"\nat = \"test-set\"\n");
    let refused = Plan::parse("site.toml", &other).expect_err("no command").to_string();
    assert!(refused.contains("a cache load has no \"at\""), "{refused}");
    let whole = format!("{PLAN}\n[[load]]\nkind = \"command\"\nline = \"x\"\nat = \"test-set\"\n");
    assert!(Plan::parse("site.toml", &whole).is_ok());
    let alone = whole
        .replace("[management]\nrate = 1000\nbytes = 300\n", "")
        .replace("\"reflect\"\n", "\"wakeup\"\n");
    let refused = Plan::parse("site.toml", &alone).expect_err("no bed").to_string();
    assert!(refused.contains("but no step measures there"), "{refused}");
}
