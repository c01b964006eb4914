//! A ConfigMap: names and texts.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Where a ConfigMap is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapName {
    namespace: String,
    name: String,
}

impl MapName {
    /// In this namespace, by this name.
    ///
    /// # Errors
    /// One of them cannot be a name in Kubernetes (RFC 1123: lower-case letters, digits, `-` and `.`).
    pub fn new(namespace: &str, name: &str) -> Result<Self, String> {
        let is_name = |text: &str| {
            let inner = text
                .bytes()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-.".contains(&c));
            let ends = |c: Option<&u8>| c.is_some_and(u8::is_ascii_alphanumeric);
            inner && text.len() <= 253 && ends(text.as_bytes().first()) && ends(text.as_bytes().last())
        };
        match [namespace, name].into_iter().find(|text| !is_name(text)) {
            Some(wrong) => Err(format!(
                "\"{wrong}\" is no name in Kubernetes: lower-case letters, digits, - and ."
            )),
            None => Ok(Self {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
        }
    }

    /// Its path at the API server.
    pub(crate) fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps/{}", self.namespace, self.name)
    }
}

impl fmt::Display for MapName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A ConfigMap as the server has it. What is not known here stays as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigMap {
    object: Value,
}

impl ConfigMap {
    /// From the server's answer.
    ///
    /// # Errors
    /// It is none, or has no version by which a change in between would be seen.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let object: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
        if object["kind"] != "ConfigMap" {
            return Err(format!("kind is {}", object["kind"]));
        }
        if !object["metadata"]["resourceVersion"].is_string() {
            return Err("no metadata.resourceVersion".to_owned());
        }
        let texts = |data: &Map<String, Value>| data.values().all(Value::is_string);
        match &object["data"] {
            Value::Null => {}
            Value::Object(data) if texts(data) => {}
            _ => return Err("data is no map of texts".to_owned()),
        }
        Ok(Self { object })
    }

    /// Names and texts.
    pub fn data(&self) -> BTreeMap<String, String> {
        let data = self.object["data"].as_object().into_iter().flatten();
        let texts = data.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
        texts.collect()
    }

    /// The object with these names and texts instead.
    pub(crate) fn with(mut self, data: BTreeMap<String, String>) -> String {
        let data: Map<String, Value> = data.into_iter().map(|(name, text)| (name, text.into())).collect();
        self.object["data"] = data.into();
        self.object.to_string()
    }
}
