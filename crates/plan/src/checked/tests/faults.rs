//! Faults of frames that a plan names.

use super::Plan;

/// A plan with these faults.
fn faulty(faults: &str, more: &str) -> String {
    format!(
        r#"
name = "faults"
what = "Every fault is counted"
limits = "substation"
window = "500ms"
{faults}
[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "other"
{more}
"#
    )
}

#[test]
fn a_plan_names_its_faults() {
    let faults = r#"
fault_seed = 7
[[fault]]
kind = "drop"
to = "device"
every = 100

[[fault]]
kind = "delay"
to = "test-set"
numbers = [3, 5]
time = "3ms"

[[fault]]
kind = "corrupt"
to = "device"
chance = 0.01
ether_type = 0x88ba
offset = 20
"#;
    let plan = Plan::parse("site.toml", &faulty(faults, "")).expect("a plan");
    let said: Vec<String> = plan.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "drop one frame in 100 to the device",
            "delay 2 chosen frames to the test set",
            "corrupt frames by a chance of 0.01 of type 0x88ba to the device"
        ]
    );
    assert_eq!(plan.fault_seed, 7);
}

#[test]
fn a_fault_that_cannot_be_is_refused() {
    let refusal = |keys: &str, more: &str| {
        let text = faulty(&format!("[[fault]]\n{keys}\n"), more);
        Plan::parse("site.toml", &text).expect_err(keys).to_string()
    };
    for (keys, says) in [
        ("kind = \"lose\"\nto = \"device\"", "unknown variant `lose`"),
        ("kind = \"drop\"", "missing field `to`"),
        ("kind = \"drop\"\nto = \"device\"", "needs one of every"),
        ("kind = \"drop\"\nto = \"device\"\nevery = 0", "needs one of every"),
        (
            "kind = \"drop\"\nto = \"device\"\nevery = 2\nchance = 0.5",
            "needs one of every",
        ),
        ("kind = \"drop\"\nto = \"device\"\nchance = 2.0", "0.000001 to 1"),
        ("kind = \"drop\"\nto = \"device\"\nnumbers = [0]", "from 1"),
        ("kind = \"drop\"\nto = \"device\"\nnumbers = []", "at least one"),
        ("kind = \"drop\"\nto = \"device\"\nchance = 1e-7", "0.000001 to 1"),
        ("kind = \"drop\"\nto = \"device\"\nchance = 0.0", "0.000001 to 1"),
        ("kind = \"delay\"\nto = \"device\"\nevery = 2", "needs time = "),
        (
            "kind = \"delay\"\nto = \"device\"\nevery = 2\ntime = \"0s\"",
            "time = \"3ms\" (more than 0)",
        ),
        (
            "kind = \"corrupt\"\nto = \"device\"\nevery = 2\noffset = 20\nbits = 0",
            "needs bits = 1 (1 to 255: a mask)",
        ),
        ("kind = \"hold-back\"\nto = \"device\"\nevery = 2", "needs frames = 1"),
        ("kind = \"corrupt\"\nto = \"device\"\nevery = 2", "needs offset = "),
        (
            "kind = \"drop\"\nto = \"device\"\nevery = 2\nbits = 1",
            "\"drop\" has no key bits",
        ),
    ] {
        let refused = refusal(keys, "");
        assert!(refused.contains(says), "{keys}: {refused}");
    }
    let drop = "kind = \"drop\"\nto = \"device\"\nevery = 2";
    assert!(refusal(drop, "receive = \"spin\"").contains("use \"block\""));
    let networks = format!("{drop}\n[bed]\nnetworks = [\"veth\"]");
    assert!(refusal(&networks, "").contains("leave [bed] out"));
}
