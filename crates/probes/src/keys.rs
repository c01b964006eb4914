//! Key files: the keys that sign datagrams of R-GOOSE and R-SV, and check their signatures.

use crate::error::ProbeError;
use serde::Deserialize;
use std::path::Path;
use wire::routed::{Algorithm, Key};

/// A key file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    key: Vec<KeyRow>,
}

/// One `[[key]]` of a key file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRow {
    id: u32,
    algorithm: String,
    hex: String,
}

/// Shortest key in octets: a shorter one is easier to guess than the shortest signature.
const SHORTEST: usize = 16;

/// Reads a key file. The first key signs; all of them check signatures.
///
/// # Errors
/// The file cannot be read, has no key, or a key that cannot be used.
pub fn read_keys(path: &Path) -> Result<Vec<Key>, ProbeError> {
    let refused = |problem: String| ProbeError::Usage(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    parse(&text).map_err(refused)
}

fn parse(text: &str) -> Result<Vec<Key>, String> {
    let file: KeyFile = toml::from_str(text).map_err(|error| refusal(text, &error))?;
    if file.key.is_empty() {
        return Err("it has no [[key]]".to_owned());
    }
    let mut keys: Vec<Key> = Vec::new();
    for row in &file.key {
        let key = row.key().map_err(|problem| format!("key {}: {problem}", row.id))?;
        if keys.iter().any(|other| other.id() == key.id()) {
            return Err(format!("key {}: two keys have this id", row.id));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Text for an error of TOML. Its message is shown only where it names a field of ours: others show parts of the file, which may be those of a
/// key.
fn refusal(text: &str, error: &toml::de::Error) -> String {
    if error.message().starts_with("missing field") {
        return format!("not a key file: {}", error.message());
    }
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(0, |before| before.matches('\n').count()) + 1;
    format!(
        "not a key file: line {line}: each [[key]] has id = NUMBER, algorithm = \"NAME\" and hex = \"DIGITS\", and nothing else"
    )
}

impl KeyRow {
    fn key(&self) -> Result<Key, String> {
        let algorithm: Algorithm = self.algorithm.parse().map_err(|error| format!("algorithm: {error}"))?;
        let octets = octets(&self.hex).ok_or("hex: write two hexadecimal digits for each octet, such as 5a0f")?;
        if octets.len() < SHORTEST {
            return Err(format!("hex: {} octets: a key needs {SHORTEST} or more", octets.len()));
        }
        Key::new(self.id, algorithm, &octets)
            .ok_or_else(|| "id: 0 means that there is no key: use 1 or more".to_owned())
    }
}

fn octets(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => {
            let [high, low] = [high, low].map(|digit| char::from(*digit).to_digit(16));
            u8::try_from(high? * 16 + low?).ok()
        }
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    const GOOD: &str = "[[key]]\nid = 7\nalgorithm = \"hmac-sha256-128\"\nhex = \"000102030405060708090a0b0c0d0e0f\"\n";

    #[test]
    fn a_file_has_keys_with_numbers_of_their_own() {
        let keys = parse(&format!("{GOOD}{}", GOOD.replace("= 7", "= 8").replace("128", "256"))).expect("keys");
        let names: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        assert_eq!(names, ["Key 7 (hmac-sha256-128)", "Key 8 (hmac-sha256-256)"]);
    }

    #[test]
    fn refusals_say_why_and_show_no_key() {
        for (from, to, why) in [
            ("id = 7", "id = 0", "use 1 or more"),
            ("-128", "-127", "hmac-sha256-80"),
            ("0e0f", "0e0", "two hexadecimal digits"),
            ("0e0f", "0e0g", "two hexadecimal digits"),
            ("0e0f", "0e", "15 octets"),
            ("id = 7", "id = 7\nname = 1", "line 3: each [[key]] has"),
            ("id = 7", "id = \"000102030405\"", "line 2: each [[key]] has"),
            (
                "\"hmac-sha256-128\"",
                "\"000102030405\"",
                "algorithm: write hmac-sha256-80",
            ),
            (
                "\"000102030405060708090a0b0c0d0e0f\"",
                "0001020304",
                "line 4: each [[key]] has",
            ),
            (
                "\"000102030405060708090a0b0c0d0e0f\"",
                "1020304",
                "line 4: each [[key]] has",
            ),
            (
                "hex = \"000102030405060708090a0b0c0d0e0f\"",
                "0001020304 = 1",
                "line 4: each [[key]] has",
            ),
            ("hex", "# hex", "missing field `hex`"),
        ] {
            let error = parse(&GOOD.replace(from, to)).expect_err(why);
            assert!(error.contains(why), "{error}");
            assert!(!error.contains("1020304"), "{error}");
        }
        assert!(parse(&format!("{GOOD}{GOOD}")).is_err_and(|error| error.contains("two keys")));
        assert!(parse("key = []").is_err_and(|error| error.contains("no [[key]]")));
    }
}
