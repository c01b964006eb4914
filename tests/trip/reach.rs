//! A search in the R-X plane against our own relay.

use crate::own_relay::played;
use serde_json::Value;
use support::root_or_skip;

const RELAY: &str = "[relay]
name = \"R\"
[rated]
current-a = 400
voltage-v = 110_000
[[stream]]
name = \"bay1\"
sv = { svID = \"MU01\", profile = \"F4800S1I4U4\" }
[[function]]
name = \"Z1\"
[function.settings.pdis]
reach-ohm = REACH
line-deg = 75.964
k0 = 0.66667
k0-deg = 0
least-current = 0.05
shape.mho.polarising = \"own-voltage\"
[[trip]]
name = \"Q0\"
[[goose]]
gocb_ref = \"RLD0/LLN0$GO$gcbTrip\"
dat_set = \"RLD0/LLN0$dsTrip\"
dst = \"01:0c:cd:01:00:01\"
appid = 1
min_time = \"4ms\"
max_time = \"1s\"
member = [{ name = \"trip:Q0\", type = \"boolean\" }]
";

const SEARCH: &str = "what = \"a short search\"
[reach]
source_v = 110_000
source_ohm = 0.5
source_angle_deg = 85
k0 = 0.66667
reach_ohm = 9.8955
angle_deg = 75.964
loops = [\"BG\"]
angles_deg = [45]
error_percent = 4
resolution_percent = 2
within = \"60ms\"
lasts = \"120ms\"
";

#[test]
fn a_search_finds_the_border_of_a_zone_and_one_that_is_set_wrong() {
    if !root_or_skip("a_search_finds_the_border_of_a_zone_and_one_that_is_set_wrong") {
        return;
    }
    let folder = tempfile::tempdir().expect("tempdir");
    let border = |reach: &str| {
        let relay = RELAY.replace("REACH", reach);
        let (document, page) = played(folder.path(), reach, [&relay, SEARCH], &["--settle", "300ms"]);
        assert!(page.contains("BG"), "the page has the line");
        let line = document["type_tests"][0]["edges"][0].clone();
        assert_eq!(
            (&line["fault"], &line["along"]),
            (&Value::from("BG"), &Value::from(45.0)),
            "{document}"
        );
        (line, document)
    };
    let (right, document) = border("9.8955");
    assert_eq!(right["border"], "within", "{document}");
    let off = right["error_percent"].as_f64().expect("a border");
    assert!(off.abs() <= 2.0, "{right}");
    let (wrong, document) = border("10.4");
    assert_eq!(wrong["border"], "outside", "{document}");
    let off = wrong["error_percent"].as_f64().expect("a border");
    assert!((3.0..=7.0).contains(&off), "{wrong}");
    assert_ne!(document["verdict"], "pass");
}
