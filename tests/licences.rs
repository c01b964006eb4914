//! Every dependency may be linked into a binary under Apache-2.0, and `--sbom` lists each.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::{json, run, stderr};

const ALLOWED: [&str; 11] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "Unicode-3.0",
    "CC0-1.0",
];

/// True if an SPDX expression can be met with the allowed licences. `AND` binds tighter than `OR`; brackets nest.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    split(&expression, " OR ")
        .iter()
        .any(|any| split(any, " AND ").iter().all(|all| term(all)))
}

fn term(text: &str) -> bool {
    let text = text.trim();
    match text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => allowed(inner),
        None => ALLOWED.contains(&text),
    }
}

/// Splits at `separator` outside brackets.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= begin && text[at..].starts_with(separator) => {
                parts.push(&text[begin..at]);
                begin = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    assert!(allowed("MIT OR GPL-3.0-only") && allowed("MIT/Apache-2.0"));
    assert!(!allowed("GPL-3.0-only") && !allowed("MIT AND GPL-3.0-only"));
    assert!(allowed("(MIT OR GPL-2.0-only) AND Unicode-3.0"));
    assert!(!allowed("(MIT AND GPL-2.0-only) OR LGPL-3.0-only"));
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .output()
        .expect("cargo");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "the whole graph");
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(allowed))
        .map(|package| format!("{} ({})", package["name"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn the_list_of_parts_is_that_of_the_lock_file() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/sbom_parts.py");
    let output = Command::new("python3").arg(script).arg("--check").output();
    let output = output.expect("python3");
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Reads a list with a library of its form, which raises an error if the list is not valid.
const READERS: [(&str, &str); 2] = [
    (
        "--sbom",
        "import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
assert error is None, error",
    ),
    (
        "--sbom=spdx",
        "import json, sys
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
errors = validate_full_spdx_document(JsonLikeDictParser().parse(json.load(sys.stdin)))
assert not errors, errors",
    ),
];

#[test]
fn both_forms_of_the_list_are_valid() {
    for (option, reader) in READERS {
        let output = run(&[option]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let parts = json(&output);
        let parts = ["components", "packages"]
            .iter()
            .find_map(|name| parts[name].as_array());
        assert!(parts.is_some_and(|parts| parts.len() > 100), "{option}");
        testing::read_by_python("sbom", reader, &String::from_utf8_lossy(&output.stdout));
    }
}
