//! A search for the bias characteristic of a differential function of our own relay.

use crate::own_relay::played;
use crate::sides::RELAY;
use support::root_or_skip;

const SEARCH: &str = "what = \"a short search\"
[bias]
voltage_v = 110_000
rated_current_a = [400, 400]
restraint = \"half-difference\"
points = [[0, 0.2], [0.5, 0.2], [1.5, 0.5], [5, 4]]
restraints = [2]
phases = [\"ABC\"]
error_percent = 8
resolution_percent = 4
within = \"100ms\"
lasts = \"150ms\"
";

#[test]
fn a_search_finds_the_characteristic_of_both_sides_and_one_that_is_set_wrong() {
    if !root_or_skip("a_search_finds_the_characteristic_of_both_sides_and_one_that_is_set_wrong") {
        return;
    }
    let folder = tempfile::tempdir().expect("tempdir");
    let border = |name: &str, more: &str| {
        let relay = RELAY.replace("[400, 400]", &format!("[400, 400], {more}"));
        let (document, page) = played(folder.path(), name, [&relay, SEARCH], &["--settle", "300ms"]);
        assert!(
            page.contains("operate current over restraint"),
            "the page has a picture"
        );
        let line = document["type_tests"][0]["edges"][0].clone();
        assert_eq!(
            (&line["fault"], &line["along"]),
            (&"ABC".into(), &2.0.into()),
            "{document}"
        );
        (line, document)
    };
    let (right, document) = border("good", "high = 10");
    assert_eq!(right["border"], "within", "{document}");
    let (wrong, document) = border("wrong", "characteristic = { low = 0.4 }");
    assert_eq!(wrong["border"], "outside", "{document}");
    let off = wrong["error_percent"].as_f64().expect("a border");
    assert!((12.0..=26.0).contains(&off), "20 % higher: {wrong}");
    assert_ne!(document["verdict"], "pass");
}
