//! Repairs cyclictest's invalid JSON: the mean of zero cycles is `nan`, and strings (the command line) are not escaped. The repair assumes one key
//! per line.

/// The text with `nan` replaced by `null`, and with escaped strings. Line numbers stay the same.
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

/// A quoted value whose text between the outer quotes is escaped.
fn string(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    serde_json::to_string(inner).ok()
}
