//! Comparison of written and read values: the kernel shows some in another form.

use super::operation::Target;

/// A file of which each write changes one line.
const SCHEMATA: &str = "schemata";
/// A file that is written as `+cpuset` or `-cpuset`, and lists the enabled controllers.
const CONTROLLERS: &str = "cgroup.subtree_control";
/// A file that reads as `isolated`, or `isolated invalid (REASON)`.
const PARTITION: &str = "cpuset.cpus.partition";

/// True if a target that reads as `now` has the value `value`.
pub(super) fn holds(target: &Target, now: Option<&str>, value: &str) -> bool {
    let Some(now) = now else { return false };
    match target {
        Target::Folder(_) => true,
        Target::File(path) if is(path, SCHEMATA) => has_masks(now, value),
        Target::File(path) if is(path, CONTROLLERS) => switch(now, value) == value,
        Target::File(_) => normal(&chosen(now)) == normal(value),
        _ => now == value,
    }
}

/// True if a target that reads as `now` still has the written value. After the kind of a partition, the kernel shows the reason that it is
/// invalid.
pub(super) fn is_kept(target: &Target, now: &str, written: &str) -> bool {
    let is_partition = matches!(target, Target::File(path) if is(path, PARTITION));
    holds(target, Some(now), written) || (is_partition && now.split_whitespace().next() == Some(written))
}

/// Text to write to a target that read as `now`, to restore it after `value` was written.
pub(super) fn before(target: &Target, now: &str, value: &str) -> String {
    match target {
        Target::File(path) if is(path, SCHEMATA) => line_of(now, value).unwrap_or(value).to_owned(),
        Target::File(path) if is(path, CONTROLLERS) => switch(now, value),
        Target::File(_) => chosen(now),
        _ => now.to_owned(),
    }
}

fn is(path: &str, file: &str) -> bool {
    path.rsplit('/').next() == Some(file)
}

/// Returns `+cpuset` if `cpuset` is enabled, else `-cpuset`.
fn switch(now: &str, value: &str) -> String {
    let name = value.trim_start_matches(['+', '-']);
    let sign = if now.split_whitespace().any(|word| word == name) {
        '+'
    } else {
        '-'
    };
    format!("{sign}{name}")
}

/// The line of the same resource: `L3:0=fff;1=fff`.
fn line_of<'a>(now: &'a str, value: &str) -> Option<&'a str> {
    let (resource, _) = value.split_once(':')?;
    let mut lines = now.lines().map(str::trim);
    lines.find(|line| line.split_once(':').is_some_and(|(name, _)| name.trim() == resource))
}

fn has_masks(now: &str, value: &str) -> bool {
    let masks = |line: &str| -> Option<Vec<(u32, u64)>> {
        let (_, rest) = line.split_once(':')?;
        let one = |entry: &str| {
            let (id, mask) = entry.split_once('=')?;
            Some((id.trim().parse().ok()?, u64::from_str_radix(mask.trim(), 16).ok()?))
        };
        rest.split(';').map(one).collect()
    };
    let now = line_of(now, value).and_then(masks).unwrap_or_default();
    masks(value).is_some_and(|wanted| wanted.iter().all(|entry| now.contains(entry)))
}

/// Chosen word of `always [madvise] never`.
fn chosen(shown: &str) -> String {
    let chosen = shown.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(shown, |(chosen, _)| chosen).to_owned()
}

/// Numbers without leading zeros in each group of a mask, words separated by single spaces.
fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let groups: Vec<&str> = text.split(',').collect();
    let hexadecimal = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    let is_mask = groups.len() > 1
        && groups.iter().all(|group| hexadecimal(group))
        && groups.iter().skip(1).all(|group| group.len() == 8);
    let is_number = hexadecimal(&text) && text.len() > 1;
    if !(is_mask || is_number) {
        return text;
    }
    match text.trim_start_matches(['0', ',']) {
        "" => "0".to_owned(),
        rest => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{before, holds};
    use crate::operation::Target;

    #[test]
    fn values_hold_however_the_kernel_shows_them() {
        for (file, now, value, so) in [
            ("x/enabled", "always [madvise] never", "madvise", true),
            ("x/enabled", "always madvise [never]", "madvise", false),
            ("irq/default_smp_affinity", "00000000,00000003", "3", true),
            ("irq/default_smp_affinity", "00000000,00000003", "1", false),
            ("g/cpuset.cpus", "", "", true),
            (
                "g/cpuset.cpus.partition",
                "isolated invalid (no CPU is left)",
                "isolated",
                false,
            ),
            ("g/cgroup.subtree_control", "cpu memory", "+cpuset", false),
            ("g/cgroup.subtree_control", "cpuset cpu", "+cpuset", true),
            ("g/cgroup.subtree_control", "cpu", "-cpuset", true),
            ("resctrl/schemata", "    MB:0=100\n    L3:0=00f;1=fff", "L3:0=f", true),
            (
                "resctrl/schemata",
                "    MB:0=100\n    L3:0=00f;1=fff",
                "L3:0=f;1=ff0",
                false,
            ),
            ("resctrl/schemata", "    MB:0=100", "L3:0=f", false),
            (
                "resctrl/schemata",
                "    MB:0= 50;1=100\n    L3:0=f",
                "MB:0=50;1=100",
                true,
            ),
            ("resctrl/schemata", "    MB:0=100;1=100", "MB:0=50;1=100", false),
        ] {
            let target = Target::File(file.to_owned());
            assert_eq!(
                holds(&target, Some(now), value),
                so,
                "{file}: {now:?} against {value:?}"
            );
        }
    }

    #[test]
    fn what_was_before_can_be_written() {
        for (file, now, value, old) in [
            ("x/enabled", "always [madvise] never", "never", "madvise"),
            ("g/cgroup.subtree_control", "cpu memory", "+cpuset", "-cpuset"),
            (
                "resctrl/schemata",
                "    MB:0=100\n    L3:0=fff;1=fff",
                "L3:0=f",
                "L3:0=fff;1=fff",
            ),
        ] {
            assert_eq!(before(&Target::File(file.to_owned()), now, value), old, "{file}");
        }
    }
}
