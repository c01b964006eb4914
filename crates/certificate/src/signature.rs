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
        signature
            .map(Signed)
            .map_err(|error| CertificateError::Key(format!("the key cannot sign: {error}")))
    }
}

/// A signature that was read or made; nobody has checked it yet.
#[derive(Debug, Clone)]
pub struct Signed(SshSig);

impl Signed {
    pub(crate) fn parse(number: usize, block: &str) -> Result<Self, CertificateError> {
        let read = SshSig::from_pem(block.trim_end().to_owned() + "\n");
        read.map(Self).map_err(|error| CertificateError::Signature {
            number,
            why: error.to_string(),
        })
    }

    pub(crate) fn text(&self) -> Result<String, CertificateError> {
        let text = self.0.to_pem(LineEnding::LF);
        text.map_err(|error| CertificateError::Key(format!("a signature cannot be written: {error}")))
    }

    /// The key that made it, as it names it itself.
    pub fn key(&self) -> PublicKey {
        PublicKey::from(self.0.public_key().clone())
    }

    /// The fingerprint of that key: `SHA256:…`, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        self.key().fingerprint(HashAlg::Sha256).to_string()
    }

    /// Checks that its key signed exactly this text, as a certificate.
    ///
    /// # Errors
    /// A sentence on what is wrong: another purpose, another text, a kind of key that is not checked here.
    pub fn check(&self, text: &str) -> Result<(), String> {
        if self.0.namespace() != NAMESPACE {
            return Err(format!("made for \"{}\", not for \"{NAMESPACE}\"", self.0.namespace()));
        }
        match self.0.algorithm() {
            Algorithm::Ed25519 | Algorithm::SkEd25519 => {}
            other => {
                return Err(format!(
                    "a key of the kind {other}: only ssh-ed25519 and sk-ssh-ed25519 are checked here; use ssh-keygen -Y verify"
                ));
            }
        }
        let checked = self.key().verify(NAMESPACE, text.as_bytes(), &self.0);
        checked.map_err(|_| "not of this text: it, or the signature, was changed".to_owned())
    }
}
