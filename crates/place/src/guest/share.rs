//! The part of this machine that a guest gets in addition to the CPUs of its virtual ones.

use super::GuestSpec;
use host::reader::Reader;
use host::{Host, nodes};
use sys::thread::allowed_cpus;
use units::CpuList;

/// Sizes of huge pages in KiB, the preferred one first.
const SIZES_KIB: [u64; 2] = [1 << 20, 2 << 10];

/// File with the CPUs that the scheduler leaves alone.
const ISOLATED: &str = "/sys/devices/system/cpu/isolated";

/// The part of this machine that a guest gets in addition to the CPUs of its virtual ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Share {
    /// CPUs of QEMU's own threads; empty: any.
    pub(super) emulator: CpuList,
    /// True if every CPU that this process may use is one of a virtual CPU.
    pub(super) leaves_no_cpu: bool,
    /// Nodes of its memory: those of its CPUs. Empty: any.
    pub(super) nodes: CpuList,
    /// True if the machine has other nodes, too.
    pub(super) has_other_nodes: bool,
    /// Size of the huge pages that are free for its memory, in KiB; `None`: too few are.
    pub(super) page_kib: Option<u64>,
}

impl Share {
    /// The share of a guest like `spec` on the machine of `reader`, of whose CPUs this process may use `allowed`.
    pub(super) fn of(spec: &GuestSpec, reader: &Reader, allowed: &CpuList) -> Self {
        let taken = spec.host_cpus.clone().unwrap_or_default();
        let rest = allowed
            .without(&taken)
            .without(&spec.of_all_guests.clone().unwrap_or_default());
        // Other CPUs that are set aside are for other guests.
        let isolated = reader.cpus(ISOLATED).unwrap_or_default();
        let rest = Some(rest.without(&isolated))
            .filter(|rest| !rest.is_empty())
            .unwrap_or(rest);
        // A machine that tells no nodes has only one.
        let nodes = nodes::of_cpus(reader, &taken)
            .map(|(nodes, _)| nodes)
            .unwrap_or_default();
        let fits = |kib: &u64| {
            let free = nodes::free_huge_pages(reader, &nodes, *kib).unwrap_or(0);
            free >= whole_pages(spec.memory, *kib) / (kib << 10)
        };
        Self {
            leaves_no_cpu: !taken.is_empty() && rest.is_empty(),
            emulator: if taken.is_empty() { CpuList::default() } else { rest },
            has_other_nodes: reader
                .cpus(nodes::NODES_ONLINE)
                .is_ok_and(|all| all.len() > nodes.len()),
            page_kib: SIZES_KIB.into_iter().find(fits),
            nodes,
        }
    }

    /// The share on this machine.
    pub(super) fn here(spec: &GuestSpec) -> Self {
        Self::of(spec, Host::live().reader(), &allowed_cpus())
    }

    /// The CPUs of QEMU's own threads, as text.
    pub(super) fn emulator_in_words(&self) -> String {
        match (self.emulator.is_empty(), self.leaves_no_cpu) {
            (false, _) => format!("on {}", self.emulator),
            (true, false) => "anywhere".to_owned(),
            (true, true) => NO_CPU_LEFT.to_owned(),
        }
    }
}

/// Consequence and remedy if every CPU has a virtual one.
pub(super) const NO_CPU_LEFT: &str = "anywhere, because every CPU that triptime may use has a virtual CPU: they delay the guest. Leave a CPU out of \
                                      --host-cpus, with fewer virtual CPUs (--vcpus)";

/// Message about a guest whose virtual CPUs take every CPU.
pub(super) fn emulator_shares() -> String {
    format!("QEMU's own threads run {NO_CPU_LEFT}")
}

/// The memory in bytes, rounded up to whole pages of this size.
pub(super) fn whole_pages(memory: u64, page_kib: u64) -> u64 {
    memory.next_multiple_of(page_kib << 10)
}

#[cfg(test)]
mod tests {
    use super::Share;
    use crate::guest::GuestSpec;
    use host::Host;
    use units::CpuList;

    fn share(host_cpus: Option<&str>, files: &[(&str, &str)]) -> Share {
        let tree = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let file = tree.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, text).expect("written");
        }
        let mut spec = GuestSpec::new("/proc/version".into(), "/proc".into());
        spec.host_cpus = host_cpus.map(|text| text.parse().expect("a list"));
        let host = Host::at(tree.path()).expect("a tree");
        Share::of(&spec, host.reader(), &CpuList::from_iter(0..4))
    }

    const NODES: [(&str, &str); 4] = [
        ("sys/devices/system/node/online", "0-1\n"),
        ("sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("sys/devices/system/node/node1/cpulist", "2-3\n"),
        ("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n"),
    ];

    #[test]
    fn memory_is_near_its_cpus_and_in_the_largest_free_pages() {
        let near = "sys/devices/system/node/node1/hugepages";
        let (giant, large) = (
            format!("{near}/hugepages-1048576kB/free_hugepages"),
            format!("{near}/hugepages-2048kB/free_hugepages"),
        );
        let with = |giants: &str, larges: &str| {
            let files = [NODES.as_slice(), &[(giant.as_str(), giants), (large.as_str(), larges)]].concat();
            share(Some("2-3"), &files)
        };
        let first = with("1\n", "384\n");
        assert_eq!(
            (first.nodes.to_string(), first.page_kib),
            ("1".to_owned(), Some(1 << 20))
        );
        assert_eq!(first.emulator_in_words(), "on 0-1");
        // 768 MiB are 384 pages; those of another node do not count.
        assert_eq!(with("0\n", "384\n").page_kib, Some(2048));
        assert_eq!(with("0\n", "383\n").page_kib, None);
    }

    #[test]
    fn guests_side_by_side_keep_their_threads_off_each_other() {
        let mut spec = GuestSpec::new("/proc/version".into(), "/proc".into());
        spec.host_cpus = Some(CpuList::from_iter([2, 3, 4, 5]));
        let second = spec.of(1);
        let share = Share::of(&second, Host::live().reader(), &CpuList::from_iter(0..6));
        assert_eq!(second.host_cpus, Some(CpuList::from_iter([4, 5])));
        assert!([2, 3].iter().all(|cpu| !share.emulator.contains(*cpu)), "{share:?}");
    }

    #[test]
    fn a_guest_on_every_cpu_is_told_of() {
        let all = share(Some("0-3"), &[]);
        assert!(all.leaves_no_cpu && all.emulator.is_empty(), "{all:?}");
        assert!(all.emulator_in_words().contains("Leave a CPU out of --host-cpus"));
        let anywhere = share(None, &NODES);
        assert_eq!(
            (anywhere.emulator_in_words().as_str(), anywhere.page_kib),
            ("anywhere", Some(1 << 20))
        );
        assert!(anywhere.nodes.is_empty() && !anywhere.leaves_no_cpu);
    }
}
