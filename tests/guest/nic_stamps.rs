//! Stamps of a NIC, with the driver of a real one: QEMU's card has the registers of a clock, but no working clock.

use crate::machine::{Kernel, alone};
use support::root_or_skip;

#[test]
fn stamps_of_a_card_whose_clock_stands_still_are_refused_by_every_command() {
    let test = "stamps_of_a_card_whose_clock_stands_still_are_refused_by_every_command";
    if !root_or_skip(test) {
        return;
    }
    let left = match alone(Kernel::Rt612) {
        Ok(left) => left,
        Err(why) => return testing::skip(test, why),
    };
    let statuses = left.text("nic-stamps/statuses");
    let said = left.text("nic-stamps/said.txt");
    assert_eq!(statuses.split_whitespace().collect::<Vec<_>>(), ["2"; 5], "{said}");
    let card = left.text("nic-stamps/card");
    let refused = format!("{card}: its clock /dev/ptp0 cannot be used: it does not run: use --stamps software");
    assert_eq!(said.matches(&refused).count(), 5, "{said}");
}
