//! Time synchronisation: programs that set the clock, configuration of PTP, state of its port, and distances between clocks.

mod chrony;
mod clock;
mod options;
mod port;
mod ptp;
mod setters;
mod sharing;

use crate::facts::Facts;
use crate::gather::daemons::Daemon;
use crate::gather::network::cpus_of;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::processes::{is_clock_worker, is_of_time};
use host::reader::Reader;
use ptp::Ptp;

/// Programs whose delay affects the clock: the kernel's worker of a PTP clock is `ptp0`, `ptp1`…
const TIMED: [&str; 2] = ["ptp4l", "phc2sys"];

/// From the processes of such names, and others.
pub(super) fn gather(reader: &Reader, parameters: &Parameters, all: &Result<Vec<Daemon>, Unknown>, facts: &mut Facts) {
    facts.set("limits.clock-offset-ns", 1000u32);
    facts.set("limits.step-s", 1.0);
    let found = all.clone().map(|mut all| {
        all.retain(|daemon| is_of_time(&daemon.name));
        all
    });
    let ptp = found.clone().map(|found| Ptp::read_all(reader, &found));
    let chrony = found.clone().map(|found| chrony::read(reader, &found));
    facts.set("time.daemons", found.clone().map(|found| names(&found)));
    facts.set(
        "time.setters",
        found
            .clone()
            .and_then(|found| setters::of(&found, ptp.as_deref().unwrap_or_default(), &parameters.vmx)),
    );
    facts.set("time.smallest-step-s", smallest_step(&found, &ptp, &chrony));
    placement(&found, facts);
    ptp::gather(reader, &ptp, facts);
    let all = found.as_deref().map_err(Unknown::clone);
    clock::gather(reader, &all.and_then(|all| steered(reader, all, &ptp, &chrony)), facts);
}

fn names(found: &[Daemon]) -> Vec<String> {
    let ours = found.iter().filter(|daemon| !is_clock_worker(&daemon.name));
    ours.map(|daemon| daemon.name.clone()).collect()
}

/// Finds the PTP threads without real-time priority, and the CPUs on which they may run.
fn placement(found: &Result<Vec<Daemon>, Unknown>, facts: &mut Facts) {
    let threads = found.clone().map(|found| {
        let timed = found
            .into_iter()
            .filter(|one| is_clock_worker(&one.name) || TIMED.contains(&one.name.as_str()));
        timed.flat_map(|one| one.threads).collect::<Vec<_>>()
    });
    let listed = threads
        .clone()
        .map(|all| all.into_iter().map(|one| one.name).collect::<Vec<_>>());
    facts.set("time.threads", listed);
    let ordinary = threads.clone().and_then(|all| {
        let mut names = Vec::new();
        for thread in all {
            if !thread.is_real_time()? {
                names.push(thread.name);
            }
        }
        Ok::<_, Unknown>(names)
    });
    facts.set("time.not-real-time", ordinary);
    facts.set("time.cpus", threads.and_then(|all| cpus_of(&all)));
}

/// Settings of the ptp4l with this process id.
fn of_daemon<'a>(all: &'a [Ptp], daemon: &Daemon) -> Result<&'a Ptp, Unknown> {
    let found = all.iter().find(|ptp| ptp.pid.as_ref() == Some(&daemon.pid));
    found.ok_or_else(|| Unknown::unclear("the settings of ptp4l are not known"))
}

/// Number of the hardware clock that the wall clock should follow: that of ptp4l's interface, or among several the one that phc2sys names;
/// else the one that chrony reads. A clock that no program steers is no evidence.
fn steered(
    reader: &Reader,
    found: &[Daemon],
    ptp: &Result<Vec<Ptp>, Unknown>,
    chrony: &Result<chrony::Chrony, Unknown>,
) -> Result<u32, Unknown> {
    let running = ptp.as_ref().map_err(Clone::clone)?.iter().filter(|ptp| ptp.runs());
    let mut clocks = Vec::new();
    for ptp in running {
        let first = ptp.interfaces.first();
        let first = first.ok_or_else(|| Unknown::unclear("the interfaces of ptp4l are not known"))?;
        clocks.push(ptp::clock_of(reader, first)?);
    }
    clocks.sort_unstable();
    clocks.dedup();
    match clocks[..] {
        [] => {
            let by_chrony = chrony.as_ref().map_err(Clone::clone)?.clock()?;
            by_chrony.ok_or_else(|| Unknown::absent("neither ptp4l nor chrony uses a hardware clock"))
        }
        [only] => Ok(only),
        _ => named_by_phc2sys(reader, found)?.ok_or_else(|| {
            Unknown::unclear(
                "several ptp4l steer several hardware clocks, and no phc2sys names the one that the wall clock follows",
            )
        }),
    }
}

/// Clock of the interface that is the source of a phc2sys which sets the wall clock.
fn named_by_phc2sys(reader: &Reader, found: &[Daemon]) -> Result<Option<u32>, Unknown> {
    for daemon in found.iter().filter(|daemon| daemon.name == "phc2sys") {
        let options = options::of(daemon)?;
        if let (true, Some(source)) = (options::sets_wall_clock(daemon)?, options::last(&options, "s")) {
            return ptp::clock_of(reader, source).map(Some);
        }
    }
    Ok(None)
}

/// Smallest offset in seconds that some daemon would correct by a step once it has settled; 0: none ever does.
fn smallest_step(
    found: &Result<Vec<Daemon>, Unknown>,
    ptp: &Result<Vec<Ptp>, Unknown>,
    chrony: &Result<chrony::Chrony, Unknown>,
) -> Result<f64, Unknown> {
    let found = found.as_ref().map_err(Clone::clone)?;
    let mut steps = Vec::new();
    for daemon in found {
        let step = match daemon.name.as_str() {
            "ptp4l" => of_daemon(ptp.as_ref().map_err(Clone::clone)?, daemon)?.number("step_threshold")?,
            "phc2sys" => options::phc2sys_step(daemon)?,
            "chronyd" => chrony.as_ref().map_err(Clone::clone)?.step()?,
            // systemd: timesyncd steps above 0.4 s; ntpd above 0.128 s, unless -x.
            "systemd-timesyn" => 0.4,
            "ntpd" if options::has(daemon, "-x")? || options::has(daemon, "--slew")? => 600.0,
            "ntpd" => 0.128,
            _ => 0.0,
        };
        steps.push(step);
    }
    let steps = steps.into_iter().filter(|step| *step > 0.0);
    Ok(steps.reduce(f64::min).unwrap_or(0.0))
}
