use crate::{Certificate, CertificateError, Checked, Key, SCHEMA, Signers, Statement};
use serde_json::Map;

fn statement() -> Statement {
    Statement {
        schema: SCHEMA.to_owned(),
        issued: "2026-11-29T00:00:00Z".to_owned(),
        issued_by: "0.1.0".to_owned(),
        verdict: "pass".to_owned(),
        decision_rule: "simple".to_owned(),
        about: Map::new(),
        deviations: Vec::new(),
        runs: Vec::new(),
    }
}

fn signed() -> String {
    let mut certificate = Certificate::new(statement()).expect("written");
    let signature = Key::of_tests().sign(certificate.signed_text()).expect("signed");
    certificate.signatures.push(signature);
    certificate.text()
}

#[test]
fn a_signed_certificate_is_read_back_and_its_signature_is_good() {
    let certificate = Certificate::parse(&signed()).expect("read");
    assert_eq!(certificate.statement, statement());
    let [signature] = &certificate.signatures[..] else {
        panic!("one signature");
    };
    assert_eq!(signature.check(certificate.signed_text()), Checked::Good);
    let signers = Signers::parse(&format!("# trusted\n\n\"Test bench\" {}", Key::of_tests().public())).expect("a list");
    assert_eq!(signers.owner(signature), Some("Test bench"));
    assert_eq!(Signers::default().owner(signature), None);
}

#[test]
fn no_changed_octet_keeps_its_signature() {
    let text = signed();
    for at in 0..text.len() {
        let mut octets = text.clone().into_bytes();
        octets[at] ^= 1;
        let Ok(changed) = String::from_utf8(octets) else {
            continue;
        };
        let Ok(certificate) = Certificate::parse(&changed) else {
            continue;
        };
        let good = certificate
            .signatures
            .iter()
            .filter(|each| each.check(certificate.signed_text()) == Checked::Good);
        let is_same = certificate.signed_text() == Certificate::parse(&text).expect("read").signed_text();
        // A line end inside the block may differ without a change of what it says.
        assert!(good.count() == 0 || is_same, "octet {at} of {text}");
    }
}

#[test]
fn a_second_signature_signs_the_same_text() {
    let text = signed();
    let block = text[text.find("-----BEGIN").expect("a block")..].to_owned();
    let mut certificate = Certificate::parse(&text).expect("read");
    certificate.add_signatures(&block).expect("added");
    assert_eq!(certificate.signatures.len(), 2);
    let again = Certificate::parse(&certificate.text()).expect("read");
    assert!(
        again
            .signatures
            .iter()
            .all(|each| each.check(again.signed_text()) == Checked::Good)
    );
}

#[test]
fn what_is_not_a_certificate_is_said() {
    let said = |text: &str| Certificate::parse(text).expect_err("refused").to_string();
    assert!(said("").starts_with("not a certificate of triptime"), "{}", said(""));
    assert!(said("{}").contains("no \"schema\""));
    assert!(said("{\"schema\": \"triptime.certificate/9\"}").contains("triptime.certificate/9"));
    let broken = signed().replace("-----END SSH SIGNATURE-----", "");
    assert!(said(&broken).starts_with("signature 1: "), "{}", said(&broken));
    let trailing = signed() + "more";
    assert!(said(&trailing).starts_with("signature 1: "), "{}", said(&trailing));
}

#[test]
fn a_signer_with_conditions_that_nobody_checks_is_refused() {
    let list = |options: &str| Signers::parse(&format!("supplier {options} {}", Key::of_tests().public()));
    assert!(matches!(
        list("valid-before=\"2026\""),
        Err(CertificateError::Signer { line: 1, .. })
    ));
    assert!(list("cert-authority").is_err());
    assert!(Signers::parse("supplier").is_err());
    assert!(Signers::parse("supplier ssh-ed25519 AAAA").is_err());
    let certificate = Certificate::parse(&signed()).expect("read");
    let owner = |options: &str| {
        list(options)
            .expect("a list")
            .owner(&certificate.signatures[0])
            .map(str::to_owned)
    };
    assert_eq!(
        owner("namespaces=\"file,triptime-certificate\"").as_deref(),
        Some("supplier")
    );
    assert_eq!(owner("namespaces=\"file\""), None);
}

#[test]
fn a_key_that_cannot_sign_here_says_how_to_sign() {
    for text in ["", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"] {
        let said = Key::parse(text).expect_err("refused").to_string();
        assert!(said.contains("sign with ssh-keygen"), "{said}");
    }
}
