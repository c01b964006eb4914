//! Frequency and idle states: settings that change the CPU's speed or allow deep sleep.

use crate::cpu::{by_cpu, each, values_by_cpu};
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const NO_DRIVER: &str = "no frequency driver: the firmware or the hypervisor decides";

/// Facts of each CPU from its frequency driver.
const FREQUENCY: [(&str, &str); 5] = [
    ("frequency governor", "cpufreq/scaling_governor"),
    ("lowest frequency allowed (kHz)", "cpufreq/scaling_min_freq"),
    ("highest frequency allowed (kHz)", "cpufreq/scaling_max_freq"),
    ("highest frequency of the CPU (kHz)", "cpufreq/cpuinfo_max_freq"),
    ("energy preference", "cpufreq/energy_performance_preference"),
];

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "power");
    let driver = by_cpu(reader, "cpufreq/scaling_driver");
    let has_driver = !driver.as_ref().is_err_and(HostError::is_absent);
    sheet.explained("frequency driver", &each("cpufreq/scaling_driver"), driver, NO_DRIVER);
    for (name, file) in FREQUENCY.into_iter().filter(|_| has_driver) {
        sheet.explained(name, &each(file), by_cpu(reader, file), "not with this driver");
    }
    turbo(&mut sheet);
    sheet.line_or(
        "idle driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "kernel without cpuidle",
    );
    sheet.add(
        "idle governor",
        "/sys/devices/system/cpu/cpuidle/current_governor",
        idle_governor(reader),
    );
    let states = values_by_cpu(reader, |cpu| idle_states(reader, cpu));
    sheet.explained("idle states", &each("cpuidle/state*"), states, "no idle driver");
    let limit = values_by_cpu(reader, |cpu| wake_limit(reader, cpu));
    sheet.add(
        "wake-up limit of idle states",
        &each("power/pm_qos_resume_latency_us"),
        limit,
    );
    sheet.finish()
}

/// Turbo has one of two switches with opposite meaning, depending on the driver.
fn turbo(sheet: &mut Sheet<'_>) {
    let (no_turbo, boost) = (
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
        "/sys/devices/system/cpu/cpufreq/boost",
    );
    let words = |path: &str, on: &str| {
        sheet
            .reader
            .line(path)
            .map(|v| if v == on { "on" } else { "off" }.to_owned())
    };
    match words(no_turbo, "0") {
        Err(error) if error.is_absent() => {
            let value = words(boost, "1");
            sheet.explained("turbo", boost, value, "no driver that controls it");
        }
        value => sheet.add("turbo", no_turbo, value),
    }
}

/// Old kernels append the suffix `_ro`.
fn idle_governor(reader: &Reader) -> Result<String, HostError> {
    let path = "/sys/devices/system/cpu/cpuidle/current_governor";
    reader
        .line(path)
        .or_else(|error| reader.line(&format!("{path}_ro")).map_err(|_| error))
}

/// States of one CPU as `POLL 0 us, C1 2 us, C6 133 us (off)`: name and exit latency.
fn idle_states(reader: &Reader, cpu: u32) -> Result<String, HostError> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let mut states = Vec::new();
    for state in reader.names(&folder, |name| name.starts_with("state"))? {
        let name = reader.line(&format!("{folder}/{state}/name"))?;
        let latency = reader.line(&format!("{folder}/{state}/latency"))?;
        let off = reader
            .line(&format!("{folder}/{state}/disable"))
            .is_ok_and(|value| value != "0");
        states.push(format!("{name} {latency} us{}", if off { " (off)" } else { "" }));
    }
    if states.is_empty() {
        Err(HostError::Undecided("no state is listed".to_owned()))
    } else {
        Ok(states.join(", "))
    }
}

/// 0 means no limit, and `n/a` means that only the shallowest state is allowed (kernel documentation, ABI of sysfs power).
fn wake_limit(reader: &Reader, cpu: u32) -> Result<String, HostError> {
    let value = reader.line(&format!(
        "/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us"
    ))?;
    Ok(match value.as_str() {
        "0" => "no limit".to_owned(),
        "n/a" => "n/a: no latency is tolerated".to_owned(),
        other => format!("{other} us"),
    })
}
