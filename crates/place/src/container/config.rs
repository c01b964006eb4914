//! The `config.json` of a container: the rights recommended for a protection application, and no others.

use deploy::{CAPABILITIES, PROGRAM, RUNS};
use serde_json::{Value, json};
use std::path::PathBuf;
use units::CpuList;

/// Properties in which containers differ; everything else is the same for all.
#[derive(Debug, Clone)]
pub struct ContainerSpec {
    /// The binary on this machine, to be mounted at [`PROGRAM`]; `None`: the root file system has it.
    pub program: Option<PathBuf>,
    /// Words after `triptime`.
    pub words: Vec<String>,
    /// CPUs of the container, by the host's numbers, which are valid inside, too; `None`: those of its control group.
    pub cpus: Option<CpuList>,
    /// Its network.
    pub network: Network,
    /// Folder on this machine that is mounted at [`RUNS`], absolute.
    pub runs: PathBuf,
    /// Runtime and period of real-time threads, in us, if groups have such a budget (`RT_GROUP_SCHED` with control groups version 1). Without a
    /// budget such threads are refused there. Elsewhere `None`: version 2 has no such setting and reports an error.
    pub real_time_us: Option<(u64, u64)>,
    /// Path of its control group; `None`: the runtime's choice.
    pub cgroup: Option<String>,
    /// Memory in bytes, without any swap in addition; `None`: no limit.
    pub memory: Option<u64>,
    /// Score for the out-of-memory killer; a score below that of this process needs `CAP_SYS_RESOURCE`.
    pub oom_score: Option<i16>,
    /// Huge pages available to it, mounted at `/dev/hugepages`.
    pub huge_pages: Option<HugePages>,
    /// Major and minor number of the machine's `/dev/cpu_dma_latency`; `None`: the container cannot hold idle states off.
    pub latency_device: Option<(u32, u32)>,
}

/// The network of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// A new namespace with `lo` only.
    Own,
    /// The host's.
    Host,
    /// The namespace of this file.
    Joined(PathBuf),
    /// A new namespace, into which the runtime moves this interface of the host (runtime-spec 1.3: runc 1.4, crun 1.24).
    Moved(String),
}

/// An amount of huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugePages {
    octets: u64,
}

impl HugePages {
    const GIB: u64 = 1 << 30;
    const SMALL: u64 = 2 << 20;

    /// `octets` bytes of huge pages; `None` if this is not a multiple of 2 MiB.
    pub fn of(octets: u64) -> Option<Self> {
        (octets > 0 && octets.is_multiple_of(Self::SMALL)).then_some(Self { octets })
    }

    /// Amount in bytes.
    pub fn octets(self) -> u64 {
        self.octets
    }

    /// True for pages of 1 GiB, which are used if they divide the amount; otherwise 2 MiB.
    pub fn is_of_gib(self) -> bool {
        self.octets.is_multiple_of(Self::GIB)
    }
}

/// The complete `config.json`, for the folder that contains `rootfs`.
///
/// It has no system call filter and no CPU time limit. The control group namespace is the host's, so that values read inside are the effective ones.
pub fn config(spec: &ContainerSpec) -> Value {
    let mut process = json!({
        "terminal": false,
        "user": {"uid": 0, "gid": 0},
        "args": args(spec),
        "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        "cwd": "/",
        "capabilities": capabilities(),
        "noNewPrivileges": true,
    });
    if let Some(score) = spec.oom_score {
        process["oomScoreAdj"] = json!(score);
    }
    json!({
        "ociVersion": oci_version(&spec.network),
        "process": process,
        "root": {"path": "rootfs", "readonly": true},
        "hostname": "triptime",
        "mounts": mounts(spec),
        "linux": linux(spec),
    })
}

/// Moved interfaces need a newer version of the specification.
fn oci_version(network: &Network) -> &'static str {
    match network {
        Network::Moved(_) => "1.3.0",
        _ => "1.0.2",
    }
}

fn args(spec: &ContainerSpec) -> Vec<&str> {
    let words = spec.words.iter().map(String::as_str);
    std::iter::once(PROGRAM).chain(words).collect()
}

/// Neither inheritable nor ambient: programs that it executes get none of them unless they run as root.
fn capabilities() -> Value {
    let named = CAPABILITIES.map(|name| format!("CAP_{name}"));
    json!({"bounding": named, "effective": named, "permitted": named})
}

fn mounts(spec: &ContainerSpec) -> Vec<Value> {
    let plain = |at: &str, kind: &str, options: &[&str]| json!({"destination": at, "type": kind, "source": kind, "options": options});
    let mut mounts = vec![
        plain("/proc", "proc", &["nosuid", "noexec", "nodev"]),
        plain("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
        plain("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
        plain(
            "/sys/fs/cgroup",
            "cgroup",
            &["nosuid", "noexec", "nodev", "relatime", "ro"],
        ),
        plain("/tmp", "tmpfs", &["nosuid", "nodev", "mode=1777"]),
    ];
    if let Some(pages) = spec.huge_pages {
        let size = if pages.is_of_gib() {
            "pagesize=1G"
        } else {
            "pagesize=2M"
        };
        mounts.push(plain("/dev/hugepages", "hugetlbfs", &["nosuid", "nodev", size]));
    }
    let bound = |from: &PathBuf, to: &str, access: &str| json!({"destination": to, "type": "bind", "source": from, "options": ["bind", "nosuid", "nodev", access]});
    mounts.push(bound(&spec.runs, RUNS, "rw"));
    mounts.extend(spec.program.as_ref().map(|program| bound(program, PROGRAM, "ro")));
    mounts
}

fn linux(spec: &ContainerSpec) -> Value {
    let mut linux = json!({
        "namespaces": namespaces(&spec.network),
        "resources": resources(spec),
        "maskedPaths": ["/proc/kcore", "/proc/keys"],
        "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
    });
    if let Some(path) = &spec.cgroup {
        linux["cgroupsPath"] = json!(path);
    }
    if let Some((major, minor)) = spec.latency_device {
        linux["devices"] = json!([{
            "path": "/dev/cpu_dma_latency", "type": "c", "major": major, "minor": minor, "fileMode": 0o600, "uid": 0, "gid": 0
        }]);
    }
    if let Network::Moved(interface) = &spec.network {
        linux["netDevices"] = json!({interface.as_str(): {}});
    }
    linux
}

fn namespaces(network: &Network) -> Vec<Value> {
    let own = ["pid", "mount", "ipc", "uts"].map(|kind| json!({"type": kind}));
    let network = match network {
        Network::Host => None,
        Network::Joined(path) => Some(json!({"type": "network", "path": path})),
        Network::Own | Network::Moved(_) => Some(json!({"type": "network"})),
    };
    own.into_iter().chain(network).collect()
}

fn resources(spec: &ContainerSpec) -> Value {
    let mut resources = json!({"devices": device_rules(spec)});
    let mut cpu = serde_json::Map::new();
    if let Some(cpus) = &spec.cpus {
        cpu.insert("cpus".into(), json!(cpus.to_string()));
    }
    if let Some((runtime, period)) = spec.real_time_us {
        cpu.insert("realtimeRuntime".into(), json!(runtime));
        cpu.insert("realtimePeriod".into(), json!(period));
    }
    if !cpu.is_empty() {
        resources["cpu"] = cpu.into();
    }
    if let Some(octets) = spec.memory {
        // `swap` is the sum of memory and swap.
        resources["memory"] = json!({"limit": octets, "swap": octets});
    }
    if let Some(pages) = spec.huge_pages {
        let size = if pages.is_of_gib() { "1GB" } else { "2MB" };
        resources["hugepageLimits"] = json!([{"pageSize": size, "limit": pages.octets()}]);
    }
    resources
}

/// The requested device only; the runtime itself adds its standard ones (`null`, `zero`, `random` and similar).
fn device_rules(spec: &ContainerSpec) -> Vec<Value> {
    let mut rules = vec![json!({"allow": false, "access": "rwm"})];
    rules.extend(
        spec.latency_device
            .map(|(major, minor)| json!({"allow": true, "type": "c", "major": major, "minor": minor, "access": "rw"})),
    );
    rules
}
