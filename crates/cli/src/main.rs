//! The binary. All of it is in the library of this crate, which compiles while what is linked is still being optimised.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    triptime::main()
}
