//! A ramp against our own relay: its start is watched, up and down again.

use crate::check;
use crate::own_relay::played;
use serde_json::Value;
use std::path::Path;
use support::root_or_skip;

const RELAY: &str = "[relay]
name = \"R\"
[rated]
current-a = 400
voltage-v = 20_000
[[stream]]
name = \"bay1\"
sv = { svID = \"MU01\", profile = \"F4800S1I4U4\" }
[[function]]
name = \"I>>\"
settings.pioc = { pickup = PICKUP, reset-ratio = 0.93 }
[[trip]]
name = \"Q0\"
[[goose]]
gocb_ref = \"RLD0/LLN0$GO$gcbTrip\"
dat_set = \"RLD0/LLN0$dsTrip\"
dst = \"01:0c:cd:01:00:01\"
appid = 1
min_time = \"4ms\"
max_time = \"1s\"
member = [
    { name = \"trip:Q0\", type = \"boolean\" },
    { name = \"start:I>>\", type = \"boolean\" },
]
";

const RAMP: &str = "what = \"a short ramp\"
repeats = 3
[pick_up]
voltage_v = 11_547
setting_a = 800
phases = [\"B\"]
error_percent = 3
from_percent = 85
to_percent = 106
step_percent = 1
step = \"100ms\"
";

/// The result document of a ramp of 800 A through a relay with this setting in multiples of 400 A, and its page.
fn ramped(folder: &Path, pickup: &str) -> (Value, String) {
    let relay = RELAY.replace("PICKUP", pickup);
    played(folder, pickup, [&relay, RAMP], &["--start-member", "1"])
}

/// Plays it until a shot has a drop-off: a shot that a busy test set could not send proves nothing.
fn ramped_whole(pickup: &str) -> (Value, String) {
    let play = |_| {
        let folder = tempfile::tempdir().expect("tempdir");
        ramped(folder.path(), pickup)
    };
    let has_ratio = |(document, _): &(Value, String)| {
        let ratios = document["type_tests"][0]["ramps"][0]["ratios"].as_array();
        ratios.is_some_and(|ratios| !ratios.is_empty())
    };
    (0..4).map(play).find(has_ratio).expect("a drop-off in four plays")
}

#[test]
fn a_ramp_measures_pick_up_and_drop_off_by_the_start_and_finds_a_wrong_setting() {
    if !root_or_skip("a_ramp_measures_pick_up_and_drop_off_by_the_start_and_finds_a_wrong_setting") {
        return;
    }
    let folder = tempfile::tempdir().expect("tempdir");
    let (document, page) = ramped_whole("2.0");
    let line = &document["type_tests"][0]["ramps"][0];
    assert_eq!(
        (&line["phases"], &line["signal"]),
        (&Value::from("B"), &Value::from("start")),
        "{document}"
    );
    // Steps of 8 A. A shot that the test set could not send proves nothing, and says so; nor has a drop-off then a figure. One of three is sent.
    let values = |name: &str| -> Vec<f64> {
        let values = line[name].as_array().expect("a list").iter();
        values.map(|value| value.as_f64().expect("a number")).collect()
    };
    let (pick_ups, ratios) = (values("pick_ups_a"), values("ratios"));
    assert!(
        !pick_ups.is_empty() && pick_ups.iter().all(|value| (800.0..=808.1).contains(value)),
        "{line}"
    );
    assert!(
        !ratios.is_empty() && ratios.iter().all(|ratio| (0.91..=0.95).contains(ratio)),
        "{line}"
    );
    assert_ne!(check(&document, "trip.failures")["verdict"], "fail", "{document}");
    assert!(page.contains("Pick-up and drop-off") && page.contains("ramp through B"));
    let (document, _) = ramped(folder.path(), "1.9");
    let line = &document["type_tests"][0]["ramps"][0];
    assert!(line["outside"].as_u64() >= Some(1), "{line}");
    assert_ne!(check(&document, "trip.false")["verdict"], "pass", "{document}");
}
