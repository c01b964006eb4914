//! Prints what is known of interfaces, and what makes a measurement on them questionable:
//! `cargo run -p triptime-lab --example nic -- eth1`.

use lab::nic::{Measurement, doubts, facts};
use std::io::{Write, stdout};

fn main() -> std::io::Result<()> {
    for name in std::env::args().skip(1) {
        for fact in facts(&name) {
            let value = fact.value.unwrap_or_else(|why| format!("? {why}"));
            writeln!(stdout(), "{}: {} = {value}", fact.group, fact.name)?;
        }
        for doubt in doubts(&name, &Measurement::default()) {
            writeln!(stdout(), "- {doubt}")?;
        }
    }
    Ok(())
}
