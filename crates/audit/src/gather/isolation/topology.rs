//! Resources that real-time CPUs share with others: memory nodes, second-level caches; and the core types of these CPUs.

use units::CpuList;

use crate::facts::Facts;
use crate::gather::cpus;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::config::Config;
use host::error::HostError;
use host::reader::Reader;

const NODES: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";
/// Core types in one processor, and the kernel's lists of them.
const KINDS: [(&str, &str); 3] = [
    ("performance cores", "/sys/devices/cpu_core/cpus"),
    ("efficient cores", "/sys/devices/cpu_atom/cpus"),
    ("low-power cores", "/sys/devices/cpu_lowpower/cpus"),
];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let rt_cpus = cpus::known(facts, "rt_cpus");
    let online = cpus::known(facts, "cpus.online");
    let nodes = online.clone().and_then(|online| nodes(reader, &online));
    let with_both = |pick: &dyn Fn(&[Node], &CpuList) -> Vec<String>| {
        let rt_cpus = rt_cpus.as_ref().map_err(Unknown::clone)?;
        let nodes = nodes.as_ref().map_err(Unknown::clone)?;
        Ok::<_, Unknown>(pick(nodes, rt_cpus))
    };
    facts.set("topology.nodes-without-housekeeping", with_both(&full_nodes));
    facts.set("topology.rt-nodes", with_both(&nodes_of));
    let own = with_both(&nodes_of);
    facts.set(
        "topology.nics-elsewhere",
        own.and_then(|own| nics_elsewhere(reader, parameters, &own)),
    );
    let shared = rt_cpus.clone().and_then(|rt_cpus| cache_strangers(reader, &rt_cpus));
    facts.set("topology.cache-strangers", shared);
    facts.set("topology.kinds", rt_cpus.and_then(|rt_cpus| kinds(reader, &rt_cpus)));
}

struct Node {
    name: String,
    cpus: CpuList,
}

/// Nodes with CPUs. A kernel without NUMA has no such folder: one node.
fn nodes(reader: &Reader, online: &CpuList) -> Result<Vec<Node>, Unknown> {
    let is_node = |name: &str| {
        name.strip_prefix("node")
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let names = match reader.names(NODES, is_node) {
        Err(error) if error.is_absent() => {
            if Config::read(reader).is_ok_and(|config| config.is_on("NUMA")) {
                return Err(Unknown::unclear(format!(
                    "{NODES} is missing, and the kernel is built with NUMA"
                )));
            }
            return Ok(vec![Node {
                name: "node0".to_owned(),
                cpus: online.clone(),
            }]);
        }
        names => names?,
    };
    let mut nodes = Vec::new();
    for name in names {
        let cpus = reader.cpus(&format!("{NODES}/{name}/cpulist"))?;
        let cpus: CpuList = cpus.iter().filter(|cpu| online.contains(*cpu)).collect();
        if !cpus.is_empty() {
            nodes.push(Node { name, cpus });
        }
    }
    if nodes.is_empty() {
        return Err(Unknown::unclear(format!("{NODES}: no node with CPUs is described")));
    }
    Ok(nodes)
}

fn full_nodes(nodes: &[Node], rt_cpus: &CpuList) -> Vec<String> {
    let full = nodes.iter().filter(|node| node.cpus.without(rt_cpus).is_empty());
    full.map(|node| node.name.clone()).collect()
}

fn nodes_of(nodes: &[Node], rt_cpus: &CpuList) -> Vec<String> {
    let own = nodes
        .iter()
        .filter(|node| node.cpus.iter().any(|cpu| rt_cpus.contains(cpu)));
    own.map(|node| node.name.clone()).collect()
}

/// An interface without the file, or with -1, has no node or an unknown one.
fn nics_elsewhere(reader: &Reader, parameters: &Parameters, own: &[String]) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    for nic in &parameters.nics {
        let path = format!("/sys/class/net/{nic}/device/numa_node");
        let node: i64 = match reader.parsed(&path, "the number of a node, or -1") {
            Err(error) if error.is_absent() => continue,
            node => node?,
        };
        let name = format!("node{node}");
        if node >= 0 && !own.contains(&name) {
            found.push(format!("{nic} at {name}"));
        }
    }
    Ok(found)
}

/// CPUs that share a second-level cache with a real-time CPU. Another rule covers those on its core.
fn cache_strangers(reader: &Reader, rt_cpus: &CpuList) -> Result<CpuList, Unknown> {
    let mut found: Vec<u32> = Vec::new();
    for cpu in rt_cpus.iter() {
        let siblings = reader.cpus(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"))?;
        let peers = second_level(reader, cpu)?;
        found.extend(peers.without(rt_cpus).without(&siblings).iter());
    }
    Ok(found.into_iter().collect())
}

fn second_level(reader: &Reader, cpu: u32) -> Result<CpuList, HostError> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    for index in reader.names(&folder, |name| name.starts_with("index"))? {
        if reader.line(&format!("{folder}/{index}/level"))? == "2" {
            let path = format!("{folder}/{index}/shared_cpu_list");
            let peers = reader.cpus(&path)?;
            let own = || HostError::Undecided(format!("{path}: CPU {cpu} is not in it"));
            return peers.contains(cpu).then_some(peers).ok_or_else(own);
        }
    }
    Err(HostError::Undecided(format!(
        "{folder}: no second-level cache is described"
    )))
}

fn kinds(reader: &Reader, rt_cpus: &CpuList) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    for (kind, path) in KINDS {
        match reader.cpus(path) {
            Ok(cpus) if cpus.iter().any(|cpu| rt_cpus.contains(cpu)) => found.push(kind.to_owned()),
            Ok(_) => {}
            // Processors with a single core type have no such list.
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}
