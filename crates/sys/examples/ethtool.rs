//! Prints what the driver of an interface says: `cargo run -p triptime-sys --example ethtool -- eth0`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in std::env::args().skip(1) {
        writeln!(std::io::stdout(), "{name}: {:#?}", sys::ethtool::read(&name)?)?;
    }
    Ok(())
}

use std::io::Write;
