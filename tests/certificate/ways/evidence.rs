//! Run files that are not the certified ones, and readers who ask for more.

use super::{BROKEN, RUN, UNDECIDED, Way, octets, way};
use std::fs;

pub(super) fn run_files<'a>() -> Vec<Way<'a>> {
    let file = |name: &str, says, by: fn(&mut Vec<u8>)| way(name, BROKEN, says, move |bench| octets(bench, RUN, by));
    vec![
        file("a bit of the run's head", "CHANGED", |octets| octets[40] ^= 1),
        file("a bit in the middle of the run", "CHANGED", |octets| {
            let at = octets.len() / 2;
            octets[at] ^= 1;
        }),
        file("the last bit of the run", "CHANGED", |octets| {
            let last = octets.len() - 1;
            octets[last] ^= 1;
        }),
        file("the run is cut", "it was cut", |octets| {
            octets.truncate(octets.len() / 2);
        }),
        file("the run is empty", "it was cut", Vec::clear),
        file("the run has more", "it grew", |octets| octets.push(0)),
        file("the name of a series in the run", "CHANGED", |octets| {
            let at = octets
                .windows(8)
                .position(|part| part == b"task/VPC")
                .expect("a series");
            octets[at + 7] = b'D';
        }),
        file("the limits in the run", "CHANGED", |octets| {
            let at = octets
                .windows(13)
                .position(|part| part == b"allowed = \"1m")
                .expect("limits");
            octets[at + 11] = b'9';
        }),
        way("the run is missing", UNDECIDED, "MISSING", |bench| {
            fs::remove_file(bench.path(RUN)).expect("removed");
        }),
        way("the run is renamed", UNDECIDED, "MISSING", |bench| {
            fs::rename(bench.path(RUN), bench.path("fat.triptime")).expect("moved");
        }),
        way("the run is a folder", UNDECIDED, "MISSING", |bench| {
            fs::remove_file(bench.path(RUN)).expect("removed");
            fs::create_dir(bench.path(RUN)).expect("created");
        }),
        way("another run", BROKEN, "another run", |bench| {
            bench.import("other", 431, &["--limits", &bench.limits("1ms")]);
            fs::rename(bench.path("other.triptime"), bench.path(RUN)).expect("moved");
        }),
        way("a log beside the run", BROKEN, "CHANGED", |bench| {
            fs::write(bench.path("sat.triptime-wal"), "more").expect("written");
        }),
    ]
}

/// A profile with a limit below the run's figures.
fn strict_limits() -> String {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("strict.toml");
    let limit =
        "[[limit]]\nid = \"any.max\"\nseries = \"*\"\nquantity = \"max\"\nallowed = \"1us\"\nsource = \"this test\"\n";
    fs::write(&file, format!("name = \"strict\"\nwhat = \"tests\"\n{limit}")).expect("written");
    file.to_str().expect("text").to_owned()
}

/// Readers who ask for more than was certified.
pub(super) fn questions<'a>() -> Vec<Way<'a>> {
    let asked = |name: &str, may, says, options: &[&str]| Way {
        options: options.iter().map(|&word| word.to_owned()).collect(),
        ..way(name, may, says, |_| {})
    };
    vec![
        asked("another plan", BROKEN, "ANOTHER", &["--plan", "quick"]),
        Way {
            options: vec!["--limits".to_owned(), strict_limits()],
            ..way("stricter limits", &["holds"], "by the given limits: fail", |_| {})
        },
    ]
}
