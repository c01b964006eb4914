//! The file form of a certificate: the statement, then its signatures.

use crate::unique::Unique;
use crate::{CertificateError, SCHEMA, Signed, Statement};
use serde::Deserialize;
use serde_json::Value;

/// First line of a signature.
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// A certificate as it was read or made.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The signed text: everything before the first signature.
    signed: String,
    /// The statement in it.
    pub statement: Statement,
    /// Its signatures, in the order of the file.
    pub signatures: Vec<Signed>,
    /// Fields of the statement that this version does not know, by their places: nobody checks them.
    pub unknown_fields: Vec<String>,
}

impl Certificate {
    /// A certificate without a signature.
    ///
    /// # Errors
    /// The statement cannot be written as JSON.
    pub fn new(statement: Statement) -> Result<Self, CertificateError> {
        let text =
            serde_json::to_string_pretty(&statement).map_err(|error| CertificateError::Form(error.to_string()))?;
        Ok(Self {
            signed: text + "\n",
            statement,
            signatures: Vec::new(),
            unknown_fields: Vec::new(),
        })
    }

    /// Reads a certificate. The signatures are not checked.
    ///
    /// # Errors
    /// The text before the signatures is not a statement of a schema that this version knows, or a signature block cannot be read.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let cut = begins(text).first().copied().unwrap_or(text.len());
        let (signed, blocks) = text.split_at(cut);
        let (statement, unknown_fields) = statement(signed)?;
        Ok(Self {
            statement,
            unknown_fields,
            signatures: signatures(blocks, 0)?,
            signed: signed.to_owned(),
        })
    }

    /// Adds the signatures of another file, as `ssh-keygen -Y sign` writes one.
    ///
    /// # Errors
    /// The text is not made of signature blocks.
    pub fn add_signatures(&mut self, text: &str) -> Result<(), CertificateError> {
        let more = signatures(text, self.signatures.len())?;
        self.signatures.extend(more);
        Ok(())
    }

    /// The text that is signed.
    pub fn signed_text(&self) -> &str {
        &self.signed
    }

    /// The whole file.
    pub fn text(&self) -> String {
        let blocks = self.signatures.iter().map(Signed::text);
        std::iter::once(self.signed.as_str()).chain(blocks).collect()
    }
}

/// The statement in a text, and its fields that are not known.
fn statement(text: &str) -> Result<(Statement, Vec<String>), CertificateError> {
    let form = |error: serde_json::Error| CertificateError::Form(error.to_string());
    let value: Value = serde_json::from_str(text).map_err(form)?;
    match value["schema"].as_str() {
        Some(SCHEMA) => {}
        Some(other) => return Err(CertificateError::Schema(other.to_owned())),
        None => return Err(CertificateError::Form("it has no \"schema\"".to_owned())),
    }
    serde_json::from_str::<Unique>(text).map_err(form)?;
    let statement: Statement = Statement::deserialize(&value).map_err(form)?;
    let mut unknown = Vec::new();
    add_unknown(
        "",
        &value,
        &serde_json::to_value(&statement).map_err(form)?,
        &mut unknown,
    );
    Ok((statement, unknown))
}

/// Adds the places of the fields that are in `read` and not in `known`.
fn add_unknown(place: &str, read: &Value, known: &Value, unknown: &mut Vec<String>) {
    match (read, known) {
        (Value::Object(read), Value::Object(known)) => {
            for (name, value) in read {
                let place = if place.is_empty() {
                    name.clone()
                } else {
                    format!("{place}.{name}")
                };
                match known.get(name) {
                    Some(known) => add_unknown(&place, value, known, unknown),
                    None => unknown.push(place),
                }
            }
        }
        (Value::Array(read), Value::Array(known)) => {
            for (at, (read, known)) in read.iter().zip(known).enumerate() {
                add_unknown(&format!("{place}[{at}]"), read, known, unknown);
            }
        }
        _ => {}
    }
}

/// Places at which a signature begins, each at the beginning of a line.
fn begins(text: &str) -> Vec<usize> {
    let at_line = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    text.match_indices(BEGIN).map(|(at, _)| at).filter(at_line).collect()
}

/// The signatures of a text that has nothing else in it; `before` signatures were read before.
fn signatures(text: &str, before: usize) -> Result<Vec<Signed>, CertificateError> {
    let mut ends = begins(text);
    if !text[..ends.first().copied().unwrap_or(text.len())].trim().is_empty() {
        return Err(CertificateError::Signature {
            number: before + 1,
            why: format!("it does not begin with {BEGIN}"),
        });
    }
    ends.push(text.len());
    let blocks = ends.windows(2).map(|ends| &text[ends[0]..ends[1]]).enumerate();
    blocks
        .map(|(at, block)| Signed::parse(before + at + 1, block))
        .collect()
}

#[cfg(test)]
mod tests;
