//! The binary. All code is in the library of this crate, which compiles while the linked crates are still being optimised.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    triptime::main()
}
