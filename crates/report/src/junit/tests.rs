//! Reads the JUnit file with an independent reader.

use super::without_result;
use crate::Report;
use crate::capacity::{Search, Tried, Wanted};
use crate::limits::Profile;
use crate::subjects::nics::samples::veth_facts;
use model::{Event, EventKind, RunView};
use serde::Deserialize;
use testing::synthetic;

/// Reads the file with junitparser; also compares the counts in the file with its cases, and refuses elements that the
/// common schemas do not know.
const READ: &str = "
import json, sys
import xml.etree.ElementTree as tree
from junitparser import JUnitXml
octets = sys.stdin.buffer.read()
ATTRIBUTES = {
    'testsuites': {'name', 'tests', 'failures', 'errors', 'time'},
    'testsuite': {'name', 'tests', 'failures', 'errors', 'skipped', 'time', 'timestamp', 'hostname'},
    'properties': set(), 'property': {'name', 'value'}, 'testcase': {'classname', 'name'},
    'failure': {'type', 'message'}, 'error': {'type', 'message'}, 'skipped': {'message'}, 'system-out': set(),
}
for element in tree.fromstring(octets).iter():
    assert set(element.attrib) <= ATTRIBUTES[element.tag], (element.tag, element.attrib)
file = JUnitXml.fromstring(octets)
suite, = file
cases = list(suite)
stated = [suite.tests, suite.failures, suite.errors, suite.skipped]
assert [file.tests, file.failures, file.errors] == stated[:3]
suite.update_statistics()
assert stated == [suite.tests, suite.failures, suite.errors, suite.skipped], stated
assert len({(case.classname, case.name) for case in cases}) == len(cases), 'two cases of one name'
def read(case):
    result = case.result[0] if case.result else None
    kind = type(result).__name__ if result else 'Pass'
    return [case.classname, case.name, kind, (result.message or '') if result else '', (result.text or '') if result else case.system_out]
print(json.dumps({'suite': suite.name, 'at': suite.timestamp, 'cases': [read(case) for case in cases],
    'properties': {one.name: one.value for one in suite.properties()}}))
";

#[derive(Debug, Deserialize)]
struct Understood {
    suite: String,
    at: Option<String>,
    /// Class, name, kind, message, text.
    cases: Vec<[String; 5]>,
    properties: std::collections::BTreeMap<String, String>,
}

impl Understood {
    fn case(&self, name: &str) -> [&str; 3] {
        let found = self.cases.iter().find(|case| case[1] == name);
        let [_, _, kind, message, text] = found.unwrap_or_else(|| panic!("no {name} in {:?}", self.cases));
        [kind, message, text]
    }

    fn count(&self, kind: &str) -> usize {
        self.cases.iter().filter(|case| case[2] == kind).count()
    }
}

/// The result of the independent reader; `None` if the test is skipped.
fn understood(text: &str) -> Option<Understood> {
    let said = testing::read_by_python("junit", READ, text)?;
    Some(serde_json::from_str(&said).expect("JSON"))
}

fn judged(run: RunView, profile: &str) -> String {
    let profile = Profile::find(profile).expect("embedded");
    Report::new(run, vec![profile]).junit().expect("a file")
}

/// A run with one series, which is within its limit or over it.
fn wakeups(max_ns: i64) -> RunView {
    synthetic::run(vec![synthetic::series("wakeup/cpu1", 100_000, max_ns, 10)])
}

#[test]
fn a_limit_that_is_kept_passes_and_one_that_was_not_measured_is_skipped() {
    let Some(file) = understood(&judged(wakeups(40_000), "substation")) else {
        return;
    };
    assert_eq!(file.suite, "triptime qualify");
    assert_eq!(file.at.as_deref(), Some("2026-11-21T02:00:00"));
    assert_eq!(file.properties["verdict"], "partial pass");
    let [kind, _, text] = file.case("wakeup.max: wakeup/cpu1");
    assert_eq!(kind, "Pass");
    assert!(
        text.contains("measured: 40.0 µs\nallowed: at most 120 µs\nsource: "),
        "{text}"
    );
    let limits = Profile::find("substation").expect("embedded").limits.len();
    assert_eq!((file.count("Pass"), file.count("Skipped")), (1, limits - 1), "{file:?}");
}

#[test]
fn a_limit_that_is_exceeded_fails_with_both_figures_and_the_source() {
    let Some(file) = understood(&judged(wakeups(130_000), "substation")) else {
        return;
    };
    let [kind, message, text] = file.case("wakeup.max: wakeup/cpu1");
    assert_eq!(kind, "Failure");
    assert!(
        message.starts_with("measured 130 µs, allowed at most 120 µs (VMware"),
        "{message}"
    );
    assert!(
        text.contains("source: VMware") && text.contains("samples over 120 µs"),
        "{text}"
    );
    assert_eq!(file.properties["verdict"], "fail");
}

#[test]
fn a_limit_in_doubt_is_an_error_that_says_the_doubt() {
    let mut run = wakeups(40_000);
    run.events.push(Event {
        at_ns: 1,
        since_ns: None,
        kind: EventKind::RtThrottled,
        text: "cpu1".into(),
        series: None,
    });
    let Some(file) = understood(&judged(run, "substation")) else {
        return;
    };
    let [kind, message, text] = file.case("wakeup.max: wakeup/cpu1");
    assert_eq!((kind, file.count("Pass")), ("Error", 0));
    assert!(
        message.contains("throttled") && text.contains("measured: 40.0 µs"),
        "{message}: {text}"
    );
}

/// A requirement that a veth cannot meet is skipped, and so is a requirement without an interface. A profile without any measured limit
/// gives no pass.
#[test]
fn requirements_alone_pass_no_run() {
    let mut run = wakeups(8_000);
    run.facts = veth_facts("v0");
    run.series.clear();
    let Some(file) = understood(&judged(run, "avb")) else {
        return;
    };
    assert_eq!(file.case("nic.eee: nic v0")[0], "Skipped");
    assert!(file.case("nic.eee: nic v0")[1].starts_with("not applicable: "));
    assert_eq!(file.case("verdict")[0], "Error");
    assert_eq!((file.count("Failure"), file.count("Error")), (0, 1), "{file:?}");
}

#[test]
fn what_is_not_judged_is_no_pass() {
    let text = Report::new(wakeups(40_000), Vec::new()).junit().expect("a file");
    let lacking = RunView {
        lacks_log: Some("windows may be missing".into()),
        ..wakeups(40_000)
    };
    let lacking = Report::new(lacking, Vec::new()).junit().expect("a file");
    let (Some(file), Some(lacking)) = (understood(&text), understood(&lacking)) else {
        return;
    };
    assert_eq!(file.cases.len(), 1);
    assert_eq!(file.case("verdict")[0], "Skipped");
    assert!(file.case("verdict")[1].contains("nothing is judged"));
    assert_eq!(lacking.case("run file")[..2], ["Error", "windows may be missing"]);
}

#[test]
fn a_search_is_judged_by_the_streams_that_were_asked_for() {
    let search = Search {
        wanted: Wanted {
            streams: 1,
            rate: 4_800,
            asdus: 1,
            relay: false,
            quantile: 0.9999,
            within_ns: 500_000,
        },
        max: 10,
        at_least: Some(5),
        tried: Vec::<Tried>::new(),
    };
    let report = Report::new(wakeups(40_000), Vec::new()).with_search(Some(search));
    let Some(file) = understood(&report.junit().expect("a file")) else {
        return;
    };
    let expected = match report.verdict().word() {
        "fail" => "Failure",
        _ => "Error",
    };
    assert_eq!(file.case("streams")[0], expected, "{file:?}");
    assert_eq!(file.cases.len(), 1);
}

/// One name looks like markup, another has characters that XML cannot contain.
#[test]
fn names_of_others_are_text() {
    let mut run = wakeups(130_000);
    run.series[0].spec.name = "wakeup/<b>\"&'\u{1b}\u{0}]]>\u{ffff}".into();
    let Some(file) = understood(&judged(run, "substation")) else {
        return;
    };
    let name = "wakeup.max: wakeup/<b>\"&'\\u{1b}\\u{0}]]>\\u{ffff}";
    assert_eq!(file.case(name)[0], "Failure");
}

#[test]
fn a_command_without_a_result_is_an_error() {
    let text = without_result("qualify", "needs root:\n\u{1b}<run it as root>").expect("a file");
    let Some(file) = understood(&text) else {
        return;
    };
    let [kind, message, _] = file.case("result");
    assert_eq!((kind, file.suite.as_str()), ("Error", "triptime qualify"));
    assert!(
        message.contains("needs root") && message.contains("<run it as root>"),
        "{message}"
    );
}
