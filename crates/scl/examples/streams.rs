//! Lists the sampled values and GOOSE of an SCL file: `cargo run --example streams -- STATION.scd`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("which SCL file?")?;
    let document = scl::parse_bytes(&std::fs::read(path)?)?;
    for block in &document.sampled_values {
        println!(
            "sampled values {} of {}, APPID {:#06x}",
            block.sv_id, block.place.ied, block.address.appid
        );
    }
    for block in &document.gooses {
        println!(
            "GOOSE {} of {}, APPID {:#06x}",
            block.place.name, block.place.ied, block.address.appid
        );
    }
    Ok(())
}
