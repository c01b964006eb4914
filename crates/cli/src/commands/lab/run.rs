//! `triptime lab run`: a command in a guest of a bed that is up.

use super::errand::Errand;
use super::own::taken_from;
use crate::failure::{Failure, say};
use lab::{LabName, Labs};
use place::ClockOffset;

/// Option of the commands whose runs `merge` can use.
const RECORDS: &str = "--record";

/// Runs a command in a guest of `lab up --place vm`, and brings the run here
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A guest runs one command at a time; several guests of a bed can run one each at the same time. When
`lab run` ends, its command ends, too. Files that WORDS name are copied into the guest.

Examples: triptime lab run vpc wakeup --duration 10s
          triptime lab run vpc --device 1 relay feeder.toml eth0 --duration 1m")]
pub(crate) struct RunArgs {
    /// Name of the bed
    #[arg(value_name = "NAME", value_parser = LabName::parse)]
    name: LabName,
    /// One of its devices
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    device: usize,
    #[command(flatten)]
    errand: Errand,
    /// The command and its options, as on the command line of triptime
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    words: Vec<String>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    // The lock is not held while the command runs, so other beds can be made and removed.
    let guest = Labs::lock()?.find(&args.name)?.guest_at(args.device)?;
    let (words, errand) = taken_from(&args.words, &args.errand);
    let file = errand.file(&format!("{}-{}", args.name, args.device))?;
    let visit = guest.visit()?;
    let records = words.iter().any(|word| word == RECORDS);
    let before = records.then(|| visit.clock()).transpose()?;
    let status = errand.run(&file, &words, None, |job| visit.run(job))?;
    if let Some(before) = before {
        // The guest's clock drifted between the two measurements of its offset.
        let said = visit
            .clock()
            .map_or_else(|error| error.to_string(), |after| relation(before, after));
        say(&format_args!("{said}"));
    }
    Ok(status)
}

/// Relation to the guest's clock for `merge`, valid before and after the run.
fn relation(before: ClockOffset, after: ClockOffset) -> String {
    let low = |clock: ClockOffset| clock.offset_ns.saturating_sub_unsigned(clock.uncertainty_ns);
    let high = |clock: ClockOffset| clock.offset_ns.saturating_add_unsigned(clock.uncertainty_ns);
    let (low, high) = (low(before).min(low(after)), high(before).max(high(after)));
    let half_ns = high.abs_diff(low).div_ceil(2);
    let offset_ns = low.saturating_add_unsigned(half_ns);
    format!(
        "the guest's clock minus this machine's: {offset_ns} ns, within {half_ns} ns, before and after. To merge with a run of this \
         machine: triptime merge HOST GUEST --clock offset:{offset_ns}ns:{half_ns}ns"
    )
}

#[cfg(test)]
mod tests {
    use super::{ClockOffset, relation};

    #[test]
    fn both_looks_at_a_clock_are_within_what_is_said() {
        let clock = |offset_ns, uncertainty_ns| ClockOffset {
            offset_ns,
            uncertainty_ns,
        };
        let text = relation(clock(-1_000, 100), clock(-1_300, 50));
        assert!(text.ends_with("offset:-1125ns:225ns"), "{text}");
    }
}
