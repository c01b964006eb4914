use super::write_document;
use std::collections::BTreeMap;

/// A value that cannot be written makes the whole document an error; it is not left out.
#[test]
fn a_value_that_json_cannot_hold_is_no_document() {
    let keys = BTreeMap::from([((1, 2), 3)]);
    let mut out = Vec::new();
    let error = write_document(&mut out, |fields| {
        fields.some("none", None::<u8>)?;
        fields.field("pairs", &keys)
    });
    assert!(error.expect_err("no text as a key").to_string().contains("key"));
}

#[test]
fn fields_stand_in_their_order() {
    let mut out = Vec::new();
    let written = write_document(&mut out, |fields| {
        fields.field("b", 1)?;
        fields.some("none", None::<u8>)?;
        fields.field("a", [f64::NAN])
    });
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(out, b"{\n  \"b\": 1,\n  \"a\": [\n    null\n  ]\n}\n");
}
