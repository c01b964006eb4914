//! `triptime latency-test TOOL`: what a latency test of the Node Tuning Operator measures in its pod, by the same environment variables.

mod environment;

use super::cpus::{CpuArgs, measured};
use super::noise;
use crate::arguments::RunArgs;
use crate::failure::{Failure, say};
use environment::Wish;
use host::roles::CpuFacts;
use probes::noise::NoiseOptions;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use std::time::Duration;
use sys::thread::Policy;
use units::{CpuList, Period};

/// Tools of the operator's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Tool {
    /// Wake-up latency, every 1 ms at FIFO 95, with all CPUs held out of idle states
    Cyclictest,
    /// Stalls of a spinning thread at FIFO 1
    Oslat,
}

impl Tool {
    /// Variable of its own limit.
    fn maximum(self) -> &'static str {
        match self {
            Self::Cyclictest => "CYCLICTEST_MAXIMUM_LATENCY",
            Self::Oslat => "OSLAT_MAXIMUM_LATENCY",
        }
    }

    /// Series that it measures.
    fn series(self) -> &'static str {
        match self {
            Self::Cyclictest => "wakeup/*",
            Self::Oslat => "noise/*",
        }
    }
}

/// Measures in a pod what a latency test of OpenShift's Node Tuning Operator measures, by its environment variables
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Reads LATENCY_TEST_RUNTIME (s; 300), LATENCY_TEST_DELAY (s; 0), LATENCY_TEST_CPUS (the first of this process's CPUs; all), \
CYCLICTEST_MAXIMUM_LATENCY, OSLAT_MAXIMUM_LATENCY and MAXIMUM_LATENCY (us). The largest latency has to be below the limit; without one \
nothing is judged. As there, the first CPU and its siblings are left to the main thread. For hwlatdetect there is `triptime noise --hwlat`.

Example: LATENCY_TEST_RUNTIME=60 MAXIMUM_LATENCY=20 triptime latency-test cyclictest")]
pub(crate) struct LatencyTestArgs {
    /// Tool whose measurement is made
    #[arg(value_enum)]
    tool: Tool,
    /// For oslat: spin even on CPUs that carry other real-time threads, virtual CPUs or interrupt threads of a network interface in use
    #[arg(long)]
    disturb: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &LatencyTestArgs) -> Result<u8, Failure> {
    let wish = Wish::of(args.tool, std::env::vars_os()).map_err(Failure::Usage)?;
    let facts = plan::live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    let cpus = cpus(&sys::thread::allowed_cpus(), wish.cpus, &facts)?;
    if wish.delay_s > 0 {
        say(&format_args!("waiting {} s, as LATENCY_TEST_DELAY asks", wish.delay_s));
        std::thread::sleep(Duration::from_secs(wish.delay_s));
    }
    let limits = wish.maximum.as_ref().map(|(name, us)| limit(args.tool, name, *us));
    let duration_ns = Some(wish.runtime_s.saturating_mul(1_000_000_000));
    let mut run = args.run.clone();
    match args.tool {
        Tool::Cyclictest => {
            run.hold_idle = true;
            let options = WakeupOptions {
                interval: Period::of_ns(1_000_000),
                policy: Policy::Fifo(95),
                ..WakeupOptions::default()
            };
            let (run, outcome) = measured::<WakeupConfig>(&CpuArgs::of(cpus, duration_ns, options, run), limits)?;
            run.finish(outcome)
        }
        Tool::Oslat => {
            let options = NoiseOptions {
                policy: Policy::Fifo(1),
                ..NoiseOptions::default()
            };
            noise::measure(
                noise::NoiseArgs::of(cpus, duration_ns, options, args.disturb, run),
                limits,
            )
        }
    }
}

/// The CPUs to measure: of the pod's CPUs, here the first `wanted` of `allowed`, all but the first and the other threads of its core.
fn cpus(allowed: &CpuList, wanted: Option<u64>, facts: &CpuFacts) -> Result<CpuList, Failure> {
    let has = allowed.len() as u64;
    let wanted = wanted.unwrap_or(has);
    if wanted > has {
        return Err(Failure::Usage(format!(
            "LATENCY_TEST_CPUS={wanted}: this process may use {has} (CPU {allowed}): give the container more, or ask for fewer"
        )));
    }
    let pod: CpuList = allowed
        .iter()
        .take(usize::try_from(wanted).unwrap_or(usize::MAX))
        .collect();
    let main: CpuList = pod.first().into_iter().collect();
    let measured = pod.without(&main).without(&facts.siblings(&main));
    if measured.is_empty() {
        return Err(Failure::Usage(format!(
            "CPU {pod}: the first CPU and the other threads of its core are left to the main thread, and none is left to measure: give the \
             container 2 CPUs, or 4 with SMT"
        )));
    }
    Ok(measured)
}

/// The limit as a profile has it: the operator compares whole microseconds, and passes what is below.
fn limit(tool: Tool, variable: &str, us: u64) -> String {
    let allowed = us.saturating_mul(1_000).saturating_sub(1);
    format!(
        "[[limit]]\nid = \"latency-test.max\"\nseries = \"{}\"\nquantity = \"max\"\nallowed = \"{allowed}ns\"\n\
         source = \"{variable}={us}\"\nwhy = \"The Node Tuning Operator passes a largest latency below {us} µs.\"\n",
        tool.series()
    )
}

#[cfg(test)]
mod tests {
    use super::{Tool, cpus, limit};
    use host::roles::CpuFacts;
    use report::limits::Profile;

    fn measured(allowed: &str, wanted: Option<u64>) -> Option<String> {
        let allowed = allowed.parse().expect(allowed);
        cpus(&allowed, wanted, &CpuFacts::default())
            .ok()
            .map(|cpus| cpus.to_string())
    }

    #[test]
    fn the_first_cpu_of_the_pod_is_left_to_the_main_thread() {
        assert_eq!(measured("2-5", None).as_deref(), Some("3-5"));
        assert_eq!(measured("2-5", Some(2)).as_deref(), Some("3"));
        assert_eq!(measured("2-5", Some(5)), None, "more than the container has");
        assert_eq!(measured("2", None), None);
    }

    #[test]
    fn a_latency_at_the_limit_is_over_it() {
        for (us, allowed) in [(20, 19_999), (1, 999), (0, 0)] {
            let text = format!(
                "name = \"x\"\nwhat = \"x\"\n\n{}",
                limit(Tool::Oslat, "MAXIMUM_LATENCY", us)
            );
            let profile = Profile::parse(&text, "x").expect("a profile");
            assert_eq!(profile.limits[0].allowed, allowed, "{us}");
        }
    }
}
