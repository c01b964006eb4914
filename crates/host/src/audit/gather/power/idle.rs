//! Idle states that a CPU may enter, and how long leaving them takes.

use std::fs::File;
use std::io::Read;

use super::super::shared::unclear;
use crate::audit::facts::Facts;
use crate::audit::value::Unknown;
use crate::config::Config;
use crate::error::{HostError, Unreadable};
use crate::reader::Reader;

const CPUS: &str = "/sys/devices/system/cpu";

/// Notes the limit that a process asks for while it holds `/dev/cpu_dma_latency` open.
pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("idle.held-limit-us", held_limit_us(reader).map(f64::from));
}

/// The limit now in force for all CPUs, in us.
pub(crate) fn held_limit_us(reader: &Reader) -> Result<i32, HostError> {
    let answer = reader.answer("cpu-dma-latency-us", || held_limit().map(|us| us.to_string()));
    answer.and_then(|text| {
        let us: Result<i32, _> = text.trim().parse();
        us.map_err(|_| HostError::unexpected("/.answers/cpu-dma-latency-us", "microseconds", &text))
    })
}

/// Four bytes: the limit now in force for all CPUs (Linux: power/pm_qos_interface.rst).
fn held_limit() -> Result<i32, HostError> {
    let path = "/dev/cpu_dma_latency";
    let mut octets = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut octets));
    read.map_err(|error| HostError::Unreadable {
        path: path.to_owned(),
        why: Unreadable::from_io(&error),
    })?;
    Ok(i32::from_ne_bytes(octets))
}

/// The longest exit of the states that `cpu` may enter, in us. Without a driver there is only the processor's halt: 0.
pub(super) fn slowest_us(reader: &Reader, cpu: u32) -> Result<f64, Unknown> {
    let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
    let states = match reader.names(&folder, |name| name.starts_with("state")) {
        Ok(states) => states,
        Err(error) if error.is_absent() => return without_driver(reader, &folder),
        Err(error) => return Err(error.into()),
    };
    if states.is_empty() {
        return Err(Unknown::unclear(format!("{folder}: no state is listed")));
    }
    let limit = resume_limit_us(reader, cpu)?;
    let mut slowest = 0.0_f64;
    for state in states {
        let number = |file: &str| reader.parsed::<u64>(&format!("{folder}/{state}/{file}"), "a number");
        let latency = number("latency").map_err(unclear)? as f64;
        if number("disable").map_err(unclear)? == 0 && limit.is_none_or(|limit| latency <= limit) {
            slowest = slowest.max(latency);
        }
    }
    Ok(slowest)
}

fn without_driver(reader: &Reader, folder: &str) -> Result<f64, Unknown> {
    let driver = reader.line(&format!("{CPUS}/cpuidle/current_driver"));
    let built = Config::read(reader).ok().map(|config| config.is_on("CPU_IDLE"));
    match (driver, built) {
        (Ok(driver), _) if driver == "none" => Ok(0.0),
        (Err(error), Some(false)) if error.is_absent() => Ok(0.0),
        _ => Err(Unknown::unclear(format!(
            "{folder} is missing, and no file says that there is no idle driver"
        ))),
    }
}

/// `n/a` tolerates no latency at all, 0 sets no limit (Linux: ABI/testing/sysfs-devices-power).
pub(crate) fn resume_limit_us(reader: &Reader, cpu: u32) -> Result<Option<f64>, Unknown> {
    let path = format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us");
    let value = match reader.line(&path) {
        Ok(value) => value,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match value.as_str() {
        "n/a" => Ok(Some(0.0)),
        "0" => Ok(None),
        us => match us.parse::<u32>() {
            Ok(us) => Ok(Some(f64::from(us))),
            Err(_) => Err(Unknown::unclear(format!("{path}: \"{us}\" is no time"))),
        },
    }
}
