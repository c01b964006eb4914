//! Idle states that a CPU may enter, and their exit latency.

use super::super::absence::believed;
use super::super::shared::unclear;
use crate::facts::Facts;
use crate::value::{Unknown, Why};
use host::config::Config;
use host::idle::{held_limit_us, resume_limit_us};
use host::reader::Reader;

const CPUS: &str = "/sys/devices/system/cpu";

/// Stores the latency limit that a process requests while it holds `/dev/cpu_dma_latency` open.
pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("idle.held-limit-us", held_limit_us(reader).map(f64::from));
}

/// One idle state of a CPU.
struct State {
    is_loop: bool,
    latency_us: f64,
    is_off: bool,
}

/// States of a CPU, the lightest first. `None`: no driver, only the processor's halt.
fn states(reader: &Reader, cpu: u32) -> Result<Option<Vec<State>>, Unknown> {
    let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
    let names = match reader.names(&folder, |name| name.starts_with("state")) {
        Ok(names) => names,
        Err(error) if error.is_absent() => return without_driver(reader, &folder).map(|()| None),
        Err(error) => return Err(error.into()),
    };
    if names.is_empty() {
        return Err(Unknown::unclear(format!("{folder}: no state is listed")));
    }
    let mut numbered: Vec<(u32, State)> = Vec::new();
    for name in names {
        let number = |file: &str| reader.parsed::<u64>(&format!("{folder}/{name}/{file}"), "a number");
        let state = State {
            // The name is "POLL" in every driver (Linux 6.12: drivers/cpuidle/poll_state.c).
            is_loop: reader.line(&format!("{folder}/{name}/name")).map_err(unclear)? == "POLL",
            latency_us: number("latency").map_err(unclear)? as f64,
            is_off: number("disable").map_err(unclear)? != 0,
        };
        numbered.push((name.trim_start_matches("state").parse().unwrap_or(u32::MAX), state));
    }
    numbered.sort_by_key(|(number, _)| *number);
    // The kernel numbers states without gaps (Linux 6.12: drivers/cpuidle/sysfs.c).
    if let Some((at, _)) = (0..).zip(&numbered).find(|(at, (number, _))| at != number) {
        return Err(Unknown::unclear(format!("{folder}: state{at} is missing")));
    }
    Ok(Some(numbered.into_iter().map(|(_, state)| state).collect()))
}

/// Longest exit latency of the states that `cpu` may enter, in us. Without a driver only the processor's halt remains: 0.
pub(super) fn slowest_us(reader: &Reader, cpu: u32) -> Result<f64, Unknown> {
    let Some(states) = states(reader, cpu)? else {
        return Ok(0.0);
    };
    let limit = resume_limit_us(reader, cpu)?;
    let entered = states.iter().filter(|state| state.is_entered(limit));
    Ok(entered.map(|state| state.latency_us).fold(0.0, f64::max))
}

impl State {
    fn is_entered(&self, limit: Option<f64>) -> bool {
        !self.is_off && limit.is_none_or(|limit| self.latency_us <= limit)
    }
}

/// True if `cpu` may only poll, during which the tick continues: this is the effect of a limit below the exit latency of C1 (Linux 6.12:
/// drivers/cpuidle/governors/menu.c, `menu_select`).
pub(super) fn polls(reader: &Reader, cpu: u32) -> Result<bool, Unknown> {
    let Some(states) = states(reader, cpu)? else {
        return Ok(false);
    };
    if states.iter().all(|state| !state.is_loop) {
        return Ok(false);
    }
    let limit = resume_limit_us(reader, cpu)?;
    let mut entered = states.iter().filter(|state| state.is_entered(limit));
    Ok(states.len() > 1 && entered.all(|state| state.is_loop))
}

/// Smallest limit that allows `cpu` its first state other than polling, in us. 0 would mean no limit at all.
pub(super) fn limit_us(reader: &Reader, cpu: u32) -> Result<f64, Unknown> {
    let states = states(reader, cpu)?.unwrap_or_default();
    let first = states.iter().find(|state| !state.is_loop && !state.is_off);
    let first = first.ok_or_else(|| Unknown::unclear(format!("CPU {cpu} has no idle state but polling")))?;
    Ok(first.latency_us.max(1.0))
}

fn without_driver(reader: &Reader, folder: &str) -> Result<(), Unknown> {
    let path = format!("{CPUS}/cpuidle/current_driver");
    let driver = reader.line(&path).map_err(|error| believed(reader, &path, "", error));
    let built = Config::read(reader).ok().map(|config| config.is_on("CPU_IDLE"));
    match (driver, built) {
        (Ok(driver), _) if driver == "none" => Ok(()),
        (Err(unknown), Some(false)) if unknown.why == Why::Absent => Ok(()),
        _ => Err(Unknown::unclear(format!(
            "{folder} is missing, and no file shows that the idle driver is absent"
        ))),
    }
}
