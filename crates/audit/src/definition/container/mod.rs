//! Containers, by their definitions: OCI bundles, output of docker's and podman's inspect, quadlets, compose files, Kubernetes and
//! KubeVirt; all converted to one model.
//!
//! A definition describes the next start, a running container the present. A fact that a form cannot express is unknown.

mod annotations;
mod capabilities;
mod compose;
mod docker;
mod kubernetes;
mod kubevirt;
mod oci;
mod quadlet;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod yaml;

use serde_json::Value as Json;

pub(crate) use capabilities::of_mask;
pub use capabilities::{bare_capability, refused_by_podman};
pub(crate) use shape::{Form, Shape};
pub use yaml::documents;

/// Maximum length of a definition: generated bundles of hundreds of containers are shorter.
const MOST_OCTETS: usize = 4 << 20;

/// Reads a file next to a definition, by its name; returns its text, or the reason that there is none.
pub(crate) type Beside<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The containers that a text defines, by its contents; `name` is used for a definition without a name.
///
/// # Errors
/// The text has none of these forms, or is not well-formed.
pub(crate) fn read(name: &str, text: &str, beside: Beside<'_>) -> Result<Vec<Shape>, String> {
    if text.len() > MOST_OCTETS {
        return Err(format!("longer than {MOST_OCTETS} bytes"));
    }
    if quadlet::is_one(text) {
        return Ok(vec![quadlet::read(name, text, beside)?]);
    }
    let begins = text.trim_start();
    let documents = match begins.starts_with('{') || begins.starts_with('[') {
        true => vec![serde_json::from_str(text).map_err(|error| error.to_string())?],
        false => documents(text)?,
    };
    let mut found = Vec::new();
    for document in &documents {
        found.extend(of_document(name, document)?);
    }
    match found.is_empty() {
        true => Err("defines no container".to_owned()),
        false => Ok(found),
    }
}

fn is_inspected(document: &Json) -> bool {
    document.get("HostConfig").is_some()
}

fn of_document(name: &str, document: &Json) -> Result<Vec<Shape>, String> {
    if let Json::Array(all) = document {
        let (networks, others): (Vec<&Json>, Vec<&Json>) = all.iter().partition(|one| docker::is_network(one));
        let each = others.into_iter().map(|one| match is_inspected(one) {
            true => Ok(vec![docker::read(name, one, &networks)]),
            false => of_document(name, one),
        });
        return Ok(each.collect::<Result<Vec<_>, _>>()?.concat());
    }
    if document.get("ociVersion").is_some() {
        return Ok(vec![oci::read(name, document)]);
    }
    if is_inspected(document) {
        return Ok(vec![docker::read(name, document, &[])]);
    }
    if document.get("services").is_some() {
        return Ok(compose::read(document));
    }
    if document.get("kind").is_some() {
        return kubernetes::read(document);
    }
    Err("neither an OCI bundle, docker's or podman's inspect, a quadlet, a compose file, nor Kubernetes".to_owned())
}
