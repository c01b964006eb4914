//! `site`: the form, the files that are made from it, and the plan that runs.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use support::{binary, json, run, stderr};

/// A form with some answers: two streams, and the trip time of the site.
const ANSWERS: &str = "\
site = \"Substation \\\"North\\\"\"
cpus = \"1\"
streams = \"2\"
interface = \"lo\"
relays = \"IED1LD0/LLN0$GO$gcbTrip\"
trip_within = \"5s\"
trip_source = \"Concept 7, table 4\"
";

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_a_terminal_it_prints_a_form_that_can_be_given_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let station = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/streamset/tests/data/station.scd"
    );
    let printed = run(&["site", "--scl", station]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let form = stdout(&printed);
    assert!(form.contains("#   here: "), "no GOOSE of the SCL file:\n{form}");
    let (file, site) = (folder.path().join("form.toml"), folder.path().join("north"));
    fs::write(&file, &form).expect("written");
    let (file, site) = (file.to_str().expect("text"), site.to_str().expect("text"));
    let written = run(&["site", site, "--answers", file]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let again = fs::read_to_string(folder.path().join("north/site.toml")).expect("the answers");
    // The remark of the source of a found answer is the only difference.
    let lines = |text: &str| -> Vec<String> {
        let kept = text.lines().filter(|line| !line.starts_with('#'));
        kept.map(str::to_owned).collect()
    };
    assert_eq!(lines(&again), lines(&form));
}

#[test]
fn the_plan_of_a_site_runs_and_is_judged_by_the_time_of_the_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let (answers, site) = (folder.path().join("answers.toml"), folder.path().join("north"));
    fs::write(&answers, ANSWERS).expect("written");
    let site_text = site.to_str().expect("text");
    let made = run(&["site", site_text, "--answers", answers.to_str().expect("text")]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let said = stdout(&made);
    assert!(said.contains("--goose 'IED1LD0/LLN0$GO$gcbTrip'"), "{said}");

    let (plan, about) = (site.join("plan.toml"), site.join("about.toml"));
    let (plan, about) = (plan.to_str().expect("text"), about.to_str().expect("text"));
    let out = folder.path().join("site.triptime");
    let measured = run(&[
        "qualify",
        plan,
        "--step",
        "trip",
        "--duration",
        "5s",
        "--about",
        about,
        "--out",
        out.to_str().expect("text"),
        "--json",
    ]);
    let document = json(&measured);
    let checks = document["checks"].as_array().expect("checks");
    let own = checks.iter().find(|check| check["limit"] == "site.trip");
    let own = own.unwrap_or_else(|| panic!("not judged by the site's time: {checks:#?}"));
    assert_eq!(
        (own["allowed"].as_u64(), own["source"].as_str()),
        (Some(5_000_000_000), Some("Concept 7, table 4"))
    );
    assert!(
        own["measured"].as_f64().is_some_and(|ns| ns > 0.0),
        "{own:#}\n{}",
        stderr(&measured)
    );

    // Files that a person may have changed stay.
    fs::write(site.join("plan.toml"), "mine").expect("written");
    let refused = run(&["site", site_text, "--answers", answers.to_str().expect("text")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("exists, and may have been changed by hand"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(fs::read_to_string(site.join("plan.toml")).expect("the plan"), "mine");
}

#[test]
fn a_wrong_form_is_refused_with_file_line_and_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("form.toml");
    fs::write(&file, "site = \"N\"\nstreams = \"many\"\n").expect("written");
    let refused = run(&[
        "site",
        folder.path().join("x").to_str().expect("text"),
        "--answers",
        file.to_str().expect("text"),
    ]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(
        said.contains("form.toml: line 2: streams: must be a whole number from 1 to 200"),
        "{said}"
    );
    assert!(!folder.path().join("x").exists(), "a folder was made");
}

/// Answers typed on a terminal: `script` (util-linux) gives the program one.
#[test]
fn on_a_terminal_it_asks_and_writes_what_was_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("north");
    let line = format!(
        "{} site {}",
        binary().canonicalize().expect("a path").display(),
        site.display()
    );
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script of util-linux");
    let mut keys = terminal.stdin.take().expect("a pipe");
    keys.write_all(b"North\nmoon\nvm\n\x04").expect("typed");
    drop(keys);
    let output = terminal.wait_with_output().expect("its end");
    let screen = stdout(&output);
    assert!(output.status.success(), "{screen}");
    assert!(
        screen.contains("must be one of native, container, vm, container-in-vm"),
        "{screen}"
    );
    assert!(screen.contains("Next:"), "{screen}");
    let plan = fs::read_to_string(site.join("plan.toml")).expect("a plan");
    assert!(
        plan.contains("name = \"site North\"") && plan.contains("place = \"vm\""),
        "{plan}"
    );
}
