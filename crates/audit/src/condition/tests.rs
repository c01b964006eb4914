use proptest::prelude::{any, proptest};

use super::{Condition, evaluate};
use crate::facts::{Facts, Subject};
use crate::value::Unknown;
use units::CpuList;

fn cpus(text: &str) -> CpuList {
    text.parse().expect("a CPU list")
}

fn facts() -> Facts {
    let mut facts = Facts::default();
    facts.set("n", 5u32);
    facts.set("/proc/sys/kernel/x", "7");
    facts.set("word", "always [madvise] never");
    facts.set("rt", cpus("2-3"));
    facts.set("iso", "1-5");
    facts.set("mask", "ff,0000000c");
    facts.set("list", vec!["a".to_owned(), "b".to_owned()]);
    facts.set("yes", true);
    facts.set("gone", Err::<bool, _>(Unknown::absent("gone")));
    facts.set("dark", Err::<bool, _>(Unknown::unclear("dark")));
    facts
}

/// `Some` for true and false, `None` for unknown.
fn ask(text: &str) -> Option<bool> {
    let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    evaluate(&condition, &facts(), None).ok()
}

#[test]
fn comparisons_say_yes_and_no() {
    for (text, expected) in [
        ("n == 5", true),
        ("n != 5 or n >= 5 and n < 6", true),
        ("/proc/sys/kernel/x <= 6", false),
        ("/proc/sys/kernel/x == 7", true),
        ("choice(word) in ['madvise', 'never']", true),
        ("word has 'always'", true),
        ("list has 'a' and not list has 'c'", true),
        ("rt within cpus(iso)", true),
        ("rt within cpus(iso) - '2'", false),
        ("rt + n within iso", true),
        ("mask(mask) == '2-3,32-39'", true),
        ("rt overlaps '3-9'", true),
        ("2 in rt and not 4 in rt", true),
        ("count(rt) == 2 and count(list) == 2 and count(word) == 3", true),
        ("n * 2 + 1 == 11", true),
        ("n - 6 == -1", true),
        ("not (yes and n == 4)", true),
    ] {
        assert_eq!(ask(text), Some(expected), "{text}");
    }
}

#[test]
fn what_is_unknown_decides_nothing_alone() {
    for (text, expected) in [
        ("dark", None),
        ("not dark", None),
        ("dark and yes", None),
        ("yes and dark", None),
        ("dark and n == 4", Some(false)),
        ("n == 4 and dark", Some(false)),
        ("dark or yes", Some(true)),
        ("dark or n == 4", None),
        ("gone == 1", None),
        ("exists(gone)", Some(false)),
        ("exists(dark)", None),
        ("known(dark)", Some(false)),
        ("either(gone, 3) == 3", Some(true)),
        ("either(dark, 3) == 3", None),
        ("nobody.gathers.this == 1", None),
        ("word == 1", None),
        ("n", None),
    ] {
        assert_eq!(ask(text), expected, "{text}");
    }
}

#[test]
fn a_part_is_asked_before_the_machine() {
    let mut part = Subject::new("3");
    part.set("n", 9u32);
    let condition = Condition::parse("n == 9 and yes").expect("a condition");
    assert_eq!(evaluate(&condition, &facts(), Some(&part)), Ok(true));
}

#[test]
fn what_is_no_condition_says_where() {
    for (text, near) in [
        ("n ==", "the end"),
        ("n == 5 6", "6"),
        ("(n == 5", "the end"),
        ("speed(n)", "n)"),
        ("cpus(n, n)", "the end"),
        ("'open", "'open"),
        ("n == [5", "the end"),
        ("n ? 5", "? 5"),
        ("", "the end"),
    ] {
        let error = Condition::parse(text).expect_err(text).to_string();
        assert!(error.contains(&format!("\"{near}\"")), "{text}: {error}");
    }
    let deep = "(".repeat(10_000);
    assert!(Condition::parse(&deep).is_err());
    assert!(Condition::parse(&"not ".repeat(10_000)).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        if let Ok(condition) = Condition::parse(&text) {
            let _ = evaluate(&condition, &facts(), None);
        }
    }
}
