//! Reads both forms as their readers do: the findings with the template language of Ansible, the table with asciidoctor.

use crate::Report;
use crate::limits::Profile;
use model::fact::STEPS_LEFT_OUT;
use model::{Event, EventKind, RunView};
use std::io::Write;
use std::process::{Command, Stdio};
use testing::synthetic;
use units::foreign::Show;

fn judged(run: RunView) -> Report {
    Report::new(run, vec![Profile::find("substation").expect("embedded")])
}

fn wakeups(max_ns: i64) -> RunView {
    synthetic::run(vec![synthetic::series("wakeup/cpu1", 100_000, max_ns, 10)])
}

/// A run within its limit, with a doubt.
fn throttled() -> RunView {
    let mut run = wakeups(40_000);
    run.events.push(Event {
        at_ns: 1,
        since_ns: None,
        kind: EventKind::RtThrottled,
        text: "cpu1".into(),
        series: None,
    });
    run
}

/// The list added to the findings of a host, then printed and counted as the role's summary does.
const SUMMARY: &str = r"
import json, sys
from jinja2 import Environment
hosts = {'node1': [{'check': 'memory', 'status': 'ok', 'msg': 'HugePages_Total=8'}] + json.load(sys.stdin)}
for one in hosts['node1']:
    assert list(one) == ['check', 'status', 'msg'] and all(isinstance(value, str) for value in one.values()), one
template = '''{% for one in findings %}
[{{ one.status | upper }}] {{ one.check.ljust(20) }} {{ one.msg }}
{% endfor %}
OK: {{ findings | selectattr('status', 'eq', 'ok') | list | length }}
FAIL: {{ findings | selectattr('status', 'eq', 'fail') | list | length }}
'''
print(Environment(trim_blocks=True).from_string(template).render(findings=hosts['node1']))
";

#[test]
fn the_summary_of_ansible_vpac_prints_and_counts_the_findings() {
    for (run, line, counts) in [
        (
            wakeups(40_000),
            "[OK] wakeup.max           wakeup/cpu1: measured 40.0 µs, allowed at most 120 µs",
            "OK: 2\nFAIL: 0",
        ),
        (
            wakeups(130_000),
            "[FAIL] wakeup.max           wakeup/cpu1: measured 130 µs, allowed at most 120 µs (VMware",
            "OK: 1\nFAIL: 1",
        ),
        (
            throttled(),
            "[FAIL] wakeup.max           wakeup/cpu1: inconclusive: ",
            "OK: 1\nFAIL: 1",
        ),
    ] {
        let Some(printed) = testing::read_by_python("findings", SUMMARY, &judged(run).findings()) else {
            return;
        };
        assert!(printed.contains(line) && printed.contains(counts), "{printed}");
        assert!(
            printed.contains("[SKIPPED] "),
            "limits that were not measured: {printed}"
        );
    }
}

/// The table in a document with another one after it, as HTML; `None` after skipping the test.
fn html(partial: &str) -> Option<String> {
    let mut command = Command::new("asciidoctor");
    let command = command.args([
        "--safe-mode=safe",
        "--failure-level=INFO",
        "--no-header-footer",
        "-o",
        "-",
        "-",
    ]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        testing::skip("asciidoctor", "no asciidoctor: apt-get install asciidoctor");
        return None;
    };
    let document = format!("= Report\n\n== Wake-up\n\n{partial}\n|===\n|after\n|===\n");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(document.as_bytes()).expect("read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "asciidoctor complains about\n{partial}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Texts of the cells of a table in this HTML, with the colour of each.
fn cells(html: &str) -> Vec<(String, String)> {
    let rows = html.split("<td ").skip(1).filter_map(|cell| cell.split_once("</td>"));
    let cell = |cell: &str| {
        let colour = cell
            .split_once("background-color: ")
            .and_then(|(_, rest)| rest.split_once(';'));
        let text = cell
            .split_once("<p class=\"tableblock\">")
            .and_then(|(_, rest)| rest.split_once("</p>"));
        let of = |part: Option<(&str, &str)>| part.map_or(String::new(), |(part, _)| part.to_owned());
        (of(text), of(colour))
    };
    rows.map(|(text, _)| cell(text)).collect()
}

#[test]
fn asciidoctor_makes_a_table_whose_results_have_colours() {
    for (run, result, colour, last) in [
        (
            wakeups(40_000),
            "PASS",
            "#90EE90",
            "<strong>FAILED (partial pass)</strong>",
        ),
        (wakeups(130_000), "FAILED", "#F08080", "<strong>FAILED</strong>"),
        (
            throttled(),
            "INCONCLUSIVE",
            "#FFA500",
            "<strong>FAILED (inconclusive)</strong>",
        ),
    ] {
        let partial = judged(run).asciidoc();
        let Some(html) = html(&partial) else { return };
        let cells = cells(&html);
        let at = cells.iter().position(|(text, _)| text == "wakeup.max").expect("a row");
        let [of, measured, allowed, verdict] = &cells[at + 1..at + 5] else {
            panic!("{cells:?}");
        };
        assert_eq!((of.0.as_str(), of.1.as_str()), ("wakeup/cpu1", ""));
        let doubted = measured.0.contains(" µs; in doubt: ") && measured.0.contains("throttled");
        assert!(
            measured.0.ends_with("µs") != doubted && doubted == (result == "INCONCLUSIVE"),
            "{cells:?}"
        );
        assert_eq!(allowed.0, "at most 120 µs");
        assert_eq!((verdict.0.as_str(), verdict.1.as_str()), (result, colour));
        assert_eq!(cells.last(), Some(&("after".to_owned(), String::new())), "{html}");
        assert!(html.contains(last), "{html}");
    }
}

/// A name that somebody else chose stands in its cell as it is, whatever it means to AsciiDoc.
#[test]
fn a_name_means_nothing_to_asciidoctor() {
    for name in [
        "wakeup/a|b",
        "wakeup/]end[",
        "wakeup/{host}",
        "wakeup/*b* _i_ `c` #m#",
        "wakeup/++x++ <<ref>> ((i))",
        "wakeup/pass:[x]",
        "wakeup/2+",
        "wakeup/\\",
        "wakeup/<b>&amp;",
        "wakeup/http://x.example[y]",
    ] {
        let run = synthetic::run(vec![synthetic::series(name, 100_000, 40_000, 10)]);
        let report = judged(run);
        let shown = report.shown().judgement.checks[0].series.clone();
        let Some(html) = html(&report.asciidoc()) else { return };
        let cells = cells(&html);
        let at = cells.iter().position(|(text, _)| text == "wakeup.max").expect("a row");
        let escaped = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert_eq!(cells[at + 1].0.trim_end(), escaped, "{html}");
        assert_eq!(cells[at + 4].0, "PASS");
    }
}

#[test]
fn a_run_without_a_judgement_is_no_pass() {
    let report = Report::new(wakeups(40_000), Vec::new());
    assert!(report.asciidoc().contains("*FAILED (nothing was judged)*"));
    let findings = report.findings();
    assert!(
        findings.contains("\"skipped\"") && !findings.contains("\"ok\""),
        "{findings}"
    );
}

#[test]
fn a_part_of_a_plan_is_no_pass_and_names_the_steps_that_were_left_out() {
    let mut run = wakeups(40_000);
    let left_out = STEPS_LEFT_OUT.fact(Ok("2 of 3: trip, noise".to_owned()), "--step");
    assert!(!judged(run.clone()).findings().contains("\"fail\""));
    run.facts.push(left_out);
    let report = judged(run);
    assert!(
        report.asciidoc().contains("\n*FAILED (partial pass)*: "),
        "{}",
        report.asciidoc()
    );
    let findings: serde_json::Value = serde_json::from_str(&report.findings()).expect("JSON");
    let of_plan =
        serde_json::json!({"check": "plan", "status": "fail", "msg": "steps left out by --step: 2 of 3: trip, noise"});
    assert!(findings.as_array().expect("a list").contains(&of_plan), "{findings}");
    let junit = report.junit().expect("a file");
    assert!(
        junit.contains("failures=\"1\"") && junit.contains("steps left out by --step: 2 of 3"),
        "{junit}"
    );
}
