//! SPDX 2.3, JSON.

use super::Component;
use crate::version;
use serde_json::{Value, json};

/// The document of these parts, of which the first one is the program.
pub(super) fn document(parts: &[Component], now: &str) -> Value {
    let relation = |from: String, kind: &str, to: String| json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to});
    let describes = parts
        .first()
        .map(|program| relation("SPDXRef-DOCUMENT".into(), "DESCRIBES", id(&program.id())));
    let uses = parts.iter().flat_map(|part| {
        part.uses
            .iter()
            .map(|to| relation(id(&part.id()), "DEPENDS_ON", id(to)))
    });
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "triptime",
        "documentNamespace": format!("urn:triptime:sbom:{}:{}", env!("CARGO_PKG_VERSION"), version::COMMIT.unwrap_or("unknown")),
        "creationInfo": {"created": now, "creators": [format!("Tool: triptime-{}", env!("CARGO_PKG_VERSION"))]},
        "packages": parts.iter().map(package).collect::<Vec<_>>(),
        "relationships": describes.into_iter().chain(uses).collect::<Vec<_>>(),
    })
}

/// An identifier: letters, digits, `.` and `-` alone.
fn id(part: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '.' {
            letter
        } else {
            '-'
        }
    };
    format!("SPDXRef-{}", part.chars().map(plain).collect::<String>())
}

fn package(part: &Component) -> Value {
    let mut package = json!({
        "SPDXID": id(&part.id()),
        "name": part.name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": part.licence,
        "copyrightText": "NOASSERTION",
    });
    if !part.version.is_empty() {
        package["versionInfo"] = json!(part.version);
    }
    if let Some(purl) = part.purl() {
        package["checksums"] = json!([{"algorithm": "SHA256", "checksumValue": part.checksum}]);
        package["externalRefs"] =
            json!([{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]);
    }
    package
}
