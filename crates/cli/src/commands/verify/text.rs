//! A verified certificate as text.

use campaign::acceptance::{Evidenced, Found, Judged, Outcome, Question, SignatureFinding, Verified};
use certificate::Checked;
use report::verdict::Verdict;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use units::foreign;

/// Differences that are shown; the others are counted.
const SHOWN: usize = 12;

/// The answer first, then a line for each part.
pub(super) fn text(question: &Question<'_>, verified: &Verified, file: &Path) -> String {
    let statement = &question.certificate.statement;
    let mut out = format!("{}: {}\n", file.display(), answer(verified));
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "  {name:<10} {text}");
    };
    line(
        "certified",
        &format!(
            "{}, {} by triptime {}",
            statement.words(),
            foreign::shown(&statement.issued),
            foreign::shown(&statement.issued_by)
        ),
    );
    if !verified.verdict_follows {
        line("", "CHANGED: this verdict is not that of its own runs");
    }
    if !verified.rule_follows {
        line("", "CHANGED: its decision rule is not that of its own runs");
    }
    for field in verified.unknown_fields.iter().take(SHOWN) {
        let text = format!("not checked: this version knows no field \"{field}\"");
        line("field", &foreign::shown(&text));
    }
    for signature in &verified.signatures {
        line("signature", &signed(signature));
    }
    if verified.signatures.is_empty() {
        line("signature", "NONE: anybody may have written this");
    }
    for run in &verified.runs {
        for (name, text) in lines(run) {
            line(name, &text);
        }
    }
    out
}

fn answer(verified: &Verified) -> String {
    let verdict = match verified.verdict() {
        Some(Verdict::Pass) if verified.is_partial() => "PARTIAL PASS".to_owned(),
        verdict => verdict.map_or("no verdict", Verdict::word).to_uppercase(),
    };
    match verified.outcome() {
        Outcome::Holds => format!("HOLDS, {verdict}"),
        Outcome::Undecided => format!("UNDECIDED, {verdict}: a part could not be checked"),
        Outcome::Broken => format!("BROKEN, {verdict}: a part is not as certified"),
    }
}

fn signed(signature: &SignatureFinding) -> String {
    let by = signature.fingerprint.as_deref().unwrap_or("a key");
    match (&signature.checked, &signature.owner) {
        (Checked::Bad(why), _) => format!("BAD: {by}: {}", foreign::shown(why)),
        (Checked::Unchecked(why), _) => format!("not checked: {by}: {}", foreign::shown(why)),
        (Checked::Good, Some(owner)) => format!("good: {}, {by}", foreign::shown(owner)),
        (Checked::Good, None) => format!("good, but by a key of which nothing is known (--signers): {by}"),
    }
}

/// The lines of a run: its file, its verdict, and the differences.
fn lines(run: &Evidenced) -> Vec<(&'static str, String)> {
    let name = foreign::shown(&run.file);
    let file = match &run.found {
        Found::Same(_) => format!("{name}: the certified file, octet by octet"),
        Found::Other(place, why) => format!(
            "{name}: CHANGED: {}: {why}",
            foreign::shown(&place.display().to_string())
        ),
        Found::Missing => format!("{name}: MISSING: name its file after the certificate"),
    };
    let mut lines = vec![("run", file)];
    if run.is_wanted_plan == Some(false) {
        lines.push(("plan", "ANOTHER: the run did not follow the given plan".to_owned()));
    }
    match &run.judged {
        Ok(judged) => judged_lines(judged, &mut lines),
        Err(why) => lines.push(("judged", format!("not again: {}", foreign::shown(why)))),
    }
    lines
}

fn judged_lines(judged: &Judged, lines: &mut Vec<(&'static str, String)>) {
    let build = if judged.is_same_build { "" } else { ", by another build" };
    lines.push((
        "judged",
        format!("again from the raw data{build}: {}", judged.verdict.word()),
    ));
    if let Some(newer) = judged.newer {
        lines.push(("", format!("by the given limits: {}", newer.word())));
    }
    let count = judged.differences.len();
    if count == 0 {
        lines.push(("", "every figure, fact and check as certified".to_owned()));
    }
    for each in judged.differences.iter().take(SHOWN) {
        let text = format!(
            "{}: certified {}, now {}",
            each.place,
            short(&each.certified),
            short(&each.found)
        );
        lines.push(("differs", foreign::shown(&text).into_owned()));
    }
    if count > SHOWN {
        lines.push(("", format!("and {} more (--json)", count - SHOWN)));
    }
}

/// A value in one short line.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
