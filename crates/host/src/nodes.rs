//! Memory nodes: which of them CPUs belong to, and their free huge pages.

use crate::error::HostError;
use crate::reader::Reader;
use units::CpuList;

const NODES: &str = "/sys/devices/system/node";
/// File with the nodes that are in use.
pub const NODES_ONLINE: &str = "/sys/devices/system/node/online";

/// The nodes of these CPUs, and those of the CPUs that belong to no node.
///
/// # Errors
/// A file cannot be read.
pub fn of_cpus(reader: &Reader, cpus: &CpuList) -> Result<(CpuList, CpuList), HostError> {
    let (mut nodes, mut placed) = (Vec::new(), Vec::new());
    for node in reader.cpus(NODES_ONLINE)?.iter() {
        let of_node = reader.cpus(&format!("{NODES}/node{node}/cpulist"))?;
        let here: Vec<u32> = cpus.iter().filter(|cpu| of_node.contains(*cpu)).collect();
        if !here.is_empty() {
            nodes.push(node);
        }
        placed.extend(here);
    }
    let elsewhere = cpus.without(&placed.into_iter().collect());
    Ok((nodes.into_iter().collect(), elsewhere))
}

/// Number of free huge pages of `page_kib` KiB on these nodes, or on all if none is given.
///
/// # Errors
/// The kernel has no pages of this size, or a file cannot be read.
pub fn free_huge_pages(reader: &Reader, nodes: &CpuList, page_kib: u64) -> Result<u64, HostError> {
    let free = |folder: &str| {
        let path = format!("{folder}/hugepages-{page_kib}kB/free_hugepages");
        reader.parsed::<u64>(&path, "a number of pages")
    };
    if nodes.is_empty() {
        return free("/sys/kernel/mm/hugepages");
    }
    let of_nodes = nodes.iter().map(|node| free(&format!("{NODES}/node{node}/hugepages")));
    of_nodes.sum()
}

#[cfg(test)]
mod tests {
    use super::{free_huge_pages, of_cpus};
    use crate::Host;
    use units::CpuList;

    #[test]
    fn cpus_and_pages_belong_to_nodes() {
        let tree = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("sys/devices/system/node/online", "0-1\n"),
            ("sys/devices/system/node/node0/cpulist", "0-3\n"),
            ("sys/devices/system/node/node1/cpulist", "4-7\n"),
            (
                "sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages",
                "3\n",
            ),
            (
                "sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages",
                "4\n",
            ),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "7\n"),
        ] {
            let file = tree.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, text).expect("written");
        }
        let host = Host::at(tree.path()).expect("a tree");
        let reader = host.reader();
        let list = |text: &str| text.parse::<CpuList>().expect("a list");
        let none = CpuList::default();
        assert_eq!(of_cpus(reader, &list("2-3")).ok(), Some((list("0"), none.clone())));
        assert_eq!(of_cpus(reader, &list("3-4,9")).ok(), Some((list("0-1"), list("9"))));
        assert_eq!(free_huge_pages(reader, &list("1"), 2048).ok(), Some(4));
        assert_eq!(free_huge_pages(reader, &list("0-1"), 2048).ok(), Some(7));
        assert_eq!(free_huge_pages(reader, &none, 2048).ok(), Some(7));
        assert!(
            free_huge_pages(reader, &none, 1 << 20).is_err(),
            "a size that the kernel lacks is not 0 pages"
        );
    }
}
