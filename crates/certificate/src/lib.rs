//! Certificates: the result of runs as a signed text, its signatures, and whether runs still agree with it.
//!
//! A certificate is one text file: a [`Statement`] as JSON, then any number of [SSH signatures][Signed] of exactly the octets before the
//! first of them. So it is read by a person, by every JSON reader after one cut, and its signatures are checked by `ssh-keygen -Y verify`.
//! The format is described in `docs/formats/certificate.md`.

#![forbid(unsafe_code)]

mod difference;
mod error;
mod signature;
mod signers;
mod statement;
mod text;
mod unique;

pub use difference::{Difference, differences};
pub use error::CertificateError;
pub use signature::{Checked, Key, NAMESPACE, Signed};
pub use signers::Signers;
pub use statement::{Certified, Kept, SCHEMA, Statement, sha256};
pub use text::Certificate;
