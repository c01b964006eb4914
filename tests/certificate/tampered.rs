//! Ways to tamper with a certificate or its run, each of another kind: none is taken for the original, and each is named.

use super::bench::{Bench, outcome};
use super::ways::{Way, signed_again, ways};
use std::collections::HashSet;
use std::process::Output;
use support::{json, run, stderr};

/// The least number of kinds.
const LEAST: usize = 50;

#[test]
fn no_tampered_certificate_holds_and_each_way_is_named() {
    let original = Bench::new();
    original.certificate();
    assert_eq!(outcome(&original.verify(&[])), "holds");
    let ways = ways();
    let names: HashSet<&str> = ways.iter().map(|way| way.name.as_str()).collect();
    assert_eq!(names.len(), ways.len(), "no kind counts twice");
    assert!(ways.len() >= LEAST, "{}", ways.len());
    let wrong: Vec<String> = ways.iter().filter_map(|way| wrong(&original, way)).collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        ways.len(),
        wrong.join("\n")
    );
}

/// Tampers in a copy of the bench; returns how the answer is wrong.
fn wrong(original: &Bench, way: &Way<'_>) -> Option<String> {
    let bench = original.copy();
    (way.by)(&bench);
    let more: Vec<&str> = way.options.iter().map(String::as_str).collect();
    let answer = outcome(&bench.verify(&more));
    let shown = bench.verify_as_text(&more);
    let said = said(&shown);
    let is_named = said.contains(way.says);
    let is_good = way.may.contains(&answer.as_str()) && shown.status.code() != Some(0) && is_named;
    (!is_good).then(|| {
        format!(
            "{}: {answer}, status {:?}, wanted \"{}\" in:\n{said}",
            way.name,
            shown.status.code(),
            way.says
        )
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output)
}

#[test]
fn a_run_that_is_not_of_the_certificate_is_refused() {
    let bench = Bench::new();
    bench.certificate();
    let other = run(&[
        "verify",
        &bench.text("sat.certificate"),
        &bench.text("unjudged.triptime"),
    ]);
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("none of the runs of this certificate"),
        "{}",
        stderr(&other)
    );
}

#[test]
fn a_certificate_from_elsewhere_opens_no_other_files() {
    let bench = Bench::new();
    bench.certificate();
    signed_again(&bench, &|text| {
        text.replacen("\"file\": \"sat.triptime\"", "\"file\": \"../sat.triptime\"", 1)
    });
    let verified = json(&bench.verify(&[]));
    assert_eq!(verified["runs"][0]["file_why"], "its file is missing");
}
