//! Settings of containers as documents that their tools merge with existing ones: a compose file for `docker compose -f`, patches for
//! `kubectl patch`, a JSON document for `config.json`.
//!
//! A rule has fragments with the same root as the document. Fragments of several rules for one object become one document, because a
//! repeated key would make the document invalid.

use std::fmt::Write;

use serde_json::{Map, Value as Json};

use super::{Open, containers, names};
use audit::facts::Subject;
use audit::template::fill;
use audit::{Audit, yaml_documents};

/// A document and its object: only documents of the same object are merged.
struct Document {
    of: String,
    /// Checks that contribute to it, each with its title and its risks.
    notes: Vec<String>,
    content: Json,
}

/// Documents for every finding that failed or warned. Empty: none of them needs one.
///
/// # Errors
/// A value that all of them need is missing, such as CPUs.
pub(super) fn emit(open: &Open<'_>, kind: &str) -> Result<String, String> {
    let Found {
        documents,
        mut left_out,
        mut by_hand,
    } = found(open, kind);
    match (documents.is_empty(), left_out.first().or(by_hand.first()), kind) {
        (true, Some(why), _) => Err(why.clone()),
        // JSON has no comments for the list of parts that are left out.
        (_, _, "oci") => match left_out.first() {
            Some(why) => Err(why.clone()),
            None => one_bundle(&documents),
        },
        _ => {
            left_out.append(&mut by_hand);
            left_out.dedup();
            Ok(written(&documents, &left_out))
        }
    }
}

/// Manual steps beside the documents.
pub(super) fn by_hand(open: &Open<'_>, kind: &str) -> Vec<String> {
    found(open, kind).by_hand
}

/// Documents, reasons for settings that are left out, and manual steps.
#[derive(Default)]
struct Found {
    documents: Vec<Document>,
    left_out: Vec<String>,
    by_hand: Vec<String>,
}

fn found(open: &Open<'_>, kind: &str) -> Found {
    let mut found = Found::default();
    for finding in open.findings() {
        let rule = &finding.rule;
        let texts = rule.remedy.emit.get(kind).into_iter().flatten();
        let notes = super::notes(open.audit, finding);
        // A name that the tool refuses is another matter.
        let is_unknown = |text: &str, part: Option<&Subject>| {
            containers::is_of_the_author(text) && names::check(kind, text, &open.audit.facts, part).is_ok()
        };
        for text in texts {
            for part in finding.open_parts() {
                let subject = open.subject(finding, part);
                match fragment(kind, text, open.audit, subject.as_ref()) {
                    Ok(mut fragment) => {
                        if let Some(part) = &subject {
                            let steps = containers::fit(kind, &open.audit.facts, part, &mut fragment);
                            found.by_hand.extend(steps);
                        }
                        let of = identity(kind, &part.part, &fragment);
                        add(&mut found.documents, &notes, of, fragment);
                    }
                    Err(why) if is_unknown(text, subject.as_ref()) => {
                        let step = format!("by hand: {:?}: {why}", part.part);
                        if !found.by_hand.contains(&step) {
                            found.by_hand.push(step);
                        }
                    }
                    Err(why) => found.left_out.push(format!("{}: not set: {why}", rule.id)),
                }
            }
        }
    }
    found
}

/// A bundle has one `config.json`, and merging tools accept a single further document.
fn one_bundle(documents: &[Document]) -> Result<String, String> {
    match documents {
        [] => Ok(String::new()),
        [document] => Ok(format!("{:#}\n", document.content)),
        several => Err(format!(
            "{} bundles need changes, and each has its own config.json: name one with --container",
            several.len()
        )),
    }
}

/// A fragment with every placeholder filled. It is parsed first, because the filled-in values can be any text.
fn fragment(kind: &str, text: &str, audit: &Audit, part: Option<&Subject>) -> Result<Json, String> {
    names::check(kind, text, &audit.facts, part)?;
    let read = yaml_documents(text)?.into_iter().next();
    let read = read.ok_or("a fragment is empty")?;
    let filled = |text: &str| fill(text, &audit.facts, part).map_err(|unknown| unknown.text);
    mapped(read, &filled)
}

fn mapped(value: Json, filled: &impl Fn(&str) -> Result<String, String>) -> Result<Json, String> {
    Ok(match value {
        Json::String(text) => Json::String(filled(&text)?),
        Json::Array(items) => Json::Array(
            items
                .into_iter()
                .map(|item| mapped(item, filled))
                .collect::<Result<_, _>>()?,
        ),
        Json::Object(entries) => {
            let entries = entries
                .into_iter()
                .map(|(key, value)| Ok((filled(&key)?, mapped(value, filled)?)));
            Json::Object(entries.collect::<Result<_, String>>()?)
        }
        other => other,
    })
}

/// Compose has one file for all; objects of Kubernetes are distinguished by kind and name, bundles by their container.
fn identity(kind: &str, part: &str, fragment: &Json) -> String {
    match kind {
        "compose" => String::new(),
        "kubernetes" => format!("{} {}", fragment["kind"], fragment["metadata"]["name"]),
        _ => part.to_owned(),
    }
}

fn add(documents: &mut Vec<Document>, notes: &[String], of: String, fragment: Json) {
    let known = documents.iter().position(|known| known.of == of);
    let place = known.unwrap_or_else(|| {
        documents.push(Document {
            of,
            notes: Vec::new(),
            content: Json::Object(Map::new()),
        });
        documents.len() - 1
    });
    let document = &mut documents[place];
    if !document.notes.iter().any(|known| notes.first() == Some(known)) {
        document.notes.extend_from_slice(notes);
    }
    merge(&mut document.content, fragment);
}

/// Merges two documents. If a key has two values, the first one counts, from the more important finding. Lists contain the items of both;
/// items with the same `name` or `type` are combined.
fn merge(own: &mut Json, other: Json) {
    match (own, other) {
        (Json::Object(own), Json::Object(other)) => {
            for (key, value) in other {
                match own.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => {
                        own.insert(key, value);
                    }
                }
            }
        }
        (Json::Array(own), Json::Array(other)) => {
            for item in other {
                match own.iter_mut().find(|known| is_same(known, &item)) {
                    Some(known) => merge(known, item),
                    None => own.push(item),
                }
            }
        }
        _ => {}
    }
}

fn is_same(one: &Json, other: &Json) -> bool {
    let key = |value: &Json| value.get("name").or_else(|| value.get("type")).cloned();
    one == other || (key(one).is_some() && key(one) == key(other))
}

fn written(documents: &[Document], left_out: &[String]) -> String {
    let mut out = String::new();
    for (place, document) in documents.iter().enumerate() {
        if place > 0 {
            out.push_str("---\n");
        }
        for note in &document.notes {
            let _ = writeln!(out, "# {note}");
        }
        yaml(&document.content, 0, &mut out);
    }
    for why in left_out {
        let _ = writeln!(out, "# {}", names::on_one_line(why));
    }
    out
}

/// YAML in block style, for a person to read and change.
fn yaml(value: &Json, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                let _ = write!(out, "{indent}{}:", plain(key));
                behind(value, depth + 1, out);
            }
        }
        Json::Array(items) => {
            for item in items {
                let _ = write!(out, "{indent}-");
                behind(item, depth + 1, out);
            }
        }
        scalar => {
            let _ = writeln!(out, "{indent}{scalar}");
        }
    }
}

/// Writes the value after a key or a dash: on the same line if it is a scalar or empty.
fn behind(value: &Json, depth: usize, out: &mut String) {
    let is_block = match value {
        Json::Object(entries) => !entries.is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => false,
    };
    match is_block {
        true => {
            out.push('\n');
            yaml(value, depth, out);
        }
        false => {
            let _ = writeln!(out, " {value}");
        }
    }
}

/// A key, without quotes if all its characters are safe.
fn plain(key: &str) -> String {
    let is_plain = key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&key.to_ascii_lowercase().as_str());
    match is_plain {
        true => key.to_owned(),
        false => Json::from(key).to_string(),
    }
}
