//! `triptime audit`: its screen, its exit status, its files, and the data that it does not reveal.

mod captures;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{json, run, stderr};

fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The command line for a recorded machine, run in the folder of all of them; the user's options are in its `told.toml`.
fn of_host(name: &str) -> Vec<String> {
    let mut words = ["audit", "--root", &format!("{name}/root")].map(str::to_owned).to_vec();
    let told = fs::read_to_string(hosts().join(name).join("told.toml")).unwrap_or_default();
    for line in told.lines() {
        let (key, value) = line.split_once(" = ").expect("a key and a value");
        let value = value.trim_matches(|c| "[]\"".contains(c));
        let file = format!("{name}/{value}");
        let is_file = hosts().join(&file).is_file();
        let option = match key {
            "cpus" | "profile" | "vmx" => key,
            plural => plural.trim_end_matches('s'),
        };
        words.push(format!("--{option}"));
        words.push(if is_file { file } else { value.to_owned() });
    }
    words
}

fn audit(name: &str, more: &[&str]) -> Output {
    let mut command = support::triptime();
    command.args(of_host(name)).args(more).current_dir(hosts());
    command.output().expect("the binary starts")
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(hosts()).expect("tests/hosts").flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    names
}

/// Id, outcome and live value of every finding.
fn findings(document: &Value) -> Vec<[String; 3]> {
    let all = document["findings"].as_array().expect("findings");
    let of = |finding: &Value, key: &str| finding[key].as_str().expect(key).to_owned();
    let mut found: Vec<_> = all
        .iter()
        .map(|one| ["id", "outcome", "live"].map(|key| of(one, key)))
        .collect();
    found.sort();
    found
}

#[test]
fn every_recorded_host_fits_on_one_screen() {
    for name in names() {
        let output = audit(&name, &[]);
        let screen = String::from_utf8(output.stdout.clone()).expect("UTF-8");
        let lines: Vec<&str> = screen.lines().collect();
        assert!(
            (5..=24).contains(&lines.len()),
            "{name}: {} lines\n{screen}",
            lines.len()
        );
        for line in lines {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
        assert!(screen.contains("Next ") && screen.contains("Full "), "{screen}");
    }
}

#[test]
fn the_exit_status_says_what_came_out() {
    let status = |output: Output| (output.status.code(), stderr(&output));
    assert_eq!(audit("debian-untuned", &["--summary"]).status.code(), Some(1));
    let empty = tempfile::tempdir().expect("a directory");
    let (code, said) = status(run(&["audit", "--root", text(empty.path())]));
    assert!(
        code == Some(2) && said.contains("is not the root of a machine"),
        "{said}"
    );
    // Empty folders, and etc alone, are no machine.
    for (folder, file) in [("proc", "x"), ("etc", "etc/hostname")] {
        let wrong = tempfile::tempdir().expect("a directory");
        fs::create_dir(wrong.path().join(folder)).expect("a folder");
        fs::write(wrong.path().join(file), "x").expect("a file");
        let (code, said) = status(run(&["audit", "--root", text(wrong.path()), "--summary"]));
        assert!(
            code == Some(2) && said.contains("is not the root of a machine"),
            "{folder}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (code, said) = status(run(&["audit", "--root", text(&hosts().join("kvm-guest"))]));
    assert!(
        code == Some(2) && said.contains("name ") && said.contains("kvm-guest/root"),
        "{said}"
    );
    // The mounted root of a machine that is off.
    fs::create_dir(empty.path().join("proc")).expect("a folder");
    fs::create_dir(empty.path().join("etc")).expect("a folder");
    fs::write(empty.path().join("etc/hostname"), "off\n").expect("a file");
    let unknown = run(&["audit", "--root", text(empty.path()), "--json"]);
    assert_eq!(unknown.status.code(), Some(3), "{}", stderr(&unknown));
    let document = json(&unknown);
    for [id, outcome, _] in findings(&document) {
        assert!(
            ["unknown", "not-applicable"].contains(&outcome.as_str()),
            "{id}: {outcome}"
        );
    }
    for wrong in [
        &["audit", "--root", "/nowhere/at/all"][..],
        &["audit", "--profile", "none-of-ours"],
        &["audit", "--cpus", "x"],
        &["audit", "--waivers", "/nowhere/at/all"],
    ] {
        let (code, said) = status(run(wrong));
        assert_eq!(code, Some(2), "{wrong:?}: {said}");
    }
}

/// Waives everything that matters on the tuned host: then it passes; after the last day of the waiver it fails again.
#[test]
fn waivers_hold_until_their_last_day() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("waivers.toml");
    let before = json(&audit("seapath-tuned", &["--json"]));
    let open = findings(&before)
        .into_iter()
        .filter(|[_, outcome, _]| ["fail", "warn", "unknown"].contains(&outcome.as_str()));
    let ids: Vec<String> = open.map(|[id, ..]| id).collect();
    assert!(ids.len() > 3, "{ids:?}");
    let with = |until: &str, reason: &str, ids: &[String]| {
        let one = |id: &String| {
            format!("[[waiver]]\nid = \"{id}\"\nreason = \"{reason}\"\nby = \"test\"\nuntil = \"{until}\"\n")
        };
        fs::write(&file, ids.iter().map(one).collect::<String>()).expect("a file");
        audit("seapath-tuned", &["--waivers", text(&file), "--json"])
    };
    let waived = with("9999-12-31", "accepted", &ids);
    assert_eq!(waived.status.code(), Some(0), "{}", stderr(&waived));
    let document = json(&waived);
    assert_eq!(document["answer"], "pass");
    let all = document["findings"].as_array().expect("findings");
    let reasons = all.iter().filter(|one| one["outcome"] == "waived");
    assert!(
        reasons
            .clone()
            .all(|one| one["reason"] == "accepted (by test, until 9999-12-31)")
    );
    assert_eq!(reasons.count(), ids.len());
    let ended = with("2020-01-01", "accepted", &ids);
    assert_eq!(findings(&json(&ended)), findings(&before));
    for (output, why) in [
        (with("9999-12-31", "accepted", &["no-rule".to_owned()]), "no such rule"),
        (with("9999-12-31", " ", &ids), "must not be empty"),
        (with("soon", "accepted", &ids), "until"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn the_document_has_what_its_page_says() {
    let page = fs::read_to_string(hosts().join("../../docs/formats/audit.md")).expect("the page");
    for name in names() {
        let document = json(&audit(&name, &["--json"]));
        assert_eq!(document["schema"], "triptime.audit/1");
        let finding = &document["findings"][0];
        let mut keys: Vec<&String> = [&document, finding]
            .iter()
            .flat_map(|one| one.as_object().expect("an object").keys())
            .collect();
        keys.extend(
            document["cpu_map"]
                .as_array()
                .expect("rows")
                .iter()
                .flat_map(|row| row.as_object().expect("a row").keys()),
        );
        for key in keys {
            assert!(
                page.contains(&format!("`{key}`")),
                "docs/formats/audit.md does not name {key}"
            );
        }
    }
}

/// The JUnit file has the same findings, as read by another program.
#[test]
fn the_junit_file_has_a_test_case_for_each_check() {
    let directory = tempfile::tempdir().expect("a directory");
    let junit = directory.path().join("audit.xml");
    let document = json(&audit("debian-untuned", &["--json", "--junit", text(&junit)]));
    let script = "import sys, junitparser\n\
                  xml = junitparser.JUnitXml.fromstring(sys.stdin.buffer.read())\n\
                  cases = [case for suite in xml for case in suite]\n\
                  failed = [case for case in cases if any(isinstance(r, junitparser.Failure) for r in case.result)]\n\
                  print(len(cases), len(failed))";
    let file = fs::read_to_string(&junit).expect("the file");
    let Some(read) = testing::read_by_python("the_junit_file_has_a_test_case_for_each_check", script, &file) else {
        return;
    };
    let counts: Vec<usize> = read
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let all = findings(&document);
    let matters =
        |one: &&Value| one["outcome"] == "fail" && ["major", "blocker"].iter().any(|word| one["severity"] == *word);
    let failed = document["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(matters)
        .count();
    assert_eq!(counts[0], all.len());
    assert!(counts[1] >= failed && failed > 5, "{counts:?}, {failed}");
}
