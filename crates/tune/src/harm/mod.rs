//! Tries a remedy on the facts, before it is shown, applied or emitted: would the judged CPUs, the clock, the card of the connection and
//! the console still exist?

use units::CpuList;

use audit::Audit;
use audit::facts::{Class, Facts, Subject};
use audit::finding::{Finding, Outcome};
use audit::rule::{Change, Remedy};
use audit::value::Value;

const OFFER: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// Prefix of the alarms about a clock source that failed its check (rules/kernel-log.toml).
const UNSTABLE: &str = "clock source unstable";

/// Effect of a remedy that could remove something needed.
enum Effect<'a> {
    /// The second and further threads of every core are switched off.
    FirstThreadsOnly,
    /// The clock source is selected or trusted.
    Clock(&'a str),
    /// Devices of a domain leave this machine.
    Passed,
    /// The driver of the screen is not loaded.
    Screen(&'a str),
}

/// Requested checks whose remedy would do harm, each with the reason. `only` these checks, or all if it is empty.
pub fn harms(audit: &Audit, only: &[String]) -> Vec<(String, String)> {
    let open = audit.findings.iter().filter(|finding| {
        let asked = only.is_empty() || only.contains(&finding.rule.id);
        asked && matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
    });
    open.filter_map(|finding| Some((finding.rule.id.clone(), harm(audit, finding)?)))
        .collect()
}

/// Reason against every change of this machine: every CPU is judged, so the rest of the machine has none.
pub(super) fn none_left(audit: &Audit) -> Option<&'static str> {
    let is_empty = matches!(audit.facts.get(None, "hk_cpus"), Ok(Value::Cpus(others)) if others.is_empty());
    is_empty.then_some("every CPU online is set aside for real-time work: none is left for everything else")
}

/// Reason that the remedy of a finding would do harm on this machine.
pub(super) fn harm(audit: &Audit, finding: &Finding) -> Option<String> {
    let effects = effects(&finding.rule.remedy);
    effects.iter().find_map(|effect| match effect {
        Effect::FirstThreadsOnly => threads_lost(&audit.facts),
        Effect::Clock(name) => clock_lost(&audit.facts, name),
        Effect::Passed => card_lost(&audit.facts, finding),
        Effect::Screen(driver) => screen_lost(&audit.facts, driver),
    })
}

/// Risks for a finding's interfaces on this machine: an interface through which somebody may be connected loses its link or address.
pub(super) fn risks_here(audit: &Audit, finding: &Finding) -> Vec<String> {
    let remedy = &finding.rule.remedy;
    let takes_addresses = remedy.write.iter().any(|write| write.to.contains("/conf/{nic}/"));
    if finding.rule.each != Some(Class::Nic) || !(remedy.change == Change::Disruptive || takes_addresses) {
        return Vec::new();
    }
    let parts = audit.facts.parts(Class::Nic).iter();
    let meant = parts.filter(|nic| finding.open_parts().any(|part| part.part == nic.name));
    meant.filter_map(|nic| connected(&audit.facts, nic)).collect()
}

fn connected(facts: &Facts, nic: &Subject) -> Option<String> {
    let name = &nic.name;
    if let Ok(Value::List(carriers)) = facts.get(None, "connection.nics")
        && carriers.contains(name)
    {
        return Some(format!(
            "{name:?} carries the connection to this machine, or its default route"
        ));
    }
    let counts = ["nic.ipv4-addresses", "nic.ipv6-addresses"].map(|fact| match facts.get(Some(nic), fact) {
        Ok(Value::Number(count)) => Some(count),
        _ => None,
    });
    match counts {
        [Some(0.0), Some(0.0)] => None,
        [Some(_), Some(_)] => Some(format!(
            "{name:?} has an address of its own: anybody connected through it is cut off meanwhile"
        )),
        _ => Some(format!("it is not known if anybody is connected through {name:?}")),
    }
}

fn effects(remedy: &Remedy) -> Vec<Effect<'_>> {
    let of_write = remedy.write.iter().filter_map(|write| {
        let file = write.to.rsplit_once("/").map_or(write.to.as_str(), |(_, file)| file);
        match (file, write.value.as_str()) {
            ("control", "off" | "forceoff") if write.to.contains("/smt/") => Some(Effect::FirstThreadsOnly),
            ("current_clocksource", name) => Some(Effect::Clock(name)),
            _ => None,
        }
    });
    let words = remedy.emit.values().flatten().flat_map(|text| text.split_whitespace());
    let of_words = words.filter_map(|word| match word {
        "nosmt" | "nosmt=force" => Some(Effect::FirstThreadsOnly),
        "tsc=reliable" | "tsc=nowatchdog" => Some(Effect::Clock("tsc")),
        "<hostdev" => Some(Effect::Passed),
        word if word.starts_with("ids=") => Some(Effect::Passed),
        word => {
            let clock = word.strip_prefix("clocksource=").map(Effect::Clock);
            clock.or_else(|| word.strip_prefix("modprobe.blacklist=").map(Effect::Screen))
        }
    });
    of_write.chain(of_words).collect()
}

/// A card that is passed to a guest takes the connection with it.
fn card_lost(facts: &Facts, finding: &Finding) -> Option<String> {
    let domains = facts.parts(Class::Domain).iter();
    let parts = domains.filter(|domain| finding.open_parts().any(|part| part.part == domain.name));
    parts
        .filter_map(|domain| match facts.get(Some(domain), "dom.host-devices-carrying") {
            Ok(Value::List(carrying)) if carrying.is_empty() => None,
            Ok(carrying) => Some(format!(
                "it would take {carrying} away from this machine, which is reached through it: pass another device to the domain"
            )),
            Err(unknown) => Some(format!(
                "it is not known if this machine is reached through a device of the domain: {}",
                unknown.text
            )),
        })
        .next()
}

/// Without its driver a screen may stay dark: text needs the firmware's display mode, which not every machine has.
fn screen_lost(facts: &Facts, driver: &str) -> Option<String> {
    let is_screen = |name: &String| {
        let number = name.strip_prefix("tty");
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    match facts.get(None, "console.names") {
        Ok(Value::List(names)) if names.is_empty() || !names.iter().all(is_screen) => None,
        Ok(names) => Some(format!(
            "without {driver} the screen may stay dark, and no other console is on ({names}): set one up first, such as console=ttyS0"
        )),
        Err(unknown) => Some(format!(
            "it is not known if another console than the screen is on: {}",
            unknown.text
        )),
    }
}

/// The kernel keeps the first thread of each core online.
fn threads_lost(facts: &Facts) -> Option<String> {
    // Without reserved CPUs the class contains every CPU.
    match facts.get(None, "rt_cpus") {
        Ok(Value::Cpus(cpus)) if !cpus.is_empty() => {}
        _ => return None,
    }
    let second = |name: &str, part| match facts.get(Some(part), "cpu.is-second-thread") {
        Ok(Value::Flag(is_second)) => Ok(is_second.then(|| name.parse::<u32>().ok()).flatten()),
        Ok(_) => Ok(None),
        Err(unknown) => Err(unknown.text),
    };
    let parts = facts.parts(Class::RtCpu).iter();
    let found: Result<Vec<Option<u32>>, String> = parts.map(|part| second(&part.name, part)).collect();
    let lost: CpuList = match found {
        Ok(found) => found.into_iter().flatten().collect(),
        Err(why) => {
            return Some(format!(
                "it is not known if the judged CPUs are first threads of their cores: {why}"
            ));
        }
    };
    (!lost.is_empty()).then(|| {
        format!("it would switch CPU {lost} off, which is judged: name the first thread of each core with --cpus")
    })
}

/// A source that the kernel has rejected is not available, and rightly distrusted.
fn clock_lost(facts: &Facts, name: &str) -> Option<String> {
    let offer = match facts.get(None, OFFER) {
        Ok(offer) => offer.to_string(),
        Err(unknown) => {
            return Some(format!("it is not known if the kernel offers {name}: {}", unknown.text));
        }
    };
    if !offer.split_whitespace().any(|known| known == name) {
        return Some(format!(
            "the kernel does not offer the clock source {name}, only {offer}: see the kernel's log"
        ));
    }
    let alarms = match facts.get(None, "kernel.log-alarms") {
        Ok(Value::List(alarms)) if name == "tsc" => alarms,
        _ => return None,
    };
    let found = alarms.into_iter().find(|alarm| alarm.starts_with(UNSTABLE))?;
    Some(format!(
        "the kernel has marked the clock source {name} as unstable: {found}"
    ))
}

#[cfg(test)]
mod tests;
