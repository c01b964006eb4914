//! SSH signatures (PROTOCOL.sshsig of OpenSSH), made and checked.

use crate::CertificateError;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

/// Namespace of the signatures: a signature that was made for another purpose is not one of a certificate.
pub const NAMESPACE: &str = "triptime-certificate";

/// A private key that signs.
#[derive(Debug, Clone)]
pub struct Key(PrivateKey);

impl Key {
    /// Reads a private key in OpenSSH's format.
    ///
    /// # Errors
    /// Another format, a key with a passphrase, or one that is not Ed25519. The message says how `ssh-keygen` signs in its place.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let refused = |why: String| {
            CertificateError::Key(format!(
                "{why}; leave out --key, and sign with ssh-keygen as the command then says"
            ))
        };
        let key = PrivateKey::from_openssh(text)
            .map_err(|error| refused(format!("not a private key in OpenSSH's format: {error}")))?;
        if key.is_encrypted() {
            return Err(refused("the key has a passphrase".to_owned()));
        }
        match key.algorithm() {
            Algorithm::Ed25519 => Ok(Self(key)),
            other => Err(refused(format!(
                "a key of the kind {other}, and only ssh-ed25519 signs here"
            ))),
        }
    }

    /// A key for tests, of a fixed seed.
    #[cfg(test)]
    pub(crate) fn of_tests() -> Self {
        Self(ssh_key::private::Ed25519Keypair::from_seed(&[7; 32]).into())
    }

    /// Its public half, as OpenSSH writes it.
    #[cfg(test)]
    pub(crate) fn public(&self) -> String {
        self.0.public_key().to_openssh().expect("a text")
    }

    /// Signs a text.
    ///
    /// # Errors
    /// The key cannot sign.
    pub fn sign(&self, text: &str) -> Result<Signed, CertificateError> {
        let signature = self.0.sign(NAMESPACE, HashAlg::Sha512, text.as_bytes());
        Signed::made(signature.map_err(|error| CertificateError::Key(format!("the key cannot sign: {error}")))?)
    }
}

/// A signature that was read or made; nobody has checked it yet.
#[derive(Debug, Clone)]
pub struct Signed {
    block: String,
    /// `None` if its key is of a kind that cannot be read here.
    read: Option<SshSig>,
}

/// A signature, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// Its key signed exactly this text, as a certificate.
    Good,
    /// A sentence on why it cannot be checked here: it may be good.
    Unchecked(String),
    /// A sentence on what is wrong.
    Bad(String),
}

impl Signed {
    fn made(signature: SshSig) -> Result<Self, CertificateError> {
        let text = signature.to_pem(LineEnding::LF);
        let block = text.map_err(|error| CertificateError::Key(format!("a signature cannot be written: {error}")))?;
        Ok(Self {
            block,
            read: Some(signature),
        })
    }

    pub(crate) fn parse(number: usize, block: &str) -> Result<Self, CertificateError> {
        let block = block.trim_end().to_owned() + "\n";
        let read = match SshSig::from_pem(&block) {
            Ok(signature) => Some(signature),
            Err(ssh_key::Error::AlgorithmUnknown) => None,
            Err(error) => {
                return Err(CertificateError::Signature {
                    number,
                    why: error.to_string(),
                });
            }
        };
        Ok(Self { block, read })
    }

    pub(crate) fn text(&self) -> &str {
        &self.block
    }

    /// The key that made it, as it names it itself; `None` if its kind is not known here.
    pub fn key(&self) -> Option<PublicKey> {
        Some(PublicKey::from(self.read.as_ref()?.public_key().clone()))
    }

    /// The fingerprint of that key: `SHA256:…`, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> Option<String> {
        Some(self.key()?.fingerprint(HashAlg::Sha256).to_string())
    }

    /// Checks that its key signed exactly this text, as a certificate.
    pub fn check(&self, text: &str) -> Checked {
        const ELSEWHERE: &str = "only ssh-ed25519 and sk-ssh-ed25519 are checked here; use ssh-keygen -Y verify";
        let Some(signature) = &self.read else {
            return Checked::Unchecked(format!("a key of another kind: {ELSEWHERE}"));
        };
        if signature.namespace() != NAMESPACE {
            return Checked::Bad(format!(
                "made for \"{}\", not for \"{NAMESPACE}\"",
                signature.namespace()
            ));
        }
        match signature.algorithm() {
            Algorithm::Ed25519 | Algorithm::SkEd25519 => {}
            other => return Checked::Unchecked(format!("a key of the kind {other}: {ELSEWHERE}")),
        }
        let key = PublicKey::from(signature.public_key().clone());
        match key.verify(NAMESPACE, text.as_bytes(), signature) {
            Ok(()) => Checked::Good,
            Err(_) => Checked::Bad("not of this text: it, or the signature, was changed".to_owned()),
        }
    }
}
