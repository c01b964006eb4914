//! The ways to tamper, by the part that they change.

mod evidence;
mod text;
mod trusted;

use super::bench::{Bench, NAMESPACE, ssh_keygen, unsigned};
use serde_json::Value;
use std::fs;

/// A way to tamper, and the answers that it may get.
pub(crate) struct Way<'a> {
    pub(crate) name: String,
    pub(crate) may: &'static [&'static str],
    /// Part of the answer for people.
    pub(crate) says: &'static str,
    /// Further options of `verify`.
    pub(crate) options: Vec<String>,
    /// Changes the files in the bench.
    pub(crate) by: Box<dyn Fn(&Bench) + 'a>,
}

const BROKEN: &[&str] = &["broken"];
const UNDECIDED: &[&str] = &["undecided"];
const UNREADABLE: &[&str] = &["unreadable"];
const CERTIFICATE: &str = "sat.certificate";
const RUN: &str = "sat.triptime";

/// The answers about a text that was not signed so, and about a text that is no certificate.
const NOT_SIGNED: &str = "BAD: ";
const NO_CERTIFICATE: &str = "not a certificate of triptime";

fn way<'a>(name: &str, may: &'static [&'static str], says: &'static str, by: impl Fn(&Bench) + 'a) -> Way<'a> {
    Way {
        name: name.to_owned(),
        may,
        says,
        options: Vec::new(),
        by: Box::new(by),
    }
}

/// All ways, each of another kind.
pub(crate) fn ways<'a>() -> Vec<Way<'a>> {
    [
        bits_of_the_statement(),
        signatures(),
        text::texts(),
        trusted::signed_by_a_trusted_key(),
        evidence::run_files(),
        evidence::questions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn replaced(bench: &Bench, file: &str, by: &dyn Fn(&str) -> String) {
    let text = fs::read_to_string(bench.path(file)).expect("there");
    let changed = by(&text);
    assert_ne!(text, changed, "the test changes something");
    fs::write(bench.path(file), changed).expect("written");
}

fn octets(bench: &Bench, file: &str, by: impl FnOnce(&mut Vec<u8>)) {
    let mut octets = fs::read(bench.path(file)).expect("there");
    by(&mut octets);
    fs::write(bench.path(file), octets).expect("written");
}

/// A false statement, signed by a key that the reader trusts.
pub(crate) fn signed_again(bench: &Bench, by: &dyn Fn(&str) -> String) {
    replaced(bench, CERTIFICATE, &unsigned);
    replaced(bench, CERTIFICATE, by);
    bench.sign_again(CERTIFICATE, "supplier", NAMESPACE);
}

/// The same for a statement that is changed as JSON.
fn signed_value(bench: &Bench, by: &dyn Fn(&mut Value)) {
    signed_again(bench, &|text| {
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        by(&mut value);
        serde_json::to_string_pretty(&value).expect("text") + "\n"
    });
}

/// Inverts the lowest bit of the first octet after this text.
fn flip_after(bench: &Bench, needle: &str) {
    octets(bench, CERTIFICATE, |octets| {
        let found = octets.windows(needle.len()).position(|part| part == needle.as_bytes());
        octets[found.unwrap_or_else(|| panic!("{needle}")) + needle.len()] ^= 1;
    });
}

/// A bit of each part of the statement.
fn bits_of_the_statement<'a>() -> Vec<Way<'a>> {
    let parts = [
        ("the schema", "\"schema\": \"", UNREADABLE, "its schema is"),
        ("the date", "\"issued\": \"20", BROKEN, NOT_SIGNED),
        ("the program", "\"issued_by\": \"", BROKEN, NOT_SIGNED),
        ("the verdict", "\"verdict\": \"", BROKEN, NOT_SIGNED),
        ("the decision rule", "\"decision_rule\": \"", BROKEN, NOT_SIGNED),
        (
            "a deviation",
            "\"deviations\": [\n    \"sat.triptime: ",
            BROKEN,
            NOT_SIGNED,
        ),
        ("the name of a run", "\"file\": \"", BROKEN, NOT_SIGNED),
        ("the length of a run", "\"octets\": 1", BROKEN, NOT_SIGNED),
        ("the hash of a run", "\"sha256\": \"", BROKEN, NOT_SIGNED),
        ("the limits", "allowed = \\\"", BROKEN, NOT_SIGNED),
        ("the run's ID", "\"id\": \"", BROKEN, NOT_SIGNED),
        ("a check", "\"measured\": 439", BROKEN, NOT_SIGNED),
        ("a figure", "\"max\": 439", BROKEN, NOT_SIGNED),
        ("a counter", "\"received\": 18", BROKEN, NOT_SIGNED),
        (
            "the number of events",
            "\"events\": {\n          \"note\": ",
            BROKEN,
            NOT_SIGNED,
        ),
        ("the name of a field", "\"octet", UNREADABLE, NO_CERTIFICATE),
        ("a brace", "\"runs\": [\n    ", UNREADABLE, NO_CERTIFICATE),
    ];
    let bit = |(part, needle, may, says): (&str, &'static str, _, _)| {
        way(&format!("a bit of {part}"), may, says, move |bench| {
            flip_after(bench, needle);
        })
    };
    parts.into_iter().map(bit).collect()
}

/// Changes the letter of the signature that holds this octet of its contents (PROTOCOL.sshsig of OpenSSH).
fn letter(bench: &Bench, octet: usize) {
    replaced(bench, CERTIFICATE, &|text| {
        let (statement, block) = text.split_at(unsigned(text).len());
        let begin = block.find('\n').expect("a first line") + 1;
        let letters = block[begin..]
            .char_indices()
            .filter(|(_, letter)| !letter.is_whitespace());
        let (at, old) = letters.clone().nth(octet * 8 / 6).expect("so long");
        let new = if old == 'A' { "B" } else { "A" };
        let at = begin + at;
        format!("{statement}{}{new}{}", &block[..at], &block[at + 1..])
    });
}

/// The signature block of another certificate of the same run.
fn foreign_block(bench: &Bench) -> String {
    let (limits, out) = (bench.limits("2ms"), bench.text("two.certificate"));
    let other = bench.certify(&["--key", &bench.text("supplier"), "--limits", &limits, "--out", &out]);
    assert_eq!(other.status.code(), Some(0));
    let two = fs::read_to_string(bench.path("two.certificate")).expect("there");
    two[unsigned(&two).len()..].to_owned()
}

fn signatures<'a>() -> Vec<Way<'a>> {
    let either: &[&str] = &["broken", "unreadable"];
    vec![
        way(
            "a bit of the first line of a signature",
            UNREADABLE,
            NO_CERTIFICATE,
            |bench| {
                flip_after(bench, "-----BEGIN SSH SIGN");
            },
        ),
        way(
            "a bit of the last line of a signature",
            UNREADABLE,
            "signature 1",
            |bench| {
                flip_after(bench, "-----END SSH SIGN");
            },
        ),
        way("the mark in a signature", UNREADABLE, "signature 1", |bench| {
            letter(bench, 1);
        }),
        way("the version of a signature", UNREADABLE, "signature 1", |bench| {
            letter(bench, 9);
        }),
        way("the key in a signature", either, "", |bench| letter(bench, 50)),
        way("the purpose in a signature", BROKEN, "made for", |bench| {
            letter(bench, 80);
        }),
        way("the hash in a signature", either, "", |bench| letter(bench, 100)),
        way("the signature itself", BROKEN, NOT_SIGNED, |bench| letter(bench, 170)),
        way(
            "a signature without its last letters",
            UNREADABLE,
            "signature 1",
            |bench| {
                replaced(bench, CERTIFICATE, &|text| {
                    let end = text.find("\n-----END").expect("an end");
                    text[..end - 8].to_owned() + &text[end..]
                });
            },
        ),
        way("no signature", UNDECIDED, "NONE: anybody", |bench| {
            replaced(bench, CERTIFICATE, &unsigned);
        }),
        way(
            "signed by somebody else",
            UNDECIDED,
            "of which nothing is known",
            |bench| {
                replaced(bench, "signers", &|text| {
                    text.lines().skip(1).map(|line| format!("{line}\n")).collect()
                });
            },
        ),
        way(
            "signed by a kind of key that is not checked",
            UNDECIDED,
            "not checked",
            |bench| {
                assert!(ssh_keygen(
                    bench.folder(),
                    &["-q", "-t", "rsa", "-N", "", "-f", "rsa"],
                    ""
                ));
                bench.sign_again(CERTIFICATE, "rsa", NAMESPACE);
            },
        ),
        way("signed for another purpose", BROKEN, "made for \"file\"", |bench| {
            bench.sign_again(CERTIFICATE, "supplier", "file");
        }),
        way("a signature of another certificate", BROKEN, NOT_SIGNED, |bench| {
            let block = foreign_block(bench);
            replaced(bench, CERTIFICATE, &|text| unsigned(text) + &block);
        }),
        way("a wrong signature beside the right one", BROKEN, NOT_SIGNED, |bench| {
            let block = foreign_block(bench);
            replaced(bench, CERTIFICATE, &|text| text.to_owned() + &block);
        }),
        way("text after the signature", UNREADABLE, "signature", |bench| {
            replaced(bench, CERTIFICATE, &|text| format!("{text}and more\n"));
        }),
        way(
            "the signature before the statement",
            UNREADABLE,
            NO_CERTIFICATE,
            |bench| {
                replaced(bench, CERTIFICATE, &|text| {
                    let (statement, block) = text.split_at(unsigned(text).len());
                    block.to_owned() + statement
                });
            },
        ),
    ]
}
