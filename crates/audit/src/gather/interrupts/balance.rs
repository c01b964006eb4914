//! Programs that move interrupts: irqbalance, and those that restore affinities after a link cycle.

use units::CpuList;

use super::super::shared::{Search, cpus, running, strings};
use crate::condition::as_mask;
use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::reader::Reader;

const FILES: [&str; 2] = ["/etc/default/irqbalance", "/etc/sysconfig/irqbalance"];

/// Folders of scripts that run when a link comes up.
const ON_LINK_UP: [&str; 4] = [
    "/etc/NetworkManager/dispatcher.d",
    "/etc/networkd-dispatcher/routable.d",
    "/etc/networkd-dispatcher/carrier.d",
    "/etc/network/if-up.d",
];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let running = process(facts);
    facts.set("irqbalance.running", running.clone().map(|pid| pid.is_some()));
    let settings = running.and_then(|pid| match pid {
        Some(pid) => settings(reader, pid),
        None => Err(Unknown::absent("irqbalance does not run")),
    });
    let banned = settings
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|settings| banned(settings, facts));
    facts.set("irqbalance.banned-cpus", banned);
    let free = settings.and_then(|settings| free_irqs(parameters, &settings, facts));
    facts.set("irqbalance.free-irqs", free);
    facts.set("irqs.reapplier", reapplier(reader, facts));
}

fn process(facts: &Facts) -> Result<Option<u64>, Unknown> {
    let running = running(facts)?;
    Ok(running.get("irqbalance").and_then(|pids| pids.first().copied()))
}

/// Settings: `NAME=value` from its environment, and its arguments.
struct Settings {
    environment: Vec<String>,
    arguments: Vec<String>,
}

impl Settings {
    fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.environment.iter();
        values.find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Settings of the process itself; if its environment is unreadable, of its start-up file.
fn settings(reader: &Reader, pid: u64) -> Result<Settings, Unknown> {
    let environment = strings(reader, &format!("/proc/{pid}/environ"));
    let environment = environment.or_else(|unknown| of_file(reader).ok_or(unknown))?;
    let mut arguments = strings(reader, &format!("/proc/{pid}/cmdline"))?;
    let more = environment
        .iter()
        .find_map(|entry| entry.strip_prefix("IRQBALANCE_ARGS="));
    arguments.extend(more.unwrap_or("").split_whitespace().map(str::to_owned));
    Ok(Settings { environment, arguments })
}

fn of_file(reader: &Reader) -> Option<Vec<String>> {
    let text = FILES.iter().find_map(|path| reader.text(path).ok())?;
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let line = |line: &str| line.trim_start_matches("export ").replace(['"', '\''], "");
    Some(lines.map(line).collect())
}

/// A given list replaces irqbalance's own detection, even an empty list (irqbalance, `setup_banned_cpus`).
fn banned(settings: &Settings, facts: &Facts) -> Result<CpuList, Unknown> {
    if let Some(list) = settings.value("IRQBALANCE_BANNED_CPULIST") {
        return list
            .trim()
            .parse()
            .map_err(|error| Unknown::unclear(format!("IRQBALANCE_BANNED_CPULIST: {error}")));
    }
    match settings.value("IRQBALANCE_BANNED_CPUS") {
        Some(mask) if mask.trim().is_empty() => Ok(CpuList::default()),
        Some(mask) => as_mask(&Value::Text(mask.trim().to_owned())),
        None => {
            let (isolated, nohz_full) = (cpus(facts, "cpus.isolated")?, cpus(facts, "cpus.nohz-full")?);
            Ok(isolated.iter().chain(nohz_full.iter()).collect())
        }
    }
}

/// Interrupts of the named interfaces that irqbalance may move.
fn free_irqs(parameters: &Parameters, settings: &Settings, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let mut banned = Vec::new();
    let mut arguments = settings.arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        match name {
            "--policyscript" | "-l" | "--banmod" | "-m" => {
                return Err(Unknown::unclear(format!("{name} decides, and cannot be followed")));
            }
            "--banirq" | "-i" if value.is_empty() => banned.extend(arguments.next().cloned()),
            "--banirq" => banned.push(value.to_owned()),
            _ => {}
        }
    }
    let mut free = Search::default();
    let named = facts.parts(Class::Nic).iter();
    for part in named.filter(|part| parameters.nics.contains(&part.name)) {
        let of_nic = super::of_nic(facts, part)?;
        let movable = of_nic.iter().filter(|number| !banned.contains(number));
        movable.for_each(|number| free.add(format!("{number} of {}", part.name)));
    }
    free.result()
}

/// True if affinities are restored when a link comes up: by a script for that event, or a service that watches links.
fn reapplier(reader: &Reader, facts: &Facts) -> Result<bool, Unknown> {
    let mut missed = Search::default();
    for folder in ON_LINK_UP {
        let names = match reader.names(folder, |_| true) {
            Ok(names) => names,
            Err(error) if error.is_absent() => continue,
            Err(error) => {
                missed.missed(error);
                continue;
            }
        };
        let path = |name: &String| format!("{folder}/{name}");
        let writes = |path: String| reader.text(&path).is_ok_and(|text| text.contains("smp_affinity"));
        if names.iter().map(path).any(writes) {
            return Ok(true);
        }
    }
    let running = running(facts)?;
    if running.keys().any(|name| name.starts_with("nic-irq")) {
        return Ok(true);
    }
    missed.result().map(|_| false)
}
