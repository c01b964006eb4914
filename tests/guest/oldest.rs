//! The oldest supported kernel: messages name the version for functions that it lacks, and everything else works.

use crate::machine::{Kernel, Left, alone};
use store::RunFile;
use support::root_or_skip;

/// Files that a guest with that kernel left; `None` if the test was skipped.
fn oldest(test: &str) -> Option<&'static Left> {
    if !root_or_skip(test) {
        return None;
    }
    match alone(Kernel::Rt510) {
        Ok(left) => Some(left),
        Err(why) => {
            testing::skip(test, why);
            None
        }
    }
}

#[test]
fn what_takes_a_newer_kernel_names_its_version() {
    let Some(left) = oldest("what_takes_a_newer_kernel_names_its_version") else {
        return;
    };
    assert!(left.text("kernel").starts_with("5.10."), "{}", left.text("kernel"));
    for (tried, said, version) in [
        ("oldest/trace", "oldest/trace.txt", "Linux 5.12"),
        ("follow/passages", "follow/passages.txt", "Linux 5.12"),
        ("oldest/busy-poll", "oldest/busy-poll.txt", "Linux 5.11"),
    ] {
        let said = left.text(said);
        assert_eq!(left.text(&format!("{tried}.status")), "3", "{tried}: {said}");
        assert!(said.contains(version) && !said.contains("os error"), "{tried}: {said}");
    }
}

#[test]
fn the_kernels_own_search_for_gaps_comes_to_its_end() {
    let Some(left) = oldest("the_kernels_own_search_for_gaps_comes_to_its_end") else {
        return;
    };
    let said = left.text("oldest/hwlat.txt");
    assert_eq!(left.text("oldest/hwlat.status"), "0", "{said}");
    assert_eq!(left.text("oldest/instances"), "", "left behind in tracefs");
    let run = RunFile::open(&left.path("oldest/hwlat.triptime")).expect("a run");
    let (_, spec) = run.series().expect("series").remove(0);
    let hwlat = spec.settings.iter().find(|(name, _)| name.as_str() == "hwlat");
    assert!(hwlat.is_some(), "{:?}", spec.settings);
}
