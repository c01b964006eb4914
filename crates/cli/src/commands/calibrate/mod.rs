//! `triptime calibrate`: measures the error of the instrument on this machine.

mod effects;
mod interfaces;
mod json;
mod text;

use crate::failure::Failure;
use crate::verdict;
use effects::Effects;
use interfaces::Stamped;
use report::OwnBudgets;
use session::instrument::{Instrument, facts_of};
use std::fs;
use std::path::PathBuf;
use units::CpuList;

/// Exit status: a component could not be measured.
const INCOMPLETE: u8 = 3;

/// Measures this program's own error: reading the clocks, converting between them, and the effect on the median wake-up
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example: triptime calibrate --cpus 2,3
         triptime calibrate --cpus 2 --interfaces eth1,eth2 --json --out calibration.json

Every run measures its clock itself; this command shows it for each CPU, with the effect of the
recorder. It changes nothing, and takes some 10 s for the first CPU. The effect on wake-ups is
measured in pairs of blocks: a bare loop, and the whole path of a run.
Exit status: 0 every component was measured; 3 a component is not known, with the reason.")]
pub(crate) struct CalibrateArgs {
    /// CPUs whose clocks are measured; the effect on wake-ups is measured on the first [default: every CPU this process may use]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Interfaces whose time stamps are looked at
    #[arg(long, value_name = "IF,IF", value_delimiter = ',')]
    interfaces: Vec<String>,
    /// Wake-ups in each block of 0.5 ms periods
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(100..=20_000))]
    block: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Also write the JSON document into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Everything that was measured.
struct Calibration {
    clocks: Vec<(u32, Result<Instrument, String>)>,
    effects: Effects,
    stamps: Vec<Stamped>,
    budgets: OwnBudgets,
}

impl Calibration {
    fn is_complete(&self) -> bool {
        let is_known = |(_, clock): &(u32, Result<Instrument, String>)| clock.is_ok();
        self.clocks.iter().all(is_known) && self.effects.0.is_ok() && self.stamps.iter().all(Stamped::is_known)
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &CalibrateArgs) -> Result<u8, Failure> {
    let cpus = args.cpus.clone().unwrap_or_else(sys::thread::allowed_cpus);
    let Some(first) = cpus.first() else {
        return Err(Failure::Usage("--cpus names no CPU".to_owned()));
    };
    let stamps = args
        .interfaces
        .iter()
        .map(|name| Stamped::of(name))
        .collect::<Result<_, _>>()?;
    let clocks: Vec<_> = cpus.iter().map(|cpu| (cpu, Instrument::measure(Some(cpu)))).collect();
    let worst = clocks
        .iter()
        .map(|(_, clock)| clock.clone())
        .reduce(|a, b| Ok(a?.worse(b?)));
    let worst = worst.unwrap_or_else(|| Err("no CPU was measured".to_owned()));
    let calibration = Calibration {
        budgets: OwnBudgets::of(facts_of(&worst, Some(first))),
        effects: Effects::measure(first, args.block),
        clocks,
        stamps,
    };
    let document = json::document(&calibration)?;
    if let Some(path) = &args.out {
        let failed = |error| Failure::CouldNotMeasure(format!("{}: {error}", path.display()));
        fs::write(path, &document).map_err(failed)?;
    }
    verdict::write(&match args.json {
        true => document,
        false => text::text(&calibration),
    })?;
    Ok(if calibration.is_complete() { 0 } else { INCOMPLETE })
}
