//! Files of sentinels, and their mistakes.

use super::File;

const LEAST: &str = "name = \"bay7\"\ninterface = \"eth1\"\nfolder = \"/var/lib/triptime/bay7\"\n";

fn parse(rest: &str) -> Result<File, String> {
    File::parse(&format!("{LEAST}{rest}"), "bay7.toml").map_err(|error| error.to_string())
}

#[test]
fn the_least_file_watches_a_relay_by_its_own_start() {
    let file = parse("[[relay]]\nname = \"main\"\ngoose = \"LD0/LLN0$GO$gcb\"\nstart = \"1\"\nwithin = \"30ms\"\n")
        .expect("a file");
    assert_eq!(file.relays[0].within.map(|within| within.0), Some(30_000_000));
    assert_eq!(
        (file.ring.before_ns(), file.run.window_ns()),
        (2_000_000_000, 600_000_000_000)
    );
    assert!(file.alarm.journal && file.alarm.hook.is_empty());
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (rest, why) in [
        ("", "nothing is watched"),
        ("nonsense = 1\n", "unknown field `nonsense`"),
        ("[[relay]]\nname = \"a\"\ngoose = \"x\"\n", "how a fault is recognised"),
        (
            "[[relay]]\nname = \"a\"\ngoose = \"x\"\nfault = \"above:3A\"\n",
            "stream: name the svID",
        ),
        (
            "[[relay]]\nname = \"a b\"\ngoose = \"x\"\nstart = \"1\"\n",
            "is no name",
        ),
        (
            "[[relay]]\nname = \"a\"\ngoose = \"x\"\nstart = \"1\"\nwithin = \"2s\"\n",
            "longer than the deadline",
        ),
        (
            "[[stream]]\nsvID = \"A\"\n[[stream]]\nsvID = \"A\"\n",
            "A is there twice",
        ),
        (
            "[[goose]]\nref = \"A\"\ntal_factor = 0.0\n",
            "tal_factor: from 0.1 to 100",
        ),
        (
            "[[goose]]\nref = \"A\"\ntal_factor = 1e12\n",
            "tal_factor: from 0.1 to 100",
        ),
        (
            "[[goose]]\nref = \"A\"\ntal_factor = nan\n",
            "tal_factor: from 0.1 to 100",
        ),
        ("[[stream]]\nsvID = \"A\"\nwithin = \"soon\"\n", "line 6"),
        ("[[stream]]\nsvID = \"A\"\n[ring]\nmemory = \"much\"\n", "line 7"),
    ] {
        let error = parse(rest).expect_err(rest);
        assert!(
            error.contains(why) && error.starts_with("bay7.toml: "),
            "{rest}: {error}"
        );
    }
}
