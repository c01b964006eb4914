use super::nothing;
use crate::commands::trace::TraceArgs;
use clap::Parser;
use trace::passage::FollowCounts;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    trace: TraceArgs,
}

fn args(more: &[&str]) -> TraceArgs {
    let all = [&["trace", "eth1", "--follow"], more].concat();
    Command::try_parse_from(all).expect("arguments").trace
}

#[test]
fn why_there_is_nothing_is_said() {
    let none = FollowCounts::default();
    assert_eq!(
        nothing(&args(&[]), &none, 1_000_000_000),
        "no sampled values came to eth1 in 1.00 s"
    );
    let others = FollowCounts {
        met: 5,
        malformed: 2,
        ..none
    };
    assert_eq!(
        nothing(&args(&["--stream", "MU09"]), &others, 300_000_000),
        "no sampled values of MU09 came to eth1 in 300 ms (5 others did, and 2 malformed ones)"
    );
    // The frames came, but no event of them was kept.
    let all_lost = FollowCounts {
        met: 3,
        chosen: 3,
        lost_events: 40,
        missed_runs: 1,
        missed_functions: Some(1),
        ..none
    };
    let said = nothing(&args(&[]), &all_lost, 300_000_000);
    assert!(said.starts_with("3 sampled values came to eth1"), "{said}");
    assert!(
        said.contains("the ring had no room for 40, the kernel did not show 2"),
        "{said}"
    );
    let no_room = FollowCounts {
        met: 3,
        no_room: 3,
        ..none
    };
    let said = nothing(&args(&[]), &no_room, 300_000_000);
    assert!(said.contains("no room for their streams (--max-streams)"), "{said}");
}

#[test]
fn what_follows_nothing_is_refused_beside_it() {
    for other in [
        &["--first", "a=eth0"][..],
        &["--ptp", "auto"],
        &["--ptp-domain", "3"],
        &["--ptp-interval", "1s"],
        &["--ptp-limit", "1us"],
        &["--grandmaster"],
        &["--file-budget", "1MiB"],
        &["--record"],
    ] {
        let all = [&["trace", "eth1", "--follow"], other].concat();
        let Err(error) = Command::try_parse_from(all) else {
            panic!("{other:?} is taken");
        };
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{other:?}");
    }
}
