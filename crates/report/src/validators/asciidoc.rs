//! A table in AsciiDoc with the colours and words of SEAPATH's test report. Its pipeline searches a partial for the word FAILED: a run that
//! is no pass has it in its last line.

use crate::junit::case::{Case, Outcome};
use crate::verdict::PARTIAL_PASS;
use std::fmt::Write;

/// Colours of the results in SEAPATH's report.
const GREEN: &str = "#90EE90";
const RED: &str = "#F08080";
const ORANGE: &str = "#FFA500";
const YELLOW: &str = "#F8FF19";

/// A table with a row for each case, and the verdict below it: `passed`, in capitals, if it is a whole pass and no case says otherwise, and its
/// sentence.
pub(super) fn table(title: &str, cases: &[Case], passed: &str, sentence: &str) -> String {
    let mut out = format!(
        ".{}\n[options=\"header\",cols=\"3,3,2,2,2\",frame=all,grid=all]\n|===\n|Check |Of |Measured |Allowed |Result\n",
        literal(title)
    );
    for case in cases {
        row(&mut out, case);
    }
    out += "|===\n\n";
    // A cell's colour lasts until it is unset, also in the tables that follow.
    out += "{set:cellbgcolor!}\n";
    let any = |is: fn(&Outcome) -> bool| cases.iter().any(|case| is(&case.outcome));
    // A search for FAILED alone decides there, so a pass of a part must not look like one of the whole.
    let word = if passed == PARTIAL_PASS {
        format!("FAILED ({PARTIAL_PASS})")
    } else if any(|outcome| matches!(outcome, Outcome::Failure(_))) {
        "FAILED".to_owned()
    } else if any(|outcome| matches!(outcome, Outcome::Error(_))) {
        "FAILED (inconclusive)".to_owned()
    } else if any(|outcome| *outcome == Outcome::Pass) {
        passed.to_uppercase()
    } else {
        "FAILED (nothing was judged)".to_owned()
    };
    let _ = writeln!(out, "*{word}*: {}", literal(sentence));
    out
}

fn row(out: &mut String, case: &Case) {
    let (check, of) = case.name.split_once(": ").unwrap_or((&case.name, ""));
    let (word, colour, why) = match &case.outcome {
        Outcome::Pass => ("PASS", GREEN, ""),
        Outcome::Failure(why) => ("FAILED", RED, why.as_str()),
        Outcome::Error(why) => ("INCONCLUSIVE", ORANGE, why.as_str()),
        Outcome::Skipped(why) => ("SKIPPED", YELLOW, why.as_str()),
    };
    let [measured, allowed] = case.figures.as_ref().map_or(["", ""], |[one, other]| [one, other]);
    // A doubt stands beside the figure, and any reason in its place if there is none.
    let measured = match &case.outcome {
        Outcome::Error(_) if !measured.is_empty() => format!("{measured}; in doubt: {why}"),
        _ if measured.is_empty() => why.to_owned(),
        _ => measured.to_owned(),
    };
    for cell in [check, of, &measured, allowed] {
        let _ = writeln!(out, "|{}\n{{set:cellbgcolor!}}", literal(cell));
    }
    let _ = writeln!(out, "|{word}\n{{set:cellbgcolor:{colour}}}");
}

/// The text as itself: in a passthrough, where nothing but the end of it and the end of a cell has a meaning.
fn literal(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace(']', "\\]").replace('|', "\\|");
    // A backslash at the end would escape the bracket.
    let space = if text.ends_with('\\') { " " } else { "" };
    match text.is_empty() {
        true => String::new(),
        false => format!("pass:c[{text}{space}]"),
    }
}
