//! A verified certificate as a JSON document (`triptime.verification/1`, see `docs/formats/certificate.md`).

use crate::failure::Failure;
use campaign::acceptance::{Evidenced, Found, Outcome, Question, SignatureFinding, Verified};
use certificate::Checked;
use report::verdict::Verdict;
use serde_json::{Value, json};
use std::io;

/// Name and number of the format.
const SCHEMA: &str = "triptime.verification/1";

/// The document, with a newline at its end.
pub(super) fn document(question: &Question<'_>, verified: &Verified) -> Result<String, Failure> {
    let document = json!({
        "schema": SCHEMA,
        "outcome": word(verified.outcome()),
        "verdict": verified.verdict().map(Verdict::word),
        "partial": verified.verdict().map(|_| verified.is_partial()),
        "certified": question.certificate.statement.verdict,
        "verdict_follows": verified.verdict_follows,
        "rule_follows": verified.rule_follows,
        "unknown_fields": verified.unknown_fields,
        "signatures": verified.signatures.iter().map(signature).collect::<Vec<_>>(),
        "runs": verified.runs.iter().map(run).collect::<Vec<_>>(),
    });
    let text =
        serde_json::to_string_pretty(&document).map_err(|error| Failure::of_document(&io::Error::from(error)))?;
    Ok(text + "\n")
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Undecided => "undecided",
        Outcome::Broken => "broken",
    }
}

fn signature(signature: &SignatureFinding) -> Value {
    let (is_good, why) = match &signature.checked {
        Checked::Good => (Some(true), None),
        Checked::Unchecked(why) => (None, Some(why)),
        Checked::Bad(why) => (Some(false), Some(why)),
    };
    json!({
        "fingerprint": signature.fingerprint,
        "owner": signature.owner,
        "good": is_good,
        "why": why,
    })
}

fn run(run: &Evidenced) -> Value {
    let (file, why) = match &run.found {
        Found::Same(place) => (Some(place), None),
        Found::Other(place, why) => (Some(place), Some(why.as_str())),
        Found::Missing => (None, Some("its file is missing")),
    };
    let judged = run.judged.as_ref();
    let differences = judged.map_or_else(|_| Vec::new(), |judged| judged.differences.clone());
    json!({
        "name": run.file,
        "outcome": word(run.outcome()),
        "file": file.map(|place| place.display().to_string()),
        "file_why": why,
        "wanted_plan": run.is_wanted_plan,
        "verdict": judged.map(|judged| judged.verdict.word()).ok(),
        "verdict_by_given_limits": judged.ok().and_then(|judged| judged.newer).map(Verdict::word),
        "same_build": judged.map(|judged| judged.is_same_build).ok(),
        "not_judged_because": judged.err(),
        "differences": differences.iter().map(|each| json!({
            "place": each.place,
            "certified": each.certified,
            "found": each.found,
        })).collect::<Vec<_>>(),
    })
}
