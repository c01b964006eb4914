//! `triptime cyclictest`: takes a command line of cyclictest as it stands, measures like `triptime wakeup`, and prints cyclictest's form.

use super::cpus::{CpuArgs, measured};
use crate::arguments::RunArgs;
use crate::failure::{Failure, say};
use crate::run_file::Run;
use crate::verdict;
use interop::cyclictest::{Dialect, Measurement, write_text};
use interop::export::cyclictest;
use probes::wakeup::{Clock, WakeupConfig, WakeupOptions};
use session::SessionError;
use std::fmt::Write;
use store::RunFile;
use sys::thread::Policy;
use units::{CpuList, Period};

/// Timer wake-up latency as `wakeup` measures it, asked for and printed in cyclictest's own words
// `-h` is cyclictest's histogram.
#[derive(Debug, Clone, clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Example, from a guide of VMware:  triptime cyclictest -m -p 99 -i 100 -t 1 -a 1 -h 120 -q

The options under \"Run and output\" are triptime's. With --limits, --json, --full or --summary the answer is triptime's report."
)]
pub(crate) struct CyclictestArgs {
    /// Lock the memory: triptime always does
    #[arg(long, short)]
    mlockall: bool,
    /// Priority of SCHED_FIFO; 0 for the normal policy
    #[arg(long, short, value_name = "PRIO", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=99))]
    priority: u8,
    /// Policy: other, fifo, rr [default: fifo with a priority, otherwise other]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Interval in us
    #[arg(long, short, value_name = "US", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    interval: u64,
    /// Number of threads; without a number, one for each CPU [default: 1]
    #[arg(long, short, value_name = "N", num_args = 0..=1)]
    threads: Option<Option<u32>>,
    /// CPUs of the threads; without a list, all
    #[arg(long, short, value_name = "CPUS", num_args = 0..=1)]
    affinity: Option<Option<CpuList>>,
    /// One thread on each CPU, all with one priority and interval
    #[arg(long, short = 'S')]
    smp: bool,
    /// Print a histogram of N buckets of 1 us; larger latencies are overflows
    #[arg(long, short = 'h', visible_alias = "histofall", visible_short_alias = 'H', value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    histogram: Option<u64>,
    /// How long to measure, in seconds or with s, m, h or d [default: until interrupted]
    #[arg(long, short = 'D', value_name = "TIME", value_parser = time)]
    duration: Option<u64>,
    /// Number of intervals after which to end; 0 for no end
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    loops: u64,
    /// End at the first latency above this, in us
    #[arg(long, short, value_name = "US")]
    breaktrace: Option<u64>,
    /// Clock: 0 CLOCK_MONOTONIC, 1 CLOCK_REALTIME
    #[arg(long, short, value_name = "CLOCK", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    clock: u8,
    /// Additional interval of each further thread in us: only 0 can be measured here
    #[arg(long, short, value_name = "US")]
    distance: Option<u64>,
    /// First due instant at a full second plus this many us
    #[arg(long, value_name = "US", num_args = 0..=1)]
    secaligned: Option<Option<u64>>,
    /// Leave idle states as the system has them; without it, all CPUs are held out of them, as cyclictest does
    #[arg(long)]
    default_system: bool,
    /// Accepted without effect: the main thread does not measure, and runs beside the measured CPUs if it can
    #[arg(long, value_name = "CPUS")]
    mainaffinity: Option<CpuList>,
    /// Accepted without effect: clock_nanosleep, which triptime always uses
    #[arg(long, short)]
    nanosleep: bool,
    /// Accepted without effect
    #[arg(long, short = 'M')]
    refresh_on_max: bool,
    /// Print this help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    #[command(flatten)]
    run: RunArgs,
}

/// Parses a time of cyclictest, in ns.
fn time(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, last)) if last.is_ascii_alphabetic() => (&text[..at], last),
        _ => (text, 's'),
    };
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => 0,
    };
    let number: Option<u64> = digits.parse().ok();
    let ns = number.and_then(|number| number.checked_mul(seconds)?.checked_mul(1_000_000_000));
    ns.filter(|ns| *ns > 0)
        .ok_or_else(|| "write a number of seconds, or a number with m, h or d, such as 60h".to_owned())
}

impl CyclictestArgs {
    /// The measured CPUs: cyclictest's thread k runs on CPU k of its list.
    fn cpus(&self, allowed: &CpuList) -> Result<CpuList, Failure> {
        let listed = self.affinity.clone().flatten();
        let cpus = listed.unwrap_or_else(|| allowed.clone());
        let threads = match (self.threads, self.smp) {
            (Some(Some(threads)), _) => threads as usize,
            (Some(None), _) | (None, true) => cpus.len(),
            (None, false) => 1,
        };
        if threads == 0 || threads > cpus.len() {
            return Err(Failure::Usage(format!(
                "-t {threads}: triptime measures each CPU with one thread, and these are {cpus}: give as many threads as CPUs, or fewer"
            )));
        }
        Ok(cpus.iter().take(threads).collect())
    }

    fn policy(&self) -> Result<Policy, Failure> {
        let name = self.policy.as_deref().unwrap_or("");
        match (name, self.priority) {
            ("other" | "normal", _) | ("", 0) => Ok(Policy::Other),
            ("" | "fifo", priority @ 1..) => Ok(Policy::Fifo(priority)),
            ("rr", priority @ 1..) => Ok(Policy::RoundRobin(priority)),
            ("fifo" | "rr", 0) => Err(Failure::Usage(format!("--policy {name} needs a priority: add -p 80"))),
            _ => Err(Failure::Usage(format!("--policy {name}: use other, fifo or rr"))),
        }
    }

    fn duration_ns(&self) -> Option<u64> {
        let of_loops = (self.loops > 0).then(|| self.loops.saturating_mul(self.interval.saturating_mul(1_000)));
        self.duration.into_iter().chain(of_loops).min()
    }

    /// Differences to what cyclictest would do with these words.
    fn differences(&self, cpus: &CpuList) -> Vec<String> {
        let mut found = Vec::new();
        if self.affinity.is_none() && !self.smp {
            found.push(format!(
                "without -a cyclictest lets its threads move; here they stay on CPU {cpus}"
            ));
        }
        let has_distance = self.distance.map_or(!self.smp && self.histogram.is_none(), |us| us > 0);
        if cpus.len() > 1 && has_distance {
            found.push(format!(
                "the further threads of cyclictest would have longer intervals (-d); here each has {} us",
                self.interval
            ));
        }
        found
    }

    fn options(&self) -> Result<WakeupOptions, Failure> {
        let ns = |us: u64| us.saturating_mul(1_000);
        Ok(WakeupOptions {
            interval: Period::of_ns(ns(self.interval)),
            policy: self.policy()?,
            clock: match self.clock {
                0 => Clock::Monotonic,
                _ => Clock::Realtime,
            },
            secaligned: self.secaligned.map(|us| ns(us.unwrap_or(0))),
            threshold: self.histogram.map(ns),
            break_above: self.breaktrace.filter(|us| *us > 0).map(ns),
            ..WakeupOptions::default()
        })
    }

    /// True if the answer is triptime's.
    fn is_reported(&self) -> bool {
        let run = &self.run;
        run.limits.is_some() || run.face.is_given()
    }
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &CyclictestArgs) -> Result<u8, Failure> {
    let cpus = args.cpus(&sys::thread::allowed_cpus())?;
    for difference in args.differences(&cpus) {
        say(&difference);
    }
    let mut run = args.run.clone();
    run.hold_idle |= !args.default_system;
    let own = CpuArgs::of(cpus, args.duration_ns(), args.options()?, run);
    let (run, outcome) = measured::<WakeupConfig>(&own, None)?;
    if args.is_reported() {
        return run.finish(outcome);
    }
    print(args, run, outcome)
}

/// Closes the run and prints it as cyclictest would.
fn print(args: &CyclictestArgs, run: Run, outcome: Result<(), SessionError>) -> Result<u8, Failure> {
    let file = run.close(outcome)?;
    let failed = |error: &dyn std::fmt::Display| Failure::CouldNotMeasure(format!("{}: {error}", file.display()));
    let read = RunFile::open(&file).map_err(|error| failed(&error))?;
    let mut measurement = cyclictest::measurement(&read).map_err(|error| failed(&error))?;
    let mut text = Vec::new();
    if let Some(buckets) = args.histogram {
        measurement.range = Some(buckets);
        write_text(&measurement, Dialect::AllRows, &mut text).map_err(|error| failed(&error))?;
    } else {
        text = status_lines(&measurement, args).into_bytes();
    }
    verdict::write(&String::from_utf8_lossy(&text))?;
    say(&format_args!(
        "the run is in {}: `triptime report {} --limits substation` judges it",
        file.display(),
        file.display()
    ));
    Ok(0)
}

/// The lines that cyclictest shows while it measures, at the end.
fn status_lines(measurement: &Measurement, args: &CyclictestArgs) -> String {
    let (mut text, process) = (String::new(), std::process::id());
    for thread in &measurement.threads {
        let mean = thread.mean.map_or(0, |mean| mean.value as u64);
        let (min, max) = (thread.min.unwrap_or(0), thread.max.unwrap_or(0));
        // The last latency is not stored.
        let _ = writeln!(
            text,
            "T:{:2} ({:5}) P:{:2} I:{} C:{:7} Min:{min:7} Act:{:>5} Avg:{mean:5} Max:{max:8}",
            thread.number, process, args.priority, args.interval, thread.cycles, "-"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{CyclictestArgs, time};
    use crate::failure::Failure;
    use clap::{Args, FromArgMatches};
    use sys::thread::Policy;

    fn parse(words: &str) -> Result<CyclictestArgs, clap::Error> {
        let command = CyclictestArgs::augment_args(clap::Command::new("cyclictest"));
        let matches = command.try_get_matches_from(format!("cyclictest {words}").split_whitespace())?;
        CyclictestArgs::from_arg_matches(&matches)
    }

    fn cpus(words: &str, allowed: &str) -> Result<String, Failure> {
        let args = parse(words).expect(words);
        args.cpus(&allowed.parse().expect("a list"))
            .map(|cpus| cpus.to_string())
    }

    #[test]
    fn the_words_of_the_field_are_taken_as_they_stand() {
        for words in [
            "-m -p 99 -i 100 -t 1 -a 1 -h 120 -q",
            "-m -p 99 -i 100 -t 1 -a 1 -h 120 -D 1m --mainaffinity=0 -q",
            "-m -p99 -i100 -t1 -a1 -h120 -q",
            "-qmp99 -i 100 -t1 -a 1 --histogram=120 --duration=60",
            "--mlockall --priority=99 --interval=100 --threads=1 --affinity=1 --histogram 120 --quiet",
        ] {
            let args = parse(words).expect(words);
            let options = args.options().expect(words);
            assert_eq!(
                (options.interval.whole_ns(), options.policy, options.threshold),
                (100_000, Policy::Fifo(99), Some(120_000)),
                "{words}"
            );
            assert_eq!(cpus(words, "0-3").ok().as_deref(), Some("1"), "{words}");
            let minute = (words.contains("-D") || words.contains("--duration")).then_some(60_000_000_000);
            assert_eq!(args.duration_ns(), minute, "{words}");
        }
        // Of Sienda's guide.
        let smp = "--smp --mlockall --interval=125 --priority=99 --clock=1";
        assert_eq!(cpus(smp, "0-3").ok().as_deref(), Some("0-3"));
    }

    #[test]
    fn threads_take_the_first_cpus_of_the_list() {
        for (words, wanted) in [
            ("-t 2 -a 4-7", "4-5"),
            ("-t -a 4-7", "4-7"),
            ("-a 4-7", "4"),
            ("-t", "0-3"),
            ("-Sp80", "0-3"),
            ("-a -t", "0-3"),
        ] {
            assert_eq!(cpus(words, "0-3").ok().as_deref(), Some(wanted), "{words}");
        }
        for words in ["-t 5", "-t 2 -a 1", "-t 0"] {
            assert!(cpus(words, "0-3").is_err(), "{words}");
        }
    }

    #[test]
    fn times_loops_and_refusals() {
        for (text, seconds) in [("60", 60), ("60s", 60), ("1m", 60), ("60h", 216_000), ("7d", 604_800)] {
            assert_eq!(time(text), Ok(seconds * 1_000_000_000), "{text}");
        }
        for text in ["", "m", "1x", "-1", "0", "99999999999d", "1é"] {
            assert!(time(text).is_err(), "{text}");
        }
        assert_eq!(
            parse("-l 1000 -i 100 -D 1").expect("valid").duration_ns(),
            Some(100_000_000)
        );
        assert_eq!(parse("-l 0").expect("valid").duration_ns(), None);
        for words in ["-i 0", "-p 100", "--unknown", "-c 2", "-h 0"] {
            assert!(parse(words).is_err(), "{words}");
        }
        for words in ["--policy fifo", "--policy idle -p 1"] {
            assert!(parse(words).expect(words).policy().is_err(), "{words}");
        }
    }

    #[test]
    fn differences_are_said() {
        let said = |words: &str| {
            let args = parse(words).expect(words);
            args.differences(&"0-1".parse().expect("a list")).len()
        };
        assert_eq!(said("-t2 -a 0-1 -h 100"), 0);
        assert_eq!(said("-t2 -a 0-1"), 1, "their intervals");
        assert_eq!(said("-t2 -d0"), 1, "they would move");
        assert_eq!(said("-S"), 0);
    }
}
