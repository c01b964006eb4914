//! Repairs cyclictest's JSON where it is invalid: a mean over no cycle is `nan`, and strings (the command line) are not
//! escaped. The repair relies on one key per line.

/// The text with `nan` as `null`, and with strings escaped. Line numbers stay.
pub(super) fn repaired(json: &str) -> String {
    let lines: Vec<String> = json.split('\n').map(line).collect();
    lines.join("\n")
}

fn line(text: &str) -> String {
    let Some((key, value)) = text.split_once("\": ") else {
        return text.to_owned();
    };
    let (value, comma) = value.strip_suffix(',').map_or((value, ""), |value| (value, ","));
    let value = match value.trim_start_matches('-').to_ascii_lowercase().as_str() {
        "nan" | "inf" => "null".to_owned(),
        _ => string(value).unwrap_or_else(|| value.to_owned()),
    };
    format!("{key}\": {value}{comma}")
}

/// A quoted value with what is between its outer quotes escaped.
fn string(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    serde_json::to_string(inner).ok()
}
