//! Round trips inside guests that send by AF_XDP.

use crate::machine::{Kernel, Left, alone};
use serde_json::Value;
use support::{root_or_skip, series};

/// Files that a round trip in a guest with this kernel left; `None` if the test was skipped.
fn measure(test: &str, kernel: Kernel) -> Option<&'static Left> {
    if !root_or_skip(test) {
        return None;
    }
    match alone(kernel) {
        Ok(left) => Some(left),
        Err(why) => {
            testing::skip(test, why);
            None
        }
    }
}

fn assert_comes_back(left: &Left) {
    assert_eq!(left.text("round-trip/near.status"), "0", "{}", left.console);
    let document: Value = serde_json::from_str(&left.text("round-trip/near.json")).expect("JSON");
    let rtt = series(&document, "rtt/reflect");
    let count = |name: &str| rtt[name].as_u64().expect("a count");
    assert!(count("received") > 20, "{rtt}");
    // The other end of an emulated guest that stands still at the end of a course does not answer its last frames.
    assert!(count("lost") * 50 <= count("received"), "{rtt}");
    assert_eq!((count("duplicate"), count("reordered")), (0, 0), "{rtt}");
    assert_eq!(count("received") + count("missed"), count("expected"), "{rtt}");
}

#[test]
fn frames_come_back() {
    if let Some(left) = measure("frames_come_back", Kernel::Rt612) {
        assert_comes_back(left);
    }
}

#[test]
fn frames_come_back_on_the_oldest_kernel() {
    if let Some(left) = measure("frames_come_back_on_the_oldest_kernel", Kernel::Rt510) {
        assert_comes_back(left);
    }
}
