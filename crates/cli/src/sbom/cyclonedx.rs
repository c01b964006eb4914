//! CycloneDX 1.6, JSON.

use super::Component;
use serde_json::{Value, json};

/// The document of these parts, of which the first one is the program.
pub(super) fn document(parts: &[Component], now: &str) -> Value {
    let dependencies = parts
        .iter()
        .map(|part| json!({"ref": part.id(), "dependsOn": part.uses}));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": now, "component": parts.first().map(|program| component(program, "application"))},
        "components": parts.iter().skip(1).map(|part| component(part, "library")).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

fn component(part: &Component, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": part.id(),
        "name": part.name,
        "licenses": [{"expression": part.licence}],
    });
    if !part.version.is_empty() {
        component["version"] = json!(part.version);
    }
    if let Some(purl) = part.purl() {
        component["purl"] = json!(purl);
        component["hashes"] = json!([{"alg": "SHA-256", "content": part.checksum}]);
    }
    component
}
