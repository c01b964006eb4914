/// Why a certificate, a key or a list of signers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The text is not a certificate.
    #[error("not a certificate of triptime: {0}")]
    Form(String),
    /// The certificate has a schema that this version does not know.
    #[error("its schema is \"{0}\"; this version reads \"{known}\"", known = crate::SCHEMA)]
    Schema(String),
    /// A signature block that cannot be read.
    #[error("signature {number}: {why}")]
    Signature {
        /// Place among the signatures, from 1.
        number: usize,
        /// The error of the reader.
        why: String,
    },
    /// A private key that cannot sign here.
    #[error("{0}")]
    Key(String),
    /// A line of a list of signers that cannot be used.
    #[error("line {line}: {why}")]
    Signer {
        /// Line, from 1.
        line: usize,
        /// The error, and what to do.
        why: String,
    },
}
