//! Prints the operate times of an inverse-time curve: `cargo run --example curve`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

use protection::overcurrent::Curve;

fn main() {
    let Some(constants) = Curve::IecNormalInverse.constants() else {
        return;
    };
    for multiple in [1.5, 2.0, 5.0, 10.0, 20.0] {
        println!("{multiple} times the setting: {:.3} s", constants.operate_s(multiple));
    }
}
