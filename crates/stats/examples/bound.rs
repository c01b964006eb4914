//! Prints the bound that a count of late samples proves: `cargo run --example bound -- OVER SAMPLES`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (over, samples) = (
        numbers.next().unwrap_or(Ok(0))?,
        numbers.next().unwrap_or(Ok(1_000_000))?,
    );
    let bound = stats::exceedance::upper_bound(over, samples, 0.95);
    println!(
        "{over} of {samples} samples late: with 95 % confidence at most one in {:.0}",
        1.0 / bound
    );
    Ok(())
}
