//! Other texts of a certificate: written in another way, or no certificate.

use super::{BROKEN, CERTIFICATE, NO_CERTIFICATE, NOT_SIGNED, UNREADABLE, Way, octets, replaced, way};
use crate::bench::unsigned;
use serde_json::Value;

/// Other texts of the same statement, or texts that are none.
pub(super) fn texts<'a>() -> Vec<Way<'a>> {
    let text = |name: &str, may, says, by: fn(&str) -> String| {
        way(name, may, says, move |bench| replaced(bench, CERTIFICATE, &by))
    };
    let in_statement = |by: fn(&str) -> String| {
        move |text: &str| {
            let (statement, block) = text.split_at(unsigned(text).len());
            by(statement) + block
        }
    };
    let compact = in_statement(|statement| {
        let value: Value = serde_json::from_str(statement).expect("JSON");
        serde_json::to_string(&value).expect("text") + "\n"
    });
    let reordered = in_statement(|statement| {
        let verdict = "  \"verdict\": \"pass\",\n";
        statement
            .replacen(verdict, "", 1)
            .replacen("{\n", &format!("{{\n{verdict}"), 1)
    });
    vec![
        way("written in one line", BROKEN, NOT_SIGNED, move |bench| {
            replaced(bench, CERTIFICATE, &compact);
        }),
        way("fields in another order", BROKEN, NOT_SIGNED, move |bench| {
            replaced(bench, CERTIFICATE, &reordered);
        }),
        text("a field removed", UNREADABLE, "missing field `about`", |text| {
            text.replacen("  \"about\": {},\n", "", 1)
        }),
        text("a field twice", UNREADABLE, "\"verdict\" twice", |text| {
            text.replacen("  \"verdict\"", "  \"verdict\": \"fail\",\n  \"verdict\"", 1)
        }),
        text("a blank", BROKEN, NOT_SIGNED, |text| text.replacen('{', "{ ", 1)),
        text("line ends of DOS", BROKEN, NOT_SIGNED, |text| {
            text.replace('\n', "\r\n")
        }),
        text("a letter escaped", BROKEN, NOT_SIGNED, |text| {
            text.replacen("\"pass\"", "\"\\u0070ass\"", 1)
        }),
        text("a number with a fraction", BROKEN, NOT_SIGNED, |text| {
            text.replacen("\"max\": 439999", "\"max\": 439999.0", 1)
        }),
        text("a number too large", UNREADABLE, NO_CERTIFICATE, |text| {
            text.replacen("\"max\": 439999", "\"max\": 1e999", 1)
        }),
        text("a number with leading zeros", UNREADABLE, NO_CERTIFICATE, |text| {
            text.replacen("\"max\": 439999", "\"max\": 00439999", 1)
        }),
        text("a byte order mark", UNREADABLE, NO_CERTIFICATE, |text| {
            format!("\u{feff}{text}")
        }),
        text("a zero octet", UNREADABLE, NO_CERTIFICATE, |text| {
            text.replacen("{\n", "{\0\n", 1)
        }),
        text("a comment", UNREADABLE, NO_CERTIFICATE, |text| {
            text.replacen("{\n", "{ // checked\n", 1)
        }),
        text("objects in objects without end", UNREADABLE, NO_CERTIFICATE, |text| {
            text.replacen("\"about\": {}", &format!("\"about\": {}", "{\"a\":".repeat(500)), 1)
        }),
        text("cut in the middle", UNREADABLE, NO_CERTIFICATE, |text| {
            text[..text.len() / 2].to_owned()
        }),
        text("empty", UNREADABLE, NO_CERTIFICATE, |_| String::new()),
        way("an octet that is no text", UNREADABLE, "UTF-8", |bench| {
            octets(bench, CERTIFICATE, |octets| octets.insert(5, 0xff));
        }),
    ]
}
