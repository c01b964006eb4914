//! Consoles without a login, and monitoring agents.

use units::CpuList;

use super::super::shared::{Search, cpus, running, strings};
use crate::facts::{Class, Facts};
use crate::value::{Unknown, Value};
use host::console::{is_shell, shell_on_console};
use host::error::HostError;
use host::reader::Reader;

/// Agents that collect figures at intervals, by name prefix.
const AGENTS: [&str; 14] = [
    "node_exporter",
    "prometheus",
    "process-exporte",
    "libvirt-exporte",
    "telegraf",
    "collectd",
    "netdata",
    "zabbix_agent",
    "snmpd",
    "ipmitool",
    "ipmi_exporter",
    "smartd",
    "storcli",
    "pmcd",
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let processes = running(facts);
    facts.set("platform.open-consoles", open_consoles(reader, facts));
    let ptp4l = end_to_end(facts);
    facts.set("platform.ptp4l-end-to-end", ptp4l);
    let rt_cpus = cpus(facts, "rt_cpus");
    let agents = rt_cpus.and_then(|rt_cpus| {
        let running = processes?;
        let is_agent = |name: &String| AGENTS.iter().any(|agent| name.starts_with(agent));
        let named = running.iter().filter(|(name, _)| is_agent(name));
        let each = named.flat_map(|(name, pids)| pids.iter().map(move |pid| (name.as_str(), *pid)));
        on(reader, each, &rt_cpus)
    });
    facts.set("platform.agents-on-rt-cpus", agents);
}

/// True if a running ptp4l measures the delay end to end.
fn end_to_end(facts: &Facts) -> Result<bool, Unknown> {
    for part in facts.parts(Class::Ptp) {
        let runs = facts.get(Some(part), "ptp.runs")? == Value::Flag(true);
        if runs && facts.get(Some(part), "ptp.delay-mechanism")? == Value::Text("E2E".to_owned()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Processes that may run on real-time CPUs.
fn on<'a>(
    reader: &Reader,
    agents: impl Iterator<Item = (&'a str, u64)>,
    rt_cpus: &CpuList,
) -> Result<Vec<String>, Unknown> {
    let mut search = Search::default();
    for (name, pid) in agents {
        match allowed(reader, pid) {
            Ok(cpus) if cpus.iter().any(|cpu| rt_cpus.contains(cpu)) => {
                search.add(format!("{name} (pid {pid}, CPU {cpus})"));
            }
            Ok(_) => {}
            Err(error) => search.missed(error),
        }
    }
    search.result()
}

fn allowed(reader: &Reader, pid: u64) -> Result<CpuList, HostError> {
    let path = format!("/proc/{pid}/status");
    let text = reader.text(&path)?;
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cpus = list.and_then(|list| list.trim().parse().ok());
    cpus.ok_or_else(|| HostError::unexpected(&path, "a line Cpus_allowed_list", &text))
}

/// Shells on consoles, and logins without a password.
fn open_consoles(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let mut search = Search::default();
    let processes = running(facts)?;
    let asked = processes
        .iter()
        .filter(|(name, _)| is_shell(name) || name.ends_with("getty"));
    for (name, pid) in asked.flat_map(|(name, pids)| pids.iter().map(move |pid| (name, pid))) {
        let Ok(line) = reader.line(&format!("/proc/{pid}/stat")) else {
            continue;
        };
        if let Some(shell) = shell_on_console(&line) {
            search.add(format!("{shell} on a console (pid {pid})"));
        } else if name.ends_with("getty") {
            match strings(reader, &format!("/proc/{pid}/cmdline")) {
                Ok(words) if words.iter().any(|word| word == "-a" || word.starts_with("--autologin")) => {
                    search.add(format!("{name} without a password (pid {pid})"));
                }
                Ok(_) => {}
                Err(unknown) => search.missed(unknown),
            }
        }
    }
    search.result()
}
