//! JSON values as YAML for people: block style, with quotes for every word that could be misread.

use serde_json::Value;
use std::fmt::Write;

/// Documents in order, each with a comment above it (without `#`; empty: none).
pub fn documents(all: &[(String, Value)]) -> String {
    let texts = all.iter().map(|(comment, value)| {
        let mut out: String = comment.lines().map(|line| format!("# {line}\n")).collect();
        block(&mut out, value, 0, false);
        out
    });
    texts.collect::<Vec<_>>().join("---\n")
}

/// A value on separate lines; `inline`: the first line already has the dash of a list.
fn block(out: &mut String, value: &Value, depth: usize, inline: bool) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            for (at, (key, value)) in map.iter().enumerate() {
                let before = if inline && at == 0 { "" } else { &indent };
                let _ = write!(out, "{before}{}:", scalar(&Value::from(key.as_str())));
                behind(out, value, depth);
            }
        }
        Value::Array(all) => {
            for (at, value) in all.iter().enumerate() {
                let before = if inline && at == 0 { "" } else { &indent };
                let _ = write!(out, "{before}-");
                match is_block(value) {
                    true => {
                        out.push(' ');
                        block(out, value, depth + 1, true);
                    }
                    false => behind(out, value, depth),
                }
            }
        }
        one => {
            let _ = writeln!(out, "{indent}{}", scalar(one));
        }
    }
}

/// A value after its key: on the same line if it is short, otherwise on separate lines.
fn behind(out: &mut String, value: &Value, depth: usize) {
    if is_block(value) {
        out.push('\n');
        block(out, value, depth + 1, false);
    } else {
        let _ = writeln!(out, " {}", short(value));
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(all) => all.iter().any(|one| one.is_object() || one.is_array()),
        _ => false,
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(scalar).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Object(_) => "{}".to_owned(),
        one => scalar(one),
    }
}

/// A text is unquoted if it starts with a letter or a slash, otherwise only has letters, digits, `-`, `_`, `.`, `/` and inner colons, and is not a
/// reserved word of YAML 1.1. JSON's quoting is valid in YAML.
fn scalar(value: &Value) -> String {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let Value::String(text) = value else {
        return value.to_string();
    };
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_./:".contains(&c))
        && !text.ends_with(':')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    match is_plain {
        true => text.clone(),
        false => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::documents;
    use serde_json::{Value, json};

    fn nested() -> Vec<(String, Value)> {
        let first = json!({
            "kind": "Job",
            "empty": {},
            "none": [],
            "words": ["wakeup", "--cpus", "2-3", "1e3", "no", "~", "a: b", "a:", "/a:b", "//", "h:1:2", "x #y", "", "\u{e9}\n\"\\", "0x1f", "2026-01-01", "12:30:00"],
            "deep": {"list": [{"name": "a", "more": [{"x": 1}, []]}, [1, [2, {}]], {"y": {"z": true}}]},
            "yes": "on",
            "8": 8.5,
        });
        vec![
            ("What it is\nin two lines".into(), first),
            (String::new(), json!({"b": null})),
        ]
    }

    #[test]
    fn every_value_is_read_back_as_it_was() {
        let script = "import sys, json, yaml\nprint(json.dumps(list(yaml.safe_load_all(sys.stdin))))";
        let text = documents(&nested());
        let test = "every_value_is_read_back_as_it_was";
        if let Some(read) = testing::read_by_python(test, script, &text) {
            let read: Value = serde_json::from_str(&read).expect("JSON");
            let wanted: Vec<Value> = nested().into_iter().map(|(_, value)| value).collect();
            assert_eq!(read, Value::from(wanted), "{text}");
        }
    }

    #[test]
    fn it_is_written_for_people() {
        let value = json!({"kind": "Job", "spec": {"args": ["wakeup", "--cpus"], "list": [{"name": "a", "size": 1}]}});
        let wanted = "# A job\nkind: Job\nspec:\n  args: [wakeup, \"--cpus\"]\n  list:\n    - name: a\n      size: 1\n";
        assert_eq!(documents(&[("A job".into(), value)]), wanted);
    }
}
