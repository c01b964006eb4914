//! Division of the shared cache by resctrl (Linux: filesystems/resctrl.rst).

use std::collections::BTreeMap;

use super::Scene;
use crate::operation::Operation;
use audit::cache_masks;

pub(super) const ROOT: &str = "/sys/fs/resctrl";
/// Group with the real-time CPUs.
pub(super) const OWN: &str = "triptime";

/// Real-time CPUs get up to half of the cache that no device and no other group fills; the default group loses these bits. A thread on the
/// group's CPUs belongs to the group, unless somebody put it into another one.
pub(super) fn partition(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    if !scene.exists(&format!("{ROOT}/schemata")) {
        return Err(format!("resctrl is not mounted: mount -t resctrl resctrl {ROOT}"));
    }
    let rt_cpus = scene.cpus("rt_cpus")?;
    let group = format!("{ROOT}/{OWN}");
    let root = masks(scene, ROOT)?;
    let others = others(scene, &rt_cpus)?;
    let (mut own, mut left) = (Vec::new(), Vec::new());
    for (resource, domains) in &root {
        let limits = Limits::read(scene, resource)?;
        let (mut own_line, mut left_line) = (Vec::new(), Vec::new());
        for (id, now) in domains {
            let taken = others.iter().filter_map(|masks| masks.get(resource)?.get(id));
            let taken = taken.fold(0, |all, mask| all | mask);
            let found = limits.divide(*now, taken);
            let (mine, rest) = found.ok_or_else(|| {
                format!("{resource}:{id}: other groups and devices leave no bits to divide: change their masks by hand")
            })?;
            own_line.push(format!("{id}={mine:x}"));
            left_line.push(format!("{id}={rest:x}"));
        }
        own.push(Operation::write(
            format!("{group}/schemata"),
            format!("{resource}:{}", own_line.join(";")),
        ));
        left.push(Operation::write(
            format!("{ROOT}/schemata"),
            format!("{resource}:{}", left_line.join(";")),
        ));
    }
    if own.is_empty() {
        return Err(format!("{ROOT}/schemata lists no cache that can be divided"));
    }
    let mut operations = vec![Operation::folder(&group)];
    operations.extend(own);
    operations.push(Operation::write(format!("{group}/cpus_list"), rt_cpus.to_string()));
    operations.extend(left);
    Ok(operations)
}

type Masks = BTreeMap<String, BTreeMap<u32, u64>>;

/// Masks of a group in the last cache that can be divided: the third level, else the second.
fn masks(scene: &Scene<'_>, folder: &str) -> Result<Masks, String> {
    let path = format!("{folder}/schemata");
    let text = scene.reader.text(&path).map_err(|error| error.to_string())?;
    let mut all = cache_masks(&text).ok_or_else(|| format!("{path}: \"{text}\" is not understood"))?;
    let last = if all.keys().any(|name| name.starts_with("L3")) {
        "L3"
    } else {
        "L2"
    };
    all.retain(|name, _| name.starts_with(last));
    Ok(all)
}

/// True for the folder of a group that is neither the default one nor triptime's own.
pub(super) fn is_group(name: &str) -> bool {
    !["info", "mon_groups", "mon_data", OWN].contains(&name)
}

/// Masks of groups other than the default one and triptime's own.
fn others(scene: &Scene<'_>, rt_cpus: &units::CpuList) -> Result<Vec<Masks>, String> {
    let mut found = Vec::new();
    for name in scene.names(ROOT, is_group)? {
        let folder = format!("{ROOT}/{name}");
        if !scene.exists(&format!("{folder}/schemata")) {
            continue;
        }
        let cpus = scene.reader.cpus(&format!("{folder}/cpus_list")).unwrap_or_default();
        if cpus.iter().any(|cpu| rt_cpus.contains(cpu)) {
            return Err(format!(
                "group {name} has real-time CPUs already: change its mask by hand"
            ));
        }
        found.push(masks(scene, &folder)?);
    }
    Ok(found)
}

struct Limits {
    shareable: u64,
    fewest: u32,
}

impl Limits {
    fn read(scene: &Scene<'_>, resource: &str) -> Result<Self, String> {
        let folder = format!("{ROOT}/info/{resource}");
        let shareable = scene.line(&format!("{folder}/shareable_bits"))?;
        let shareable = u64::from_str_radix(&shareable, 16);
        Ok(Self {
            shareable: shareable.map_err(|error| format!("{folder}/shareable_bits: {error}"))?,
            fewest: u32::try_from(scene.count(&format!("{folder}/min_cbm_bits"))?).unwrap_or(u32::MAX),
        })
    }

    /// Splits the widest run of bits, up to half of `now`, so that a run remains for the default group: returns both, lowest bits first.
    fn divide(&self, now: u64, taken: u64) -> Option<(u64, u64)> {
        let free = now & !taken & !self.shareable;
        let fewest = self.fewest.max(1);
        let most = now.count_ones() / 2;
        (fewest..=most).rev().find_map(|width| {
            let run = (1_u64 << width) - 1;
            (0..=64 - width).map(|at| run << at).find_map(|mine| {
                let rest = now & !mine;
                let is_sound = mine & !free == 0 && is_run(rest) && rest.count_ones() >= fewest;
                is_sound.then_some((mine, rest))
            })
        })
    }
}

fn is_run(mask: u64) -> bool {
    let run = mask >> mask.trailing_zeros().min(63);
    mask != 0 && run & run.wrapping_add(1) == 0
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn both_get_a_run_and_neither_the_bits_of_devices() {
        let limits = |shareable, fewest| Limits { shareable, fewest };
        assert_eq!(limits(0, 1).divide(0xfff, 0), Some((0x3f, 0xfc0)));
        assert_eq!(
            limits(0xc00, 1).divide(0xfff, 0),
            Some((0x3f, 0xfc0)),
            "devices fill the highest"
        );
        assert_eq!(
            limits(0, 1).divide(0xfff, 0xf),
            Some((0xfc0, 0x3f)),
            "another group has the lowest"
        );
        assert_eq!(limits(0x3, 1).divide(0x7, 0), Some((0x4, 0x3)));
        assert_eq!(limits(0, 2).divide(0x7, 0), None, "two bits each are needed");
        assert_eq!(limits(0, 1).divide(0xf, 0xf), None, "all are taken");
    }
}
