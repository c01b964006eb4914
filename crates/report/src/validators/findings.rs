//! Findings as ansible-vpac's role `validate` collects them in `validate_findings`. Its task `summary` prints each as
//! `[STATUS] check msg` and counts those with the status `ok` and those with `fail`; any other status is printed only.

use crate::junit::case::{Case, Outcome};
use serde_json::{Value, json};

/// The findings as JSON text that ends with a newline.
pub(super) fn list(cases: &[Case]) -> String {
    let all: Value = cases.iter().map(finding).collect();
    format!("{all:#}\n")
}

fn finding(case: &Case) -> Value {
    let (check, of) = case.name.split_once(": ").unwrap_or((&case.name, ""));
    let (status, text) = match &case.outcome {
        Outcome::Pass => ("ok", figures(case).unwrap_or_default()),
        Outcome::Failure(why) => ("fail", why.clone()),
        Outcome::Error(why) => ("fail", format!("inconclusive: {why}")),
        Outcome::Skipped(why) => ("skipped", why.clone()),
    };
    let parts: Vec<&str> = [of, &text].into_iter().filter(|part| !part.is_empty()).collect();
    json!({"check": check, "status": status, "msg": parts.join(": ")})
}

fn figures(case: &Case) -> Option<String> {
    let [measured, allowed] = case.figures.as_ref()?;
    Some(format!("measured {measured}, allowed {allowed}"))
}
