use super::{At, PlanAction, last_first};
use crate::Plan;

const HEAD: &str = "name = \"site\"\nwhat = \"a test\"\nlimits = \"vpac\"\nwindow = \"1s\"\n\n[cpus]\nhousekeeping = \"first\"\nmeasured = \"rest\"\n";
const STEP: &str = "\n[[step]]\nprobe = \"wakeup\"\nduration = \"100s\"\ninterval = \"1ms\"\npolicy = \"fifo:80\"\n";
const S: u64 = 1_000_000_000;

fn action(keys: &str) -> Result<PlanAction, String> {
    toml::from_str(keys).map_err(|error: toml::de::Error| error.message().to_owned())
}

fn refused(text: &str) -> String {
    Plan::parse("site", text).map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
fn times_are_shares_of_the_step_or_durations_or_a_period() {
    let due = |when: &str| {
        action(&format!("name = \"a\"\nrun = [\"true\"]\n{when}"))
            .expect("an action")
            .due_ns(100 * S)
    };
    assert_eq!(due("at = \"30%\""), [30 * S]);
    assert_eq!(due("at = [\"99.5%\", \"2s\", \"0%\"]"), [0, 2 * S, 99 * S + S / 2]);
    assert_eq!(due("every = \"30s\""), [30 * S, 60 * S, 90 * S]);
    assert_eq!(due("every = \"50s\""), [50 * S], "none at the end");
    assert_eq!(due("every = \"100s\""), [0; 0]);
    for at in ["100%", "-1%", "NaN%", "soon", "10"] {
        assert!(At::try_from(at.to_owned()).is_err(), "{at}");
    }
}

#[test]
fn a_table_with_a_mistake_is_refused_with_its_reason() {
    let whole = "name = \"a\"\nrun = [\"true\"]\nat = \"1s\"\n";
    let read = action(whole).expect("an action");
    assert_eq!((read.limit_ns, read.undo), (60 * S, None));
    for (keys, said) in [
        ("name = \"a\"\nrun = []\nat = \"1s\"", "no program"),
        ("name = \"a\"\nrun = [\"\"]\nat = \"1s\"", "no program"),
        (
            "name = \"a\"\nrun = [\"true\"]\nundo = []\nat = \"1s\"",
            "undo: no program",
        ),
        ("name = \" \"\nrun = [\"true\"]\nat = \"1s\"", "1 to 60"),
        ("name = \"a\"\nrun = [\"true\"]", "when?"),
        ("name = \"a\"\nrun = [\"true\"]\nat = []", "empty list"),
        (
            "name = \"a\"\nrun = [\"true\"]\nat = \"1s\"\nevery = \"1s\"",
            "one of them",
        ),
        ("name = \"a\"\nrun = [\"true\"]\nevery = \"10ms\"", "at least 1s"),
        ("name = \"a\"\nrun = [\"true\"]\nat = \"1s\"\nlimit = \"0s\"", "limit"),
        (
            "name = \"a\"\nrun = [\"true\"]\nat = \"1s\"\nshell = true",
            "unknown field",
        ),
        ("name = \"a\"\nrun = \"true\"\nat = \"1s\"", "sequence"),
    ] {
        let told = action(keys).expect_err(keys);
        assert!(told.contains(said), "{keys}: {told}");
    }
}

#[test]
fn an_action_that_its_steps_cannot_have_is_refused_with_its_line() {
    let plan = |of_plan: &str, of_step: &str| format!("{HEAD}{of_plan}{STEP}{of_step}");
    let one =
        |list: &str, name: &str, when: &str| format!("\n[[{list}]]\nname = \"{name}\"\nrun = [\"true\"]\n{when}\n");
    assert_eq!(refused(&plan(&one("action", "a", "at = \"99s\""), "")), "accepted");
    let late = refused(&plan("", &one("step.action", "a", "at = \"100s\"")));
    assert!(
        late.contains("line 19: at:") && late.contains("which lasts 1.67 min"),
        "{late}"
    );
    let late = refused(&plan(&one("action", "a", "every = \"200s\""), ""));
    assert!(late.contains("line 13: every:"), "{late}");
    let twice = refused(&plan(
        &one("action", "a", "at = \"1s\""),
        &one("step.action", "a", "at = \"2s\""),
    ));
    assert!(
        twice.contains("line 22: name:") && twice.contains("have this name"),
        "{twice}"
    );
    let matrix = format!(
        "{HEAD}\n[matrix]\nplaces = [\"native\"]\n{}{STEP}",
        one("action", "a", "at = \"1s\"")
    );
    assert!(
        refused(&matrix).contains("a matrix has no actions"),
        "{}",
        refused(&matrix)
    );
    let often = refused(&plan(&one("action", "a", "every = \"1s\""), "").replace("100s", "1d"));
    assert!(often.contains("86399 times"), "{often}");
}

#[test]
fn a_shorter_step_is_checked_again() {
    let text = format!("{HEAD}{STEP}\n[[step.action]]\nname = \"a\"\nrun = [\"true\"]\nat = \"60s\"\n");
    let plan = Plan::parse("site", &text).expect("a plan");
    assert!(plan.clone().lasting(61 * S).check_actions().is_ok());
    let told = plan.lasting(60 * S).check_actions().expect_err("too short").to_string();
    assert!(told.contains("after the end of the step"), "{told}");
}

#[test]
fn a_program_that_is_missing_is_named_before_anything_runs() {
    let text = format!(
        "{HEAD}{STEP}\n[[step.action]]\nname = \"a\"\nrun = [\"true\"]\nundo = [\"/no/such/program\"]\nat = \"60s\"\n"
    );
    let told = Plan::parse("site", &text)
        .expect("a plan")
        .check_programs()
        .expect_err("none");
    assert!(
        told.contains("action \"a\": /no/such/program: no such program"),
        "{told}"
    );
}

#[test]
fn commands_of_the_site_are_not_sent_to_another_place() {
    let text = format!("{HEAD}{STEP}\n[[step.action]]\nname = \"a\"\nrun = [\"true\"]\nat = \"60s\"\n");
    let plan = Plan::parse("site", &text).expect("a plan");
    assert!(plan.has_actions());
    assert!(!plan.steps[0].written.contains_key("action"));
}

#[test]
fn the_execution_that_began_last_is_undone_first() {
    let done = [Some((7, 1)), None, Some((9, 4)), Some((8, 2))];
    assert_eq!(last_first(done.into_iter()), [2, 3, 0]);
}
