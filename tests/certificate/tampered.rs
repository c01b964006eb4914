//! Fifty ways to tamper with a certificate or its run: none is taken for the original.

use super::bench::{Bench, NAMESPACE, outcome, unsigned};
use std::fs;
use support::json;

/// A way to tamper, and the answers that it may get.
struct Way<'a> {
    name: String,
    may: &'static [&'static str],
    /// Changes the files in the bench.
    by: Box<dyn Fn(&Bench) + 'a>,
}

fn way<'a>(name: impl Into<String>, may: &'static [&'static str], by: impl Fn(&Bench) + 'a) -> Way<'a> {
    Way {
        name: name.into(),
        may,
        by: Box::new(by),
    }
}

/// Inverts the lowest bit of the octet at `share` thousandths of a file's part.
fn flip(bench: &Bench, file: &str, part: std::ops::Range<usize>, share: usize) {
    let mut octets = fs::read(bench.path(file)).expect("there");
    let at = part.start + (part.len() - 1) * share / 1000;
    octets[at] ^= 1;
    fs::write(bench.path(file), octets).expect("written");
}

fn replaced(bench: &Bench, file: &str, by: &dyn Fn(&str) -> String) {
    let text = fs::read_to_string(bench.path(file)).expect("there");
    let changed = by(&text);
    assert_ne!(text, changed, "the test changes something");
    fs::write(bench.path(file), changed).expect("written");
}

/// A false statement, signed by a key that the reader trusts.
fn signed_again(bench: &Bench, by: &dyn Fn(&str) -> String) {
    replaced(bench, "sat.certificate", &unsigned);
    replaced(bench, "sat.certificate", by);
    bench.sign_again("sat.certificate", "supplier", NAMESPACE);
}

#[test]
fn no_tampered_certificate_holds() {
    let original = Bench::new();
    let text = original.certificate();
    assert_eq!(outcome(&original.verify(&[])), "holds");
    let block = unsigned(&text).len();
    let size = fs::metadata(original.path("sat.triptime")).expect("there").len() as usize;
    let ways = ways(block, text.len(), size);
    assert!(ways.len() >= 50, "{}", ways.len());
    for way in &ways {
        let bench = original.copy();
        (way.by)(&bench);
        let verified = bench.verify(&[]);
        let answer = outcome(&verified);
        assert!(way.may.contains(&answer.as_str()), "{}: {answer}", way.name);
        assert_ne!(verified.status.code(), Some(0), "{}", way.name);
    }
}

const CHANGED: &[&str] = &["broken", "unreadable"];
const BROKEN: &[&str] = &["broken"];

fn ways<'a>(block: usize, end: usize, size: usize) -> Vec<Way<'a>> {
    let in_statement = (0..16).map(|n| {
        way(format!("statement, part {n}"), CHANGED, move |bench| {
            flip(bench, "sat.certificate", 0..block, n * 62);
        })
    });
    // Within the encoded signature: its armour and its line ends say nothing.
    let encoded = block + 30..end - 35;
    let in_block = (0..10).map(|n| {
        let encoded = encoded.clone();
        // A changed name of a kind of key makes it one that is not checked here.
        way(
            format!("signature, part {n}"),
            &["broken", "unreadable", "undecided"],
            move |bench| {
                flip(bench, "sat.certificate", encoded.clone(), n * 97);
            },
        )
    });
    let in_run = (0..12).map(|n| {
        way(format!("run, part {n}"), BROKEN, move |bench| {
            flip(bench, "sat.triptime", 0..size, n * 83);
        })
    });
    in_statement.chain(in_block).chain(in_run).chain(by_hand()).collect()
}

/// Ways that somebody would think of.
fn by_hand<'a>() -> Vec<Way<'a>> {
    let edited = |from: &'static str, to: &'static str| {
        way(
            format!("{from} becomes {to}, signed again"),
            BROKEN,
            move |bench: &Bench| signed_again(bench, &|text| text.replacen(from, to, 1)),
        )
    };
    vec![
        way("run is missing", &["undecided"], |bench| {
            fs::remove_file(bench.path("sat.triptime")).expect("removed");
        }),
        way("run is cut", BROKEN, |bench| {
            cut(bench, |octets| octets.truncate(octets.len() / 2));
        }),
        way("run is empty", BROKEN, |bench| cut(bench, Vec::clear)),
        way("run has more", BROKEN, |bench| cut(bench, |octets| octets.push(0))),
        way("another run", BROKEN, |bench| {
            bench.import("other", 431, &["--limits", &bench.limits("1ms")]);
            fs::rename(bench.path("other.triptime"), bench.path("sat.triptime")).expect("moved");
        }),
        way("a log beside the run", BROKEN, |bench| {
            fs::write(bench.path("sat.triptime-wal"), "more").expect("written");
        }),
        way("no signature", &["undecided"], |bench| {
            replaced(bench, "sat.certificate", &unsigned);
        }),
        way("signed by somebody else", &["undecided"], |bench| {
            replaced(bench, "signers", &|text| {
                text.lines().skip(1).map(|line| format!("{line}\n")).collect()
            });
        }),
        way("signed for another purpose", BROKEN, |bench| {
            bench.sign_again("sat.certificate", "supplier", "file");
        }),
        way("a signature of another certificate", BROKEN, |bench| {
            let other = bench.certify(&[
                "--key",
                &bench.text("supplier"),
                "--limits",
                &bench.limits("2ms"),
                "--out",
                &bench.text("two.certificate"),
            ]);
            assert_eq!(other.status.code(), Some(0));
            let two = fs::read_to_string(bench.path("two.certificate")).expect("there");
            let block = two[unsigned(&two).len()..].to_owned();
            replaced(bench, "sat.certificate", &|text| unsigned(text) + &block);
        }),
        way("text after the signature", &["unreadable"], |bench| {
            replaced(bench, "sat.certificate", &|text| format!("{text}and more\n"));
        }),
        way("a blank in the statement", BROKEN, |bench| {
            replaced(bench, "sat.certificate", &|text| text.replacen('{', "{ ", 1));
        }),
        edited("\"verdict\": \"pass\"", "\"verdict\": \"inconclusive\""),
        edited("\"max\": 439999", "\"max\": 39999"),
        edited("\"measured\": 439999", "\"measured\": 39999"),
        edited("\"received\": 180000", "\"received\": 9180000"),
        edited("\"duration_s\": ", "\"duration_s\": 9"),
        edited("allowed = \\\"1ms\\\"", "allowed = \\\"9ms\\\""),
    ]
}

fn cut(bench: &Bench, by: impl FnOnce(&mut Vec<u8>)) {
    let mut octets = fs::read(bench.path("sat.triptime")).expect("there");
    by(&mut octets);
    fs::write(bench.path("sat.triptime"), octets).expect("written");
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
