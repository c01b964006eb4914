//! A list of signers, in the format that `ssh-keygen` calls allowed signers.

use crate::signature::NAMESPACE;
use crate::{CertificateError, Signed};
use ssh_key::PublicKey;

/// The keys that a reader trusts, with their owners.
#[derive(Debug, Clone, Default)]
pub struct Signers(Vec<Signer>);

#[derive(Debug, Clone)]
struct Signer {
    names: String,
    key: PublicKey,
}

impl Signers {
    /// Reads a list: `NAMES [namespaces="…"] KIND KEY [COMMENT]` in each line. A line for other namespaces is left out.
    ///
    /// # Errors
    /// A line that is not such a signer. Other options are refused, because a signer whose conditions nobody checked would be trusted too far.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let mut signers = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let signer = Signer::parse(line).map_err(|why| CertificateError::Signer { line: at + 1, why })?;
            signers.extend(signer);
        }
        Ok(Self(signers))
    }

    /// The owner of the key that made a signature, if the list has it.
    pub fn owner(&self, signature: &Signed) -> Option<&str> {
        let key = signature.key()?;
        let signer = self.0.iter().find(|signer| signer.key.key_data() == key.key_data());
        signer.map(|signer| signer.names.as_str())
    }
}

impl Signer {
    /// The signer of a line; `None` if it is for other namespaces.
    fn parse(line: &str) -> Result<Option<Self>, String> {
        const FORM: &str = "not NAME KIND KEY: write for example `supplier ssh-ed25519 AAAA…`";
        let (names, rest) = name(line).ok_or(FORM)?;
        let (options, key) = if is_kind(rest) {
            ("", rest)
        } else {
            rest.split_once(char::is_whitespace).ok_or(FORM)?
        };
        if !is_for_certificates(options)? {
            return Ok(None);
        }
        let key = PublicKey::from_openssh(key.trim()).map_err(|error| format!("its key cannot be read: {error}"))?;
        let names = names.to_owned();
        Ok(Some(Self { names, key }))
    }
}

/// The names at the beginning of a line, in quotes if they have blanks, and the rest.
fn name(line: &str) -> Option<(&str, &str)> {
    let (names, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once(char::is_whitespace)?,
    };
    Some((names, rest.trim_start()))
}

fn is_kind(text: &str) -> bool {
    ["ssh-", "sk-ssh-", "ecdsa-", "sk-ecdsa-"]
        .iter()
        .any(|kind| text.starts_with(kind))
}

/// True if the options of a line allow its key to sign certificates.
fn is_for_certificates(options: &str) -> Result<bool, String> {
    if options.is_empty() {
        return Ok(true);
    }
    let namespaces = options
        .strip_prefix("namespaces=\"")
        .and_then(|rest| rest.strip_suffix('"'));
    let namespaces = namespaces.ok_or_else(|| format!("the option \"{options}\" is not checked here: only namespaces=\"…\" is; remove it, or check with ssh-keygen -Y verify"))?;
    Ok(namespaces.split(',').any(|each| each == NAMESPACE))
}
