use super::{AuditAnswer, AuditReport};
use crate::screen::{COLUMNS, LINES, Size};
use crate::terminal::width;
use audit::parameters::Parameters;
use audit::rule::Severity;
use host::Host;
use std::path::Path;

/// The audit of a recorded host.
fn of(name: &str) -> AuditReport {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/hosts")
        .join(name)
        .join("root");
    let host = Host::at(&root).expect("a recorded tree");
    let audit = audit::audit(&host, &Parameters::default(), &[]);
    AuditReport::of(&audit, name.to_owned(), None, Severity::Major)
}

const HOSTS: [&str; 4] = [
    "container-without-privileges",
    "firecracker-vm",
    "kvm-guest",
    "preempt-rt-bare-metal",
];

#[test]
fn an_audit_fits_one_screen() {
    let long = format!("triptime tune --plan --root /{}", "x".repeat(100));
    let commands = [("triptime audit --full", "triptime tune --plan"), (&long, &long)];
    for (name, (full, tune)) in HOSTS.iter().zip(commands.iter().cycle()) {
        let screen = of(name).screen(Size::LARGEST, false, full, tune);
        assert_eq!(screen.contains("with the same options"), *tune == long, "{screen}");
        let narrow = Size::of_terminal(80, 24);
        let lines: Vec<String> = of(name)
            .screen(narrow, false, full, tune)
            .lines()
            .map(str::to_owned)
            .collect();
        assert!(
            crate::screen::lines::rows_of(&lines, 80) <= narrow.lines,
            "{name}: {lines:#?}"
        );
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines.len() <= LINES, "{name}: {} lines\n{screen}", lines.len());
        assert!(lines.iter().all(|line| width(line) <= COLUMNS), "{name}:\n{screen}");
    }
}

#[test]
fn where_nothing_failed_there_is_no_plan_to_look_at() {
    let root = tempfile::tempdir().expect("a directory");
    let host = Host::at(root.path()).expect("a tree");
    let report = AuditReport::of(
        &audit::audit(&host, &Parameters::default(), &[]),
        "empty".into(),
        None,
        Severity::Major,
    );
    assert_eq!(report.answer(), AuditAnswer::Unknown);
    let screen = report.screen(Size::LARGEST, false, "triptime audit --full", "triptime tune --plan");
    assert!(!screen.contains("Next ") && screen.contains("Full "), "{screen}");
}

#[test]
fn a_command_that_fits_stands_there_whole() {
    let tune = format!("triptime tune --plan --root /{}", "x".repeat(50));
    let screen = of("firecracker-vm").screen(Size::LARGEST, false, "triptime audit --full", &tune);
    assert!(screen.contains(&format!("Next    {tune}\n")), "{screen}");
}

#[test]
fn every_face_says_what_failed() {
    let report = of("firecracker-vm");
    assert_eq!(report.answer(), AuditAnswer::Fail);
    let json: serde_json::Value = serde_json::from_str(&report.json().expect("a document")).expect("JSON");
    assert_eq!(json["schema"], "triptime.audit/1");
    let findings = json["findings"].as_array().expect("findings");
    let failed = findings.iter().find(|finding| finding["id"] == "kernel-preempt-rt");
    assert_eq!(failed.expect("the rule")["outcome"], "fail");
    assert!(
        report
            .text(false, false)
            .contains("fail      kernel-preempt-rt (blocker)")
    );
    assert!(report.summary().starts_with("triptime audit: fail: "));
    let junit = report.junit().expect("JUnit");
    assert!(junit.contains("name=\"kernel-preempt-rt\"") && junit.contains("<failure"));
    let page = report.html().expect("a page");
    assert!(page.contains("kernel-preempt-rt") && page.contains("PREEMPT_RT"));
}

#[test]
fn what_is_unknown_is_an_error_to_a_server() {
    let tree = tempfile::tempdir().expect("a directory");
    let host = Host::at(tree.path()).expect("a tree");
    let audit = audit::audit(&host, &Parameters::default(), &[]);
    let report = AuditReport::of(&audit, "nothing".to_owned(), None, Severity::Major);
    assert_eq!(report.answer(), AuditAnswer::Unknown);
    let junit = report.junit().expect("JUnit");
    assert!(junit.contains("failures=\"0\"") && junit.contains("<error"), "{junit}");
}

#[test]
fn all_faces_of_an_audit() {
    let mut report = of("container-without-privileges");
    // Two findings of each outcome; the texts of rules are tested elsewhere.
    let mut seen = Vec::new();
    report.rows.retain(|row| {
        seen.push(row.outcome);
        seen.iter().filter(|outcome| **outcome == row.outcome).count() <= 2
    });
    let page = report.html().expect("a page");
    insta::assert_snapshot!("audit_page", crate::html::tests::visible(&page));
    insta::assert_snapshot!("audit_text", report.text(false, false));
    insta::assert_snapshot!("audit_document", report.json().expect("a document"));
}
