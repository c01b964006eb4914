//! Certificates and lists of signers: no bytes panic, and what was read is written again with the same signed text.
#![no_main]

use certificate::{Certificate, Key, Signers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let text = String::from_utf8_lossy(octets);
    let signers = Signers::parse(&text).unwrap_or_default();
    let _ = Key::parse(&text);
    let Ok(mut certificate) = Certificate::parse(&text) else {
        return;
    };
    for signature in &certificate.signatures {
        let _ = (signature.check(certificate.signed_text()), signers.owner(signature));
    }
    let again = Certificate::parse(&certificate.text()).expect("read again");
    assert_eq!(again.signed_text(), certificate.signed_text());
    assert_eq!(again.signatures.len(), certificate.signatures.len());
    let _ = certificate.add_signatures(&text);
});
