//! Round trips inside guests by the engine that receives at the tcx hook.

use crate::machine::{Kernel, Left, alone};
use serde_json::Value;
use support::{root_or_skip, series};

/// What a round trip in a guest with this kernel left; `None` after leaving the test out.
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

#[test]
fn frames_come_back_from_the_tcx_hook() {
    let Some(left) = measure("frames_come_back_from_the_tcx_hook", Kernel::Rt612) else {
        return;
    };
    assert_eq!(left.text("round-trip/near.status"), "0", "{}", left.console);
    let document: Value = serde_json::from_str(&left.text("round-trip/near.json")).expect("JSON");
    let rtt = series(&document, "rtt/reflect");
    let count = |name: &str| rtt[name].as_u64().expect("a count");
    assert!(count("received") > 20, "{rtt}");
    assert_eq!(
        (count("lost"), count("duplicate"), count("reordered")),
        (0, 0, 0),
        "{rtt}"
    );
    assert_eq!(count("received") + count("missed"), count("expected"), "{rtt}");
}

#[test]
fn a_kernel_without_the_hook_is_told() {
    let Some(left) = measure("a_kernel_without_the_hook_is_told", Kernel::Rt510) else {
        return;
    };
    assert_eq!(left.text("round-trip/near.status"), "3", "{}", left.console);
    let said = left.text("round-trip/near.txt");
    assert!(
        said.contains("p-ts") && said.contains("tcx, Linux 6.6 or newer"),
        "{said}"
    );
}
