//! Scenarios with two sides, against a differential function of our own relay, and one that looks at its own side alone.

use crate::own_relay::shot;
use serde_json::Value;
use support::{root_or_skip, series};

pub(crate) const RELAY: &str = "[relay]
name = \"R\"
[rated]
current-a = 400
voltage-v = 110_000
[[stream]]
name = \"near\"
sv = { svID = \"MU01\", profile = \"F4800S1I4U4\" }
[[stream]]
name = \"far\"
sv = { svID = \"MU02\", dst = \"01:0c:cd:04:00:02\", profile = \"F4800S1I4U4\" }
[[function]]
name = \"87L\"
sides = [\"near\", \"far\"]
settings.pdif = { rated-current-a = [400, 400] }
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

const SHOTS: [&str; 10] = [
    "--scenario",
    "differential-inside",
    "--scenario",
    "differential-outside",
    "--shots",
    "3",
    "--controls",
    "no-fault,other-sv-id,unsynchronised",
    "--breaker",
    "40ms",
];

fn count(document: &Value, name: &str, counter: &str) -> u64 {
    series(document, name)[counter].as_u64().expect("a count")
}

#[test]
fn both_sides_of_a_line_are_published_and_a_relay_that_sees_one_alone_fails() {
    if !root_or_skip("both_sides_of_a_line_are_published_and_a_relay_that_sees_one_alone_fails") {
        return;
    }
    let folder = tempfile::tempdir().expect("tempdir");
    let (good, _) = shot(folder.path(), "good", RELAY, &SHOTS);
    // A busy machine may leave shots uncounted, but it makes no relay fail.
    assert_ne!(good["verdict"], "fail", "{:?}", good["events"]);
    let [expected, received] =
        ["expected", "received"].map(|counter| count(&good, "trip/differential-inside", counter));
    assert!(
        received > 0 && received == expected,
        "{received} trips in {expected} shots"
    );
    assert_eq!(count(&good, "security/differential-outside", "unwanted"), 0);
    // Each frame of both streams is one of the publisher's.
    let lateness = &series(&good, "publish/lateness")["settings"];
    assert_eq!(lateness["streams"], "2", "{lateness}");

    let pdif = "sides = [\"near\", \"far\"]\nsettings.pdif = { rated-current-a = [400, 400] }";
    let own_side = RELAY.replace(pdif, "stream = \"near\"\nsettings.pioc = { pickup = 4 }");
    assert_ne!(own_side, RELAY);
    let (wrong, _) = shot(folder.path(), "wrong", &own_side, &SHOTS);
    assert!(
        count(&wrong, "security/differential-outside", "unwanted") > 0,
        "{wrong:#}"
    );
}
