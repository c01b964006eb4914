use super::{cyclonedx, parts, spdx};
use std::collections::BTreeSet;

#[test]
fn every_part_has_a_licence_and_uses_parts_that_are_listed() {
    let parts = parts();
    assert!(parts.len() > 100, "{}", parts.len());
    let ids: BTreeSet<String> = parts.iter().map(super::Component::id).collect();
    assert_eq!(ids.len(), parts.len(), "an id is used once");
    for part in &parts {
        assert!(!part.licence.is_empty(), "{}", part.name);
        for id in &part.uses {
            assert!(ids.contains(*id), "{} uses {id}", part.name);
        }
    }
}

#[test]
fn identifiers_of_spdx_differ_from_each_other() {
    let document = spdx::document(&parts(), "2026-11-30T00:00:00Z");
    let packages = document["packages"].as_array().expect("packages");
    let ids: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["SPDXID"].as_str().expect("text"))
        .collect();
    assert_eq!(ids.len(), packages.len());
}

#[test]
fn both_forms_have_every_part_once() {
    let parts = parts();
    let cyclonedx = cyclonedx::document(&parts, "2026-11-30T00:00:00Z");
    assert_eq!(cyclonedx["components"].as_array().map(Vec::len), Some(parts.len() - 1));
    assert_eq!(cyclonedx["metadata"]["component"]["name"], "triptime");
    assert_eq!(cyclonedx["dependencies"].as_array().map(Vec::len), Some(parts.len()));
}
