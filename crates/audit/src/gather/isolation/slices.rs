//! CPUs that systemd allows for services, sessions and machines.

use units::CpuList;

use super::cpusets;
use crate::facts::Facts;
use crate::gather::cpus;
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

/// Where services and sessions run.
const SERVICES: [&str; 3] = ["init.scope", "system.slice", SESSIONS];
/// Missing while nobody is logged in.
const SESSIONS: &str = "user.slice";
/// Slice of the virtual machines and containers of systemd-machined: first SEAPATH's slice of real-time guests, if it exists. It is inside
/// the general one, as its name shows (systemd.slice(5)).
const MACHINES: [&str; 2] = ["machine.slice/machine-rt.slice", "machine.slice"];
const FILE: &str = "cpuset.cpus.effective";

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("systemd.runs", runs(reader));
    let root = cpusets::root(reader);
    let services = root.clone().and_then(|root| services(reader, root, facts));
    facts.set("systemd.service-cpus", services);
    facts.set("systemd.machine-cpus", root.and_then(|root| machines(reader, root)));
}

fn runs(reader: &Reader) -> Result<bool, HostError> {
    match reader.line("/proc/1/comm") {
        Err(error) if error.is_absent() => {
            // If process 1 is invisible, the groups of systemd show that it runs.
            match reader.exists("/sys/fs/cgroup/system.slice")? {
                true => Ok(true),
                false => Err(error),
            }
        }
        name => Ok(name? == "systemd"),
    }
}

/// With version 1, systemd sets no cpusets: services have every CPU.
fn services(reader: &Reader, root: Option<(u8, String)>, facts: &Facts) -> Result<CpuList, Unknown> {
    let online = cpus::known(facts, "cpus.online")?;
    let Some((2, point)) = root else { return Ok(online) };
    let whole = || match reader.cpus(&format!("{point}/{FILE}")) {
        Err(error) if error.is_absent() && !cpusets::can_have_cpusets(reader, &point)? => Ok(online.clone()),
        cpus => cpus,
    };
    let mut all: Vec<u32> = Vec::new();
    for slice in SERVICES {
        let folder = format!("{point}/{slice}");
        match reader.cpus(&format!("{folder}/{FILE}")) {
            Ok(cpus) => all.extend(cpus.iter()),
            // A group without the controller has the CPUs of the root.
            Err(error) if error.is_absent() && reader.exists(&folder)? => all.extend(whole()?.iter()),
            Err(error) if error.is_absent() && slice == SESSIONS => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all.into_iter().collect())
}

fn machines(reader: &Reader, root: Option<(u8, String)>) -> Result<CpuList, Unknown> {
    let none = || Unknown::absent("no machine.slice with cpusets");
    let Some((2, point)) = root else { return Err(none()) };
    for slice in MACHINES {
        match reader.cpus(&format!("{point}/{slice}/{FILE}")) {
            Err(error) if error.is_absent() => {}
            cpus => return Ok(cpus?),
        }
    }
    Err(none())
}
