//! The test vectors.
#![allow(dead_code, reason = "each test binary uses a part")]

use serde_json::Value;

pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) policy: String,
    pub(crate) frame: Vec<u8>,
    pub(crate) expect: Value,
}

pub(crate) fn vectors() -> Vec<Vector> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../data/vectors.json")).unwrap();
    assert_eq!(all.len(), 61);
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    all.iter()
        .map(|v| Vector {
            name: text(v, "name"),
            kind: text(v, "kind"),
            policy: text(v, "policy"),
            frame: unhex(&text(v, "hex")),
            expect: v["expect"].clone(),
        })
        .collect()
}

pub(crate) fn vector(name: &str) -> Vec<u8> {
    vectors()
        .into_iter()
        .find(|v| v.name == name)
        .unwrap_or_else(|| panic!("no vector {name}"))
        .frame
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|octet| format!("{octet:02x}")).collect()
}
