//! Turns the definitions in `bpf/*_layout.h` into constants and assertions for the Rust side; see `src/layout.rs`.

#[path = "build/header.rs"]
mod header;

use std::env::var_os;
use std::fs::{read_to_string, write};
use std::path::Path;

const LAYOUTS: [&str; 4] = ["stream_layout", "flight_layout", "hops_layout", "passage_layout"];

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = var_os("OUT_DIR").expect("cargo sets it");
    for name in LAYOUTS {
        let path = format!("bpf/{name}.h");
        println!("cargo::rerun-if-changed={path}");
        let text = read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let rust = header::rust(&text).unwrap_or_else(|why| panic!("crates/trace/{path}: {why}"));
        let to = Path::new(&out).join(name).with_extension("rs");
        write(&to, rust).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    }
}
