use super::{DAY_NS, after};
use crate::command_line;
use clap::Command;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn longer(line: &str) -> Option<String> {
    after(&words(line), 3_000_000_000).longer.map(|order| order.command)
}

fn wider(line: &str) -> Option<String> {
    after(&words(line), 3_000_000_000)
        .wider
        .map(|wider| wider.order.command)
}

#[test]
fn the_same_for_longer_keeps_its_words_and_not_its_files() {
    let of = |line: &str| longer(line).unwrap_or_default();
    assert_eq!(
        of("wakeup -a 1 -D 3s -i 250us --limits substation --out a.triptime --html b.html --quiet --load hackbench@0"),
        "triptime wakeup --cpus 1 --interval 250us --limits substation --load hackbench@0 --duration 24h"
    );
    assert_eq!(
        of("qualify networks --nic eth1,eth2 --cpus 2-3 --detach"),
        "triptime qualify networks --nic eth1,eth2 --cpus 2-3 --duration 24h"
    );
    assert_eq!(
        of("wakeup --cpus 1 --label two;words"),
        "triptime wakeup --cpus 1 --label 'two;words' --duration 24h"
    );
    assert_eq!(of("wakeup --cpus 1 -D 24h"), "triptime wakeup --cpus 1 --duration 7d");
    assert_eq!(longer("wakeup --cpus 1 -D 7d"), None);
    assert_eq!(after(&words("wakeup"), 8 * DAY_NS).longer, None);
}

#[test]
fn trips_are_gone_on_with_as_they_were_timed() {
    let of = |line: &str| longer(line).unwrap_or_default();
    assert_eq!(
        of("trip eth1 --scenario overcurrent --scenario load --goose IED1LD0/LLN0$GO$gcbTrip --cpu 2 -D 5s"),
        "triptime trip eth1 --cpu 2 --scenario overcurrent --scenario load --goose 'IED1LD0/LLN0$GO$gcbTrip' --shots 1000"
    );
    assert!(of("trip eth1 --shots 20").ends_with("trip eth1 --shots 200"));
    assert!(of("trip eth1 --type-test zone1").ends_with("--type-test zone1 --seed 2"));
    assert_eq!(longer("trip eth1 --shots 1000000"), None);
    // Another injector decides its shots: more of them come only with time.
    assert_eq!(
        of("trip eth1 --observe change:20% --goose X -D 5s"),
        "triptime trip eth1 --goose X --observe change:20% --duration 24h"
    );
    assert_eq!(longer("relay bays8 --replay record.cfg"), None);
}

#[test]
fn what_a_probe_left_open_its_profiles_plan_measures() {
    let of = |line: &str| wider(line).unwrap_or_default();
    let wakeup = "wakeup --cpus 1 --limits substation";
    assert_eq!(of(wakeup), "triptime qualify substation --cpus 1");
    assert_eq!(
        of("subscribe eth1 --limits seapath"),
        "triptime qualify substation --limits seapath"
    );
    assert_eq!(wider("qualify quick --limits substation"), None);
    assert_eq!(wider("wakeup --limits site.toml"), None);
    assert_eq!(wider("wakeup"), None);
}

/// Lines of help that show a command.
fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter_map(|line| line.split_once("triptime "));
    let own = lines
        .map(|(_, words)| words.replace(['\'', '"'], ""))
        .collect::<Vec<_>>();
    let below = command.get_subcommands().flat_map(examples);
    own.into_iter().chain(below).collect()
}

#[test]
fn every_command_of_the_help_and_every_plan_is_gone_on_with_by_one_that_is_taken() {
    let mut lines = examples(&command_line());
    let plans = plan::EMBEDDED
        .iter()
        .map(|(name, _)| format!("qualify {name} -D 5s --cpus 1 --out a.triptime"));
    lines.extend(plans);
    let (mut orders, mut of) = (0, Vec::new());
    for line in &lines {
        let again = after(&words(line), 3_000_000_000);
        let wider = again.wider.map(|wider| wider.order);
        for order in again.longer.into_iter().chain(wider) {
            let taken = command_line().try_get_matches_from(words(&order.command.replace('\'', "")));
            assert!(taken.is_ok(), "{line} -> {}: {taken:?}", order.command);
            orders += 1;
            of.push(order.command);
        }
    }
    for name in [
        "wakeup",
        "noise",
        "publish",
        "subscribe",
        "reflect",
        "talk",
        "listen",
        "trip",
        "qualify substation",
    ] {
        let begin = format!("triptime {name}");
        assert!(of.iter().any(|command| command.starts_with(&begin)), "{name}: {of:#?}");
    }
    assert!(orders > 30, "{of:#?}");
}
