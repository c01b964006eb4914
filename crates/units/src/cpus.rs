//! CPU lists in the kernel's own notation: `1-3,5`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A set of CPU numbers, written and read as the kernel does (`0`, `1-3,5`, or nothing).
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct CpuList(BTreeSet<u32>);

/// Why a text is not a CPU list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuListError(String);

impl fmt::Display for CpuListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not a CPU list: write it as 1 or 1-3,5", self.0)
    }
}

impl std::error::Error for CpuListError {}

/// CPU numbers above this are refused: no kernel is built for more, and a typing mistake must not fill the memory.
const HIGHEST_CPU: u32 = 8191;

impl CpuList {
    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if no CPU is in the list.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if `cpu` is in the list.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// The CPUs of this list that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let error = || CpuListError(text.trim().to_owned());
        let mut cpus = BTreeSet::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let low: u32 = low.trim().parse().map_err(|_| error())?;
            let high: u32 = high.trim().parse().map_err(|_| error())?;
            if low > high || high > HIGHEST_CPU {
                return Err(error());
            }
            cpus.extend(low..=high);
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(low) = cpus.next() {
            let mut high = low;
            while cpus.next_if_eq(&(high + 1)).is_some() {
                high += 1;
            }
            match high - low {
                0 => write!(f, "{separator}{low}")?,
                _ => write!(f, "{separator}{low}-{high}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CpuList;
    use proptest::prelude::{any, prop, proptest};

    #[test]
    fn reads_what_the_kernel_writes() {
        for (text, shown, count) in [("1-3,5\n", "1-3,5", 4), ("0", "0", 1), ("\n", "", 0), ("0,1", "0-1", 2)] {
            let list: CpuList = text.parse().expect(text);
            assert_eq!((list.to_string().as_str(), list.len()), (shown, count));
        }
    }

    #[test]
    fn refuses_nonsense() {
        for text in ["a", "3-1", "1-", "-1", "1-4000000000", "(null)"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn shown_lists_read_back(cpus in prop::collection::btree_set(0u32..256, 0..40)) {
            let list: CpuList = cpus.into_iter().collect();
            assert_eq!(list.to_string().parse::<CpuList>().expect("own notation"), list);
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = text.parse::<CpuList>();
        }
    }
}
