//! Time that the CPU quotas of its control groups held this process back.

use crate::cgroup::Hierarchy;
use crate::error::HostError;
use crate::open_text::OpenText;
use crate::reader::Reader;

/// Open files with the counts: of the process's own group and its visible ancestors.
#[derive(Debug)]
pub struct CpuStatFiles(Vec<OpenText>);

pub(crate) fn files(reader: &Reader) -> Result<CpuStatFiles, HostError> {
    let group = Hierarchy::read(reader)?.own_group(reader, "cpu")?;
    let paths = group
        .directories
        .iter()
        .map(|directory| format!("{directory}/cpu.stat"));
    Ok(CpuStatFiles(
        paths.filter_map(|path| OpenText::open(&path).ok()).collect(),
    ))
}

impl CpuStatFiles {
    /// Time that CPU quotas held back threads of these groups, in ns, summed over the CPUs and the groups: it may grow faster than time.
    /// `None`: the groups have no quota, or nothing can be read.
    pub fn throttled_ns(&mut self) -> Option<u64> {
        let counts: Vec<u64> = self.0.iter_mut().filter_map(|file| throttled(file.read()?)).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    }
}

/// Parses `throttled_usec` of version 2, or `throttled_time` in ns of version 1.
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
