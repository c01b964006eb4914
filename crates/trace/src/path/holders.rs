//! Finds the holders that take frames from taps: processes, virtual machines, and their vhost threads.

use host::ThreadStat;
use std::path::Path;
use std::{fmt, fs};

/// A holder of a tap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    /// Process number.
    pub(super) pid: u32,
    /// Kind of the holder.
    pub(super) kind: HolderKind,
    /// Its vhost threads, which take the frames for it.
    pub(super) tasks: Vec<Task>,
}

/// Kinds of holders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HolderKind {
    /// QEMU, with the name of the virtual machine.
    VirtualMachine(String),
    /// Another process, with its name.
    Process(String),
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// Thread number.
    pub(super) id: u32,
    /// Name of the thread.
    pub(super) name: String,
    /// The CPUs that it may run on.
    pub(super) cpus: String,
    /// Its scheduling policy: `other`, `fifo:50`.
    pub(super) policy: String,
}

/// A file descriptor of a tap that some process holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldTap {
    /// Name of the interface; for a macvtap its number, as `#7`.
    pub(super) interface: String,
    /// Inode of the holder's network namespace.
    pub(super) netns: Option<u32>,
    pub(super) holder: Holder,
}

/// Taps held by processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HeldTaps {
    pub(super) taps: Vec<HeldTap>,
    /// Virtual machines, and other holders, with a device of their own.
    pub(super) passed_through: Vec<String>,
}

/// Reads the file descriptors of every readable process under `proc`.
pub(super) fn held(proc: &Path) -> HeldTaps {
    let mut held = HeldTaps::default();
    for pid in numbers(proc) {
        let process = proc.join(pid.to_string());
        let mut vfio = false;
        let mut interfaces: Vec<String> = Vec::new();
        for descriptor in numbers(&process.join("fd")) {
            let Ok(target) = fs::read_link(process.join("fd").join(descriptor.to_string())) else {
                continue;
            };
            let target = target.to_string_lossy();
            if target == "/dev/net/tun" {
                let info = text(&process.join("fdinfo").join(descriptor.to_string()));
                interfaces.extend(field(&info, "iff:"));
            } else if let Some(number) = target.strip_prefix("/dev/tap") {
                interfaces.push(format!("#{number}"));
            }
            vfio |= target.starts_with("/dev/vfio/");
        }
        interfaces.sort_unstable();
        // A tap with several queues has one descriptor for each.
        interfaces.dedup();
        if interfaces.is_empty() && !vfio {
            continue;
        }
        let holder = holder(proc, pid);
        if vfio {
            held.passed_through.push(holder.to_string());
        }
        let netns = super::namespaces::inode_of(&process.join("ns/net"));
        held.taps.extend(interfaces.into_iter().map(|interface| HeldTap {
            interface,
            netns,
            holder: holder.clone(),
        }));
    }
    held
}

fn holder(proc: &Path, pid: u32) -> Holder {
    let process = proc.join(pid.to_string());
    let command = text(&process.join("cmdline"));
    let arguments: Vec<&str> = command.split('\0').collect();
    let name = text(&process.join("comm")).trim().to_owned();
    let kind = match machine_name(&arguments) {
        Some(machine) => HolderKind::VirtualMachine(machine),
        None => HolderKind::Process(name),
    };
    Holder {
        pid,
        kind,
        tasks: vhost_tasks(proc, pid),
    }
}

/// The name from QEMU's command line: `-name guest=relay,debug-threads=on` or `-name relay`.
fn machine_name(arguments: &[&str]) -> Option<String> {
    if !arguments.first()?.rsplit('/').next()?.starts_with("qemu") {
        return None;
    }
    let at = arguments.iter().position(|argument| *argument == "-name");
    let name = at
        .and_then(|at| arguments.get(at + 1))
        .map_or("without a name", |value| {
            let guest = value.split(',').find_map(|part| part.strip_prefix("guest="));
            guest.unwrap_or_else(|| value.split(',').next().unwrap_or(value))
        });
    Some(name.to_owned())
}

/// Finds kernel threads `vhost-PID`, or, since Linux 6.4, tasks of the process itself.
fn vhost_tasks(proc: &Path, pid: u32) -> Vec<Task> {
    let own = proc.join(pid.to_string()).join("task");
    let name = format!("vhost-{pid}");
    let inside = numbers(&own).into_iter().map(|task| (task, own.join(task.to_string())));
    let outside = numbers(proc)
        .into_iter()
        .map(|task| (task, proc.join(task.to_string())));
    let all = inside
        .chain(outside)
        .filter_map(|(id, folder)| task(id, &folder, &name));
    let mut tasks: Vec<Task> = all.collect();
    tasks.sort_by_key(|task| task.id);
    tasks.dedup_by_key(|task| task.id);
    tasks
}

fn task(id: u32, folder: &Path, wanted: &str) -> Option<Task> {
    let name = text(&folder.join("comm")).trim().to_owned();
    let policy = ThreadStat::parse(&text(&folder.join("stat"))).and_then(|stat| stat.policy);
    (name == wanted).then(|| Task {
        id,
        name,
        cpus: field(&text(&folder.join("status")), "Cpus_allowed_list:").unwrap_or_else(|| "unknown".to_owned()),
        policy: policy.unwrap_or_else(|| "unknown".to_owned()),
    })
}

/// Entries of a directory that are numbers; none if it cannot be read.
pub(super) fn numbers(directory: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut numbers: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// A file's text; empty if it cannot be read, because its process has ended or belongs to another user.
pub(super) fn text(path: &Path) -> String {
    let octets = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&octets).into_owned()
}

fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_owned())
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            HolderKind::VirtualMachine(name) => write!(f, "virtual machine {name} (QEMU, pid {})", self.pid),
            HolderKind::Process(name) => write!(f, "process {name} (pid {})", self.pid),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, name, cpus, policy } = self;
        write!(f, "thread {name} (tid {id}): CPUs {cpus}, policy {policy}")
    }
}

#[cfg(test)]
mod tests {
    use super::{HolderKind, held, machine_name};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn machines_are_named_as_libvirt_and_by_hand() {
        let qemu = "/usr/bin/qemu-system-x86_64";
        let name = |value| machine_name(&[qemu, "-name", value, "-m", "256"]);
        assert_eq!(name("guest=ssc600,debug-threads=on").as_deref(), Some("ssc600"));
        assert_eq!(name("relay").as_deref(), Some("relay"));
        assert_eq!(machine_name(&[qemu, "-m", "256"]).as_deref(), Some("without a name"));
        assert_eq!(machine_name(&["/usr/bin/python3", "-name", "x"]), None);
        assert_eq!(machine_name(&[]), None);
    }

    #[test]
    fn taps_vhost_threads_and_passed_through_devices_are_found() {
        let tree = tempfile::tempdir().expect("a folder");
        let process = tree.path().join("42");
        for folder in ["fd", "fdinfo", "task/42", "task/43"] {
            fs::create_dir_all(process.join(folder)).expect("a folder");
        }
        let write = |path: &str, text: &str| fs::write(process.join(path), text).expect("a file");
        write("cmdline", "/usr/bin/qemu-system-x86_64\0-name\0guest=vm1\0");
        write("comm", "qemu-system-x86\n");
        write("task/42/comm", "qemu-system-x86\n");
        write("task/43/comm", "vhost-42\n");
        write("task/43/status", "Name:\tvhost-42\nCpus_allowed_list:\t2-3\n");
        for (descriptor, target) in [
            ("9", "/dev/net/tun"),
            ("10", "/dev/net/tun"),
            ("11", "/dev/vfio/12"),
            ("12", "/dev/tap7"),
        ] {
            symlink(target, process.join("fd").join(descriptor)).expect("a link");
        }
        write("fdinfo/9", "pos:\t0\niff:\tvnet0\n");
        write("fdinfo/10", "pos:\t0\niff:\tvnet0\n");
        let held = held(tree.path());
        let interfaces: Vec<&str> = held.taps.iter().map(|tap| tap.interface.as_str()).collect();
        assert_eq!(interfaces, ["#7", "vnet0"]);
        let holder = &held.taps[0].holder;
        assert_eq!(holder.kind, HolderKind::VirtualMachine("vm1".to_owned()));
        assert_eq!(
            (holder.tasks.len(), holder.tasks[0].id, holder.tasks[0].cpus.as_str()),
            (1, 43, "2-3")
        );
        assert_eq!(held.passed_through, ["virtual machine vm1 (QEMU, pid 42)"]);
    }
}
