//! Look-ups in a definition.

use serde_json::Value as Json;

/// The value at a path of keys.
pub(super) fn at<'a>(from: &'a Json, path: &[&str]) -> Option<&'a Json> {
    let found = path.iter().try_fold(from, |value, key| value.get(key));
    found.filter(|value| !value.is_null())
}

/// Text at a path; numbers and booleans as written.
pub(super) fn text(from: &Json, path: &[&str]) -> Option<String> {
    as_text(at(from, path)?)
}

pub(super) fn as_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Number at a path, also if written as a text.
pub(super) fn number(from: &Json, path: &[&str]) -> Option<f64> {
    match at(from, path)? {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Boolean at a path, also if written as a text.
pub(super) fn flag(from: &Json, path: &[&str]) -> Option<bool> {
    match at(from, path)? {
        Json::Bool(flag) => Some(*flag),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Texts of a list at a path; empty if there is no list.
pub(super) fn texts(from: &Json, path: &[&str]) -> Vec<String> {
    let items = at(from, path).and_then(Json::as_array);
    items.into_iter().flatten().filter_map(as_text).collect()
}
