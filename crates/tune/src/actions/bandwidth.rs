//! Memory bandwidth by resctrl (Linux: filesystems/resctrl.rst, memory bandwidth allocation).

use std::collections::BTreeMap;

use super::Scene;
use super::cache::{OWN, ROOT, is_group};
use crate::operation::Operation;
use audit::bandwidth_shares;

/// The share of a group that is not limited, in percent.
const WHOLE: u64 = 100;
/// The share of all other groups, in percent.
const OTHERS: u64 = 50;

/// Real-time CPUs keep all of the bandwidth, and every other group gets half of it, or the next step above.
pub(super) fn partition(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    if !scene.exists(&format!("{ROOT}/schemata")) {
        return Err(format!("resctrl is not mounted: mount -t resctrl resctrl {ROOT}"));
    }
    let rt_cpus = scene.cpus("rt_cpus")?;
    let limit = limit(scene)?;
    let root = shares(scene, ROOT)?;
    let whole = line(root.keys().map(|id| (*id, WHOLE)));
    let group = format!("{ROOT}/{OWN}");
    let mut operations = vec![
        Operation::folder(&group),
        Operation::write(format!("{group}/schemata"), whole),
        Operation::write(format!("{group}/cpus_list"), rt_cpus.to_string()),
    ];
    let names = scene.names(ROOT, is_group)?;
    let folders = names.iter().map(|name| format!("{ROOT}/{name}"));
    for folder in [ROOT.to_owned()].into_iter().chain(folders) {
        if !scene.exists(&format!("{folder}/schemata")) {
            continue;
        }
        let cpus = scene.reader.cpus(&format!("{folder}/cpus_list")).unwrap_or_default();
        if folder != ROOT && cpus.iter().any(|cpu| rt_cpus.contains(cpu)) {
            return Err(format!(
                "{folder} has real-time CPUs already: set MB of it to {WHOLE}, and that of others to {limit}, by hand"
            ));
        }
        let now = shares(scene, &folder)?;
        let wanted = line(now.into_iter().map(|(id, share)| (id, share.min(limit))));
        operations.push(Operation::write(format!("{folder}/schemata"), wanted));
    }
    Ok(operations)
}

/// The share of others that the hardware can set: in its steps, and not below its smallest.
fn limit(scene: &Scene<'_>) -> Result<u64, String> {
    let info = |name: &str| scene.count(&format!("{ROOT}/info/MB/{name}"));
    let (least, step) = (info("min_bandwidth")?, info("bandwidth_gran")?.max(1));
    let limit = OTHERS.max(least).next_multiple_of(step);
    match limit < WHOLE {
        true => Ok(limit),
        false => Err(format!(
            "{ROOT}/info/MB: no share between {least} and {WHOLE} % can be set in steps of {step}"
        )),
    }
}

/// The shares of a group, in percent.
fn shares(scene: &Scene<'_>, folder: &str) -> Result<BTreeMap<u32, u64>, String> {
    let path = format!("{folder}/schemata");
    let text = scene.reader.text(&path).map_err(|error| error.to_string())?;
    let shares = bandwidth_shares(&text).ok_or_else(|| format!("{path} lists no memory bandwidth (MB)"))?;
    match shares.values().any(|share| *share > WHOLE) {
        true => Err(format!(
            "{path}: MB is not in percent here (mba_MBps, or AMD): change it by hand"
        )),
        false => Ok(shares),
    }
}

fn line(shares: impl Iterator<Item = (u32, u64)>) -> String {
    let entries: Vec<String> = shares.map(|(id, share)| format!("{id}={share}")).collect();
    format!("MB:{}", entries.join(";"))
}
