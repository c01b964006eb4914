//! VMware virtual machines, from their files, and the ESXi host below them, from the output of its commands.

use std::path::Path;

use crate::definition::bundle::Bundle;
use crate::definition::vmx::Vmx;
use crate::facts::{Class, Facts, IntoKnown, Subject};
use crate::parameters::Parameters;
use crate::value::{Known, Unknown, Value};
use host::processes;
use host::reader::Reader;

/// Settings that rules use directly, by their keys in lower case. Values are stored in lower case too: VMware treats `TRUE` and `true`
/// alike.
const SETTINGS: [&str; 14] = [
    "sched.cpu.latencysensitivity",
    "sched.cpu.min",
    "sched.cpu.units",
    "sched.cpu.affinity",
    "sched.cpu.affinity.exclusivenostats",
    "sched.mem.min",
    "sched.mem.pin",
    "sched.mem.lpage.enable1gpage",
    "monitor.forceenablempti",
    "timetracker.lowlatency",
    "numvcpus",
    "memsize",
    "cpuid.corespersocket",
    "logging",
];

/// First version of virtual hardware whose number of cores for each socket the host chooses, unless the file has one.
const HOST_CHOOSES_SINCE: u32 = 20;

/// The settings among them that are whole numbers.
const COUNTS: [&str; 2] = ["numvcpus", "memsize"];

type Fact = (&'static str, fn(&Vmx) -> Known);

/// Facts that combine several settings.
const JOINED: [Fact; 8] = [
    ("vmx.tools-sync", |vmx| Ok(Value::Flag(vmx.is_true("tools.synctime")))),
    ("vmx.passed-devices", |vmx| adapters(vmx, "pcipassthru", |_| true)),
    ("vmx.adapters-not-vmxnet3", |vmx| {
        adapters(vmx, "ethernet", |number| !is_vmxnet3(vmx, number))
    }),
    ("vmx.adapters-coalescing", |vmx| {
        adapters(vmx, "ethernet", |number| {
            is_vmxnet3(vmx, number) && coalesces(vmx, number)
        })
    }),
    ("vmx.adapters", |vmx| adapters(vmx, "ethernet", |_| true)),
    ("vmx.wanted-adapters", |vmx| Ok(Value::Text(wanted_adapters(vmx)))),
    ("vmx.snapshots", |vmx| vmx.snapshots().into_known()),
    ("vmx.cores-per-socket", cores_per_socket),
];

/// Facts from the notes and commands of the host: fact, command and key. Notes are listed under `notes`.
const HOST: [(&str, &str, &str); 18] = [
    ("esxi.version", "system version get", "version"),
    ("esxi.build", "system version get", "build"),
    ("esxi.power-policy", "hardware power policy get", "short name"),
    ("esxi.cpu-hz", "hostsvc/hosthardware", "hz"),
    ("esxi.cpu-mhz", "hostsvc/hostsummary", "cpumhz"),
    ("esxi.ntp", "system ntp get", "enabled"),
    ("esxi.ptp", "system ptp get", "enabled"),
    ("esxi.drs", "notes", "drs"),
    ("esxi.ha", "notes", "ha"),
    ("esxi.vsan", "notes", "vsan"),
    ("esxi.cpu-reserved-mhz", "notes", "cpu-reserved-mhz"),
    ("esxi.cpu-capacity-mhz", "notes", "cpu-capacity-mhz"),
    ("esxi.memory-reserved-mb", "notes", "memory-reserved-mb"),
    ("esxi.memory-capacity-mb", "notes", "memory-capacity-mb"),
    ("esxi.bios-p-states", "notes", "bios-p-states"),
    (
        "esxi.bios-energy-efficient-turbo",
        "notes",
        "bios-energy-efficient-turbo",
    ),
    ("esxi.bios-c-states", "notes", "bios-c-states"),
    ("esxi.bios-vt-d", "notes", "bios-vt-d"),
];

/// Programs that set a clock in the guest.
const SETTERS: [&str; 4] = ["ptp4l", "chronyd", "ntpd", "systemd-timesyn"];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    host(parameters, facts);
    facts.set("vmx.told", !parameters.vmx.is_empty());
    let setters = setters(reader, facts);
    let by_tools = setters.as_ref().map_err(Unknown::clone).map(Vec::is_empty);
    facts.set(
        "vmx.wanted-sync",
        by_tools.map(|wanted| if wanted { "TRUE" } else { "FALSE" }.to_owned()),
    );
    facts.set("vmx.guest-time-setters", setters);
    for path in &parameters.vmx {
        let machine = machine(path, facts);
        facts.add(Class::Vmx, machine);
    }
}

fn machine(path: &Path, host: &Facts) -> Subject {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    let mut part = Subject::new(name.to_string_lossy());
    let vmx = Vmx::read(path).map_err(Unknown::unclear);
    for key in SETTINGS {
        let value = vmx.as_ref().map_err(Unknown::clone).and_then(|vmx| setting(vmx, key));
        part.set(&format!("vmx.{key}"), value);
    }
    let mhz = vmx
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|vmx| wanted_mhz(vmx, host));
    part.set("vmx.wanted-cpu-mhz", mhz);
    for (name, fact) in JOINED {
        part.set_known(name, vmx.as_ref().map_err(Unknown::clone).and_then(fact));
    }
    part
}

/// Cores of each virtual socket: without the setting one, up to virtual hardware 19. From 20 on (vSphere 8) the host chooses at the start.
fn cores_per_socket(vmx: &Vmx) -> Known {
    let number = |key: &str| {
        let text = vmx.get(key);
        let number = text.map(str::parse::<u32>);
        number.map(|number| number.map_err(|_| Unknown::unclear(format!("{key} is not a whole number"))))
    };
    if let Some(cores) = number("cpuid.corespersocket") {
        return cores.into_known();
    }
    match number("virtualhw.version").transpose()? {
        Some(version) if version < HOST_CHOOSES_SINCE => 1_u32.into_known(),
        Some(version) => Err(Unknown::unclear(format!(
            "cpuid.coresPerSocket is not set, and with virtual hardware {version} the host chooses the number"
        ))),
        None => Err(Unknown::unclear(
            "neither cpuid.coresPerSocket nor virtualHW.version is set",
        )),
    }
}

fn setting(vmx: &Vmx, key: &str) -> Result<String, Unknown> {
    let value = vmx.get(key).map(str::to_ascii_lowercase);
    let value = value.ok_or_else(|| Unknown::absent(format!("{key} is not set")))?;
    match COUNTS.contains(&key) && value.parse::<u64>().is_err() {
        true => Err(Unknown::unclear(format!("{key} = {value:?} is not a whole number"))),
        false => Ok(value),
    }
}

fn adapters(vmx: &Vmx, prefix: &str, wanted: impl Fn(&str) -> bool) -> Known {
    let numbers = vmx.present(prefix).filter(|number| wanted(number));
    numbers
        .map(|number| format!("{prefix}{number}"))
        .collect::<Vec<_>>()
        .into_known()
}

fn is_vmxnet3(vmx: &Vmx, number: &str) -> bool {
    let kind = vmx.get(&format!("ethernet{number}.virtualdev"));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("vmxnet3"))
}

fn coalesces(vmx: &Vmx, number: &str) -> bool {
    let scheme = vmx.get(&format!("ethernet{number}.coalescingscheme"));
    !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("disabled"))
}

/// Frequency that gives each vCPU a whole core.
fn wanted_mhz(vmx: &Vmx, host: &Facts) -> Result<f64, Unknown> {
    let vcpus: f64 = vmx
        .get("numvcpus")
        .unwrap_or("1")
        .parse()
        .map_err(|_| Unknown::unclear("numvcpus is not a number"))?;
    match host.get(None, "esxi.core-mhz")? {
        Value::Number(mhz) => Ok(vcpus * mhz),
        other => Err(Unknown::unclear(format!("esxi.core-mhz: \"{other}\" is not a number"))),
    }
}

/// Lines that make every adapter deliver frames at once.
fn wanted_adapters(vmx: &Vmx) -> String {
    let lines = vmx.present("ethernet").map(|number| {
        let adapter = format!("ethernet{number}");
        format!("{adapter}.virtualDev = \"vmxnet3\"\n{adapter}.coalescingScheme = \"disabled\"")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn host(parameters: &Parameters, facts: &mut Facts) {
    facts.set("esxi.told", parameters.esxi.is_some());
    let bundle = match &parameters.esxi {
        Some(path) => Bundle::read(path).map_err(Unknown::unclear),
        None => Err(Unknown::unclear(
            "only the ESXi host shows this: save the output of its commands and name the file with --esxi",
        )),
    };
    for (fact, command, key) in HOST {
        let value = bundle.as_ref().map_err(Unknown::clone).and_then(|bundle| {
            let value = bundle.get(command, key).map(str::to_ascii_lowercase);
            value.ok_or_else(|| Unknown::absent(format!("the file of --esxi has no \"{key}\" of {command}")))
        });
        facts.set(fact, value);
    }
    let mhz = cpu_mhz(facts);
    facts.set("esxi.core-mhz", mhz);
}

/// Nominal frequency of a core in MHz.
fn cpu_mhz(facts: &Facts) -> Result<f64, Unknown> {
    let number = |fact: &str| {
        let text = facts.get(None, fact)?.to_string();
        text.parse::<f64>()
            .map_err(|_| Unknown::unclear(format!("{fact}: \"{text}\" is not a number")))
    };
    number("esxi.cpu-mhz").or_else(|unknown| match number("esxi.cpu-hz") {
        Ok(hz) => Ok(hz / 1e6),
        Err(_) => Err(Unknown::unclear(unknown.text)),
    })
}

/// Programs that set the clock of the guest, if this machine is one.
fn setters(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    match facts.get(None, "machine.hypervisor")? {
        Value::Text(word) if word == "VMware" => {}
        _ => {
            return Err(Unknown::unclear(
                "only an audit inside the guest shows the programs that set its clock",
            ));
        }
    }
    let running = processes::running(reader)?;
    let setters = SETTERS.iter().filter(|name| running.contains_key(**name));
    Ok(setters.map(|name| (*name).to_owned()).collect())
}
