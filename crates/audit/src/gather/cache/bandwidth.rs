//! Memory bandwidth allocation: how much of it the groups of resctrl may use (Linux: filesystems/resctrl.rst).

use std::collections::BTreeMap;

use units::CpuList;

use super::resctrl::{Allocation, Group};
use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::reader::Reader;

use super::super::shared::unclear;

/// The share of a group that is not limited, in percent.
const WHOLE: u64 = 100;

/// Parses the line `MB:0=100;1= 50` of a group; `None` without it.
pub fn shares(text: &str) -> Option<BTreeMap<u32, u64>> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("MB:"))?;
    let one = |entry: &str| {
        let (id, share) = entry.split_once('=')?;
        Some((id.trim().parse().ok()?, share.trim().parse().ok()?))
    };
    line.split(';').map(one).collect()
}

/// True if the processor can limit memory bandwidth.
pub(super) fn supported(reader: &Reader) -> Result<bool, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    match info.has_flag("mba") {
        Some(has) => Ok(has),
        // Other architectures have no such flags: the file system shows it.
        None => reader.exists("/sys/fs/resctrl/info/MB").map_err(unclear),
    }
}

/// Reasons that others can take all of the bandwidth, or that real-time CPUs have less than that.
pub(super) fn unlimited(found: &Allocation, rt_cpus: &CpuList) -> Result<Vec<String>, Unknown> {
    let (own, others): (Vec<&Group>, Vec<&Group>) = found.groups.iter().partition(|group| group.is_real_time(rt_cpus));
    let covered: CpuList = own.iter().flat_map(|group| group.cpus.iter()).collect();
    let bare = rt_cpus.without(&covered);
    let mut all = Vec::new();
    if !bare.is_empty() {
        all.push(format!("CPU {bare} in no group of real-time CPUs only"));
    }
    for group in &own {
        let held_back = entries(group)?.into_iter().filter(|(_, share)| *share < WHOLE);
        all.extend(held_back.map(|(id, share)| format!("MB:{id}={share} holds back {}", group.shown())));
    }
    for group in &others {
        let free = entries(group)?.into_iter().filter(|(_, share)| *share == WHOLE);
        all.extend(free.map(|(id, _)| format!("MB:{id}={WHOLE} of {}", group.shown())));
    }
    Ok(all)
}

/// The shares of a group in percent.
fn entries(group: &Group) -> Result<Vec<(u32, u64)>, Unknown> {
    let name = group.shown();
    let shares = group.bandwidth.as_ref();
    let shares =
        shares.ok_or_else(|| Unknown::unclear(format!("the schemata of {name} has no memory bandwidth (MB)")))?;
    match shares.values().any(|share| *share > WHOLE) {
        true => Err(Unknown::unclear(format!(
            "the memory bandwidth of {name} is not in percent (mba_MBps, or AMD)"
        ))),
        false => Ok(shares.iter().map(|(id, share)| (*id, *share)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn shares_are_read_as_the_kernel_pads_them() {
        let found = shares("    L3:0=0ff\n    MB:0=100;1= 50\n").expect("a line");
        assert_eq!((found[&0], found[&1]), (100, 50));
        assert!(shares("L3:0=fff\n").is_none() && shares("MB:0\n").is_none());
    }
}
