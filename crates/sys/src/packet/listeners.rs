//! Other packet sockets on an interface: for each of them the kernel clones every frame that it takes.

use crate::error::{SysError, errno_of};
use crate::link;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A packet socket of another process that receives from an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// True if it gets whole frames (`SOCK_RAW`), not only payloads (`SOCK_DGRAM`).
    pub raw: bool,
    /// The EtherType that it takes; 3 (`ETH_P_ALL`) means all.
    pub protocol: u16,
    /// True if it is bound to this interface; otherwise it receives from every interface.
    pub bound: bool,
    /// Number of the socket, as in `/proc/<pid>/fd`.
    pub inode: u64,
    /// Process that holds it; `None` if that process is not visible from here (rights, another PID namespace).
    pub process: Option<Process>,
}

/// A process that holds a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process number.
    pub pid: u32,
    /// Process name: `dhclient`, `lldpd`, `tcpdump`.
    pub name: String,
}

/// One line of `/proc/net/packet`.
#[derive(Debug, PartialEq, Eq)]
struct PacketSocket {
    raw: bool,
    protocol: u16,
    interface: u32,
    running: bool,
    inode: u64,
}

/// Lists the packet sockets that receive from `interface`, or from all interfaces, in the calling thread's network namespace,
/// except those of this process.
///
/// # Errors
/// There is no such interface (the error lists the existing ones), or `/proc/net/packet` cannot be read.
pub fn listeners(interface: &str) -> Result<Vec<Listener>, SysError> {
    const TABLE: &str = "/proc/thread-self/net/packet";
    let index = link::find(interface)?.index;
    let table = std::fs::read_to_string(TABLE).map_err(|error| SysError::refused("read", TABLE, errno_of(&error)))?;
    let ours = sockets_of(Path::new("/proc/self"));
    let others: Vec<PacketSocket> = table
        .lines()
        .filter_map(entry)
        .filter(|entry| entry.running && entry.protocol != 0 && (entry.interface == 0 || entry.interface == index))
        .filter(|entry| !ours.contains(&entry.inode))
        .collect();
    let holders = if others.is_empty() { HashMap::new() } else { holders() };
    Ok(others
        .into_iter()
        .map(|entry| Listener {
            raw: entry.raw,
            protocol: entry.protocol,
            bound: entry.interface != 0,
            inode: entry.inode,
            process: holders.get(&entry.inode).cloned(),
        })
        .collect())
}

/// Parses a line. Columns: sk, RefCnt, Type, Proto (hexadecimal), Iface, R, Rmem, User, Inode; the first line is a header.
fn entry(line: &str) -> Option<PacketSocket> {
    let mut columns = line.split_whitespace().skip(2);
    let raw = columns.next()?.parse::<i32>().ok()? == libc::SOCK_RAW;
    let protocol = u16::from_str_radix(columns.next()?, 16).ok()?;
    let interface = columns.next()?.parse().ok()?;
    let running = columns.next()? != "0";
    let inode = columns.nth(2)?.parse().ok()?;
    Some(PacketSocket {
        raw,
        protocol,
        interface,
        running,
        inode,
    })
}

/// Every socket of every visible process. For a socket that several processes hold, one of them is given.
fn holders() -> HashMap<u64, Process> {
    let mut holders = HashMap::new();
    for directory in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = directory.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let sockets = sockets_of(&directory.path());
        if sockets.is_empty() {
            continue;
        }
        let name = std::fs::read_to_string(directory.path().join("comm")).unwrap_or_default();
        let name = name.trim_end().to_owned();
        holders.extend(sockets.into_iter().map(|inode| {
            let name = name.clone();
            (inode, Process { pid, name })
        }));
    }
    holders
}

/// Numbers of the sockets that a process holds; none if its descriptors may not be read.
fn sockets_of(process: &Path) -> HashSet<u64> {
    let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok())
        .filter_map(|target| {
            target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .parse()
                .ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PacketSocket, entry};

    #[test]
    fn reads_the_table_as_the_kernel_writes_it() {
        assert_eq!(
            entry("sk               RefCnt Type Proto  Iface R Rmem   User   Inode"),
            None
        );
        let line = "ffff9c3 3      3    88cc   2     1 0      0      21034 ";
        assert_eq!(
            entry(line),
            Some(PacketSocket {
                raw: true,
                protocol: 0x88cc,
                interface: 2,
                running: true,
                inode: 21034,
            })
        );
        for length in 0..line.len() - 6 {
            assert_eq!(entry(&line[..length]), None, "cut after {length}");
        }
    }
}
