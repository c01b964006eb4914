//! How long the CPU quotas of its control groups held this process back.

use crate::cgroup::Hierarchy;
use crate::error::HostError;
use crate::reader::Reader;

/// The files that count it: of the process's own group, and of those above it as far as they are visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuStatFiles(Vec<String>);

pub(crate) fn files(reader: &Reader) -> Result<CpuStatFiles, HostError> {
    let group = Hierarchy::read(reader)?.own_group(reader, "cpu")?;
    let paths = group
        .directories
        .iter()
        .map(|directory| format!("{directory}/cpu.stat"));
    Ok(CpuStatFiles(paths.collect()))
}

/// Added up over the groups. A group without a quota, or without the controller, counts nothing.
pub(crate) fn throttled_ns(reader: &Reader, files: &CpuStatFiles) -> Option<u64> {
    let counts: Vec<u64> = files
        .0
        .iter()
        .filter_map(|path| throttled(&reader.text(path).ok()?))
        .collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// `throttled_usec` in version 2, `throttled_time` in ns in version 1.
fn throttled(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match name {
            "throttled_usec" => value.checked_mul(1_000),
            "throttled_time" => Some(value),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::throttled;

    #[test]
    fn both_versions_are_read() {
        let first = "nr_periods 11\nnr_throttled 10\nthrottled_time 484613212\nnr_bursts 0\n";
        assert_eq!(throttled(first), Some(484_613_212));
        let second = "usage_usec 5\nnr_periods 2\nnr_throttled 1\nthrottled_usec 50000\n";
        assert_eq!(throttled(second), Some(50_000_000));
        assert_eq!(
            throttled("usage_usec 5\nuser_usec 3\n"),
            None,
            "the root group has no quota"
        );
    }
}
