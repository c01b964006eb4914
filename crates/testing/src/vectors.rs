//! Layer-2 frames of sampled values and GOOSE, with the expected output of a decoder: our test
//! vectors.

use serde_json::Value;

/// A frame, and the expected result of decoding it.
pub struct Vector {
    /// Name of the vector.
    pub name: String,
    /// `sv` or `goose`.
    pub kind: String,
    /// `accept`, `accept_flag`, `drop` or `drop_count`: the reaction of a subscriber.
    pub policy: String,
    /// The bytes, starting at the destination address.
    pub frame: Vec<u8>,
    /// Values that a decoder returns, by field; null if none is specified.
    pub expect: Value,
}

/// All of them.
///
/// # Panics
/// If the file of the vectors is invalid.
pub fn vectors() -> Vec<Vector> {
    let all = include_str!("../../wire/tests/data/vectors.json");
    let all: Vec<Value> = serde_json::from_str(all).expect("the vectors are JSON");
    assert_eq!(all.len(), 61);
    all.iter().map(read).collect()
}

/// The frame of a vector.
///
/// # Panics
/// If there is no vector of this name.
pub fn vector(name: &str) -> Vec<u8> {
    let found = vectors().into_iter().find(|vector| vector.name == name);
    found.unwrap_or_else(|| panic!("no vector {name}")).frame
}

/// Bytes from pairs of hexadecimal digits.
///
/// # Panics
/// If the text has anything else.
pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal digits"))
        .collect()
}

/// Bytes as pairs of hexadecimal digits.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn read(vector: &Value) -> Vector {
    let text = |key: &str| vector[key].as_str().expect("text").to_owned();
    Vector {
        name: text("name"),
        kind: text("kind"),
        policy: text("policy"),
        frame: unhex(&text("hex")),
        expect: vector["expect"].clone(),
    }
}
