//! `triptime capacity`: finds how many streams this host can receive at least.

use crate::arguments::{PageArgs, RunArgs};
use crate::ending;
use crate::failure::{Failure, say};
use crate::ready::explained;
use crate::run_file::{Run, default_file};
use crate::verdict;
use campaign::CampaignError;
use campaign::capacity::{Asked, shortest_hold_ns};
use plan::{Named, live_facts};
use probes::options::positive_duration;
use report::capacity::Wanted;
use session::RunSpec;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::CpuList;

/// Finds the largest number of sampled-value streams that this host can receive, and with --relay the largest number of bays of a relay: no
/// frame lost, no task overrun, and nearly all samples in time. Searches over a test bed of its own, then confirms the answer over a longer
/// time
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples: triptime capacity --max 200\n          triptime capacity --relay --within 2ms --hold 10m --at-least 20\n          \
                  triptime capacity --cpus 3 --load hackbench@0 --html capacity.html"
)]
pub(crate) struct CapacityArgs {
    /// Run a relay of this program on the streams, with a bay of eight functions for each (bays1 to bays999). Every task must end in its
    /// cycle. The age of a sample is taken when the task works on it
    #[arg(long, conflicts_with_all = ["rate", "asdus"])]
    relay: bool,
    /// Maximum number of streams to try [default: 1000; with --relay 999]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    max: Option<u16>,
    /// Fail the run if the host holds fewer streams than this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    at_least: Option<u16>,
    /// Samples a second of each stream
    #[arg(long, value_name = "N", default_value_t = 4_800, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    rate: u32,
    /// Samples in a frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    asdus: u8,
    /// Share of the samples that must arrive in time, from 0.5 to below 1
    #[arg(long, value_name = "SHARE", default_value = "0.9999", value_parser = share)]
    quantile: f64,
    /// Maximum time from the instant a sample is due until the application has it, or until the relay's task works on it [default: 500us;
    /// with --relay 2ms]
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    within: Option<u64>,
    /// Duration of each attempt of the search
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = positive_duration)]
    probe: u64,
    /// Duration of the final confirming run
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = positive_duration)]
    hold: u64,
    /// CPUs of the device under test, of which the first one takes the streams [default: the isolated CPUs that no other process
    /// owns, or where there are none, all but the housekeeping ones]
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// CPUs for loads, recorder and test set [default: the lowest that is neither isolated nor owned]
    #[arg(long, value_name = "LIST")]
    housekeeping: Option<CpuList>,
    #[command(flatten)]
    run: RunArgs,
}

/// Parses a share for `--quantile`.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.5..1.0).contains(share));
    share.ok_or_else(|| "write it as 0.999: at least 0.5, and less than 1".to_owned())
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &CapacityArgs) -> Result<u8, Failure> {
    let max = args.most()?;
    let one = args.wanted();
    args.check_hold(&one)?;
    let cpus = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    explained(&args.run);
    let asked = Asked {
        one,
        max,
        at_least: args.at_least,
        probe_ns: args.probe,
        hold_ns: args.hold,
        window_ns: args.run.window,
        hold_idle: args.run.hold_idle,
        out: args.run.out.clone(),
        named: Named {
            measured: args.cpus.clone(),
            housekeeping: args.housekeeping.clone(),
        },
        cpus,
        interrupted: Arc::new(AtomicBool::new(false)),
        spec: &|measured, duration_ns| args.spec(measured, duration_ns),
        start: &|spec| args.start(spec),
        say: &say,
        tell: &|text| {
            if !args.run.quiet {
                say(text);
            }
        },
    };
    asked.refuse()?;
    args.run.served.refuse_for("a search")?;
    let file = args.run.out.clone().unwrap_or_else(|| default_file("capacity"));
    args.run.out.as_deref().map_or(Ok(()), free)?;
    ending::on_signals(&asked.interrupted)?;
    let held = asked.answer(&file)?;
    verdict::show(&held, None, &args.run)
}

impl CapacityArgs {
    fn most(&self) -> Result<u16, Failure> {
        let possible = if self.relay { 999 } else { 1_000 };
        let max = self.max.unwrap_or(possible);
        if max > possible {
            return Err(Failure::Usage(format!(
                "--max {max}: the relays of the program have {possible} bays at most"
            )));
        }
        match self.at_least {
            Some(asked) if asked > max => Err(Failure::Usage(format!(
                "--at-least {asked}: at most {max} streams are tried: give --max {asked}"
            ))),
            _ => Ok(max),
        }
    }

    /// An attempt with these options, and how it becomes a run.
    fn spec(&self, measured: CpuList, duration_ns: u64) -> RunSpec {
        RunSpec {
            flight_recorder: self.run.explains(),
            ..self.run.spec("capacity", measured, Some(duration_ns))
        }
    }

    /// Starts the run of an attempt. Attempts have no HTML or JUnit files.
    fn start(&self, spec: RunSpec) -> Result<session::Run, CampaignError> {
        let args = RunArgs {
            pages: PageArgs::default(),
            ..self.run.clone()
        };
        Ok(Run::start(spec, args)?.unreported())
    }

    /// Plan of an attempt with one stream.
    fn wanted(&self) -> Wanted {
        let usual = if self.relay { 2_000_000 } else { 500_000 };
        Wanted {
            streams: 1,
            rate: self.rate,
            asdus: self.asdus,
            relay: self.relay,
            quantile: self.quantile,
            within_ns: self.within.unwrap_or(usual),
        }
    }

    /// Refuses a `--hold` so short that it could not prove the quantile for even one stream.
    fn check_hold(&self, one: &Wanted) -> Result<(), Failure> {
        let needed_ns = shortest_hold_ns(one);
        if self.hold as f64 >= needed_ns {
            return Ok(());
        }
        let needed = units::format_ns(needed_ns);
        Err(Failure::Usage(format!(
            "--hold is too short to state the quantile {} of one stream with 95 %: hold for {needed} at least, or give a lower --quantile",
            self.quantile
        )))
    }
}

/// Refuses to replace a run file before the search starts, not after it.
fn free(file: &Path) -> Result<(), Failure> {
    match file.exists() {
        true => Err(Failure::Usage(format!(
            "{}: exists already: name another file with --out, or remove it first",
            file.display()
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_of_the_larger_part() {
        assert_eq!(share("0.9999"), Ok(0.9999));
        for text in ["1", "0.49", "-1", "NaN", "much", "1e9"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
