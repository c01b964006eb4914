//! Tests the constants and assertions that build.rs makes from a header.

#[path = "../build/header.rs"]
mod header;

use header::rust;

#[test]
fn numbers_become_constants_of_the_type_they_are_written_as() {
    let header = "#define POINTS 6 // at the most\n#define SEEN (1u << 16)\n#define EXPIRY_NS 500000000ull\n#define NONE 0xffff\n\
                  enum kind {\n\tQUEUE = 2,\n};\n";
    let expected = "pub(crate) const POINTS: usize = 6;\npub(crate) const SEEN: u32 = 65536;\n\
                    pub(crate) const EXPIRY_NS: u64 = 500000000;\npub(crate) const NONE: usize = 65535;\n\
                    pub(crate) const QUEUE: u32 = 2;\n";
    assert_eq!(rust(header).as_deref(), Ok(expected));
}

#[test]
fn rows_become_assertions_about_the_structure_of_that_name() {
    let said = rust("OCTETS(stream_key, 12);\nFIELD(stream_key, id, 0, 8);\nFIELD(stream_key, appid, 8, 4);\n")
        .expect("a header");
    for part in [
        "assert!(size_of::<StreamKey>() == 12,",
        "impl crate::layout::Layout for StreamKey { const OCTETS: usize = 12; }",
        "assert!(std::mem::offset_of!(StreamKey, appid) == 8,",
        "assert!(crate::layout::octets_of(|it: &StreamKey| &it.appid) == 4,",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    let said = rust("volatile const u64 wanted[KINDS] = {};\nGLOBAL(wanted, 48);\n").expect("a header");
    assert!(said.contains("|it: &Globals| &it.wanted) == 48,"), "{said}");
    assert!(said.contains("(\"wanted\", wanted.as_bytes())"), "{said}");
}

#[test]
fn what_would_go_unchecked_is_refused() {
    let refused = |header: &str| rust(header).expect_err("a refusal");
    for (header, why) in [
        (
            "OCTETS(a, 8);\nFIELD(a, x, 0, 4);\n",
            "the fields of A end at 4, and not at 8",
        ),
        (
            "OCTETS(a, 8);\nFIELD(a, x, 0, 4);\nFIELD(a, y, 6, 2);\n",
            "the field before it ends at 4",
        ),
        (
            "OCTETS(a, 8);\nFIELD(b, x, 0, 8);\n",
            "a field behind no OCTETS of its structure",
        ),
        ("struct a {\n\tu32 x;\n};\n", "nothing is said of a"),
        (
            "volatile const u32 a = 0;\nvolatile const u32 b[2] = {};\nGLOBAL(b, 8);\n",
            "nothing is said of a",
        ),
        ("FIELD(a, x, 0);\n", "too few arguments, or too many"),
        ("enum kind { A, B };\n", "one enumerator a line"),
        ("enum kind {\n\tA,\n};\n", "no enumerator with a number"),
        ("#define TWICE (2 * ONCE)\n", "2 * ONCE is no number"),
    ] {
        let said = refused(header);
        assert!(said.starts_with(why), "{header}{said}");
    }
}
