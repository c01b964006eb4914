//! `triptime emit oci`.

use super::{CommandArgs, absolute, own_binary, unwritten, write};
use crate::arguments::size;
use crate::failure::{Failure, say};
use crate::verdict;
use deploy::image::{Content, LayerEntry, root};
use place::container::{ContainerSpec, Containers, HugePages, Network, config, latency_device};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use units::CpuList;

/// Writes the config.json of a container for runc and crun; with --bundle the whole bundle, ready to run
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
It is for this machine: the number of /dev/cpu_dma_latency and the real-time budget of control groups belong to the machine.

Examples: triptime emit oci --bundle relay --cpus 2-3 -- wakeup --cpus 3 --duration 60s
          runc run --bundle relay triptime
          triptime emit oci --cpus 2-3 --net /run/netns/bus > config.json")]
pub(super) struct OciArgs {
    #[command(flatten)]
    command: CommandArgs,
    /// Folder to write config.json and rootfs into [default: config.json on standard output]
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,
    /// CPUs of the container, by this machine's numbers: those that are judged and one for everything else
    #[arg(long, short = 'a', value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Its network: the file of a namespace, `host`, `none`, or an interface of this machine that is moved into it (runc 1.4, crun 1.24)
    #[arg(long, value_name = "NETWORK", default_value = "none", value_parser = network)]
    net: Network,
    /// Folder of this machine for run files
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Memory, without swap
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    memory: u64,
    /// Huge pages that the container may use, at /dev/hugepages: pages of 1 GiB where they divide it, else of 2 MiB
    #[arg(long, value_name = "SIZE", value_parser = huge_pages)]
    hugepages: Option<HugePages>,
    /// Path of its control group [default: the runtime's choice]
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
}

fn network(text: &str) -> Result<Network, String> {
    match text {
        "host" => Ok(Network::Host),
        "none" => Ok(Network::Own),
        path if path.starts_with('/') => Ok(Network::Joined(path.into())),
        name if (1..=15).contains(&name.len()) && !name.contains(['/', ' ']) => Ok(Network::Moved(name.to_owned())),
        _ => Err("neither host, none, the file of a namespace, nor an interface".to_owned()),
    }
}

pub(super) fn huge_pages(text: &str) -> Result<HugePages, String> {
    let octets = size(text).map_err(|error| error.to_string())?;
    HugePages::of(octets).ok_or_else(|| format!("\"{text}\" is not a whole number of huge pages of 2MiB"))
}

/// Lower than the score of everything else on the machine (rule ctr-memory-limits).
const OOM_SCORE: i16 = -900;

pub(super) fn run(args: &OciArgs) -> Result<(), Failure> {
    let lone = Containers {
        program: None,
        runtime: None,
        cpus: CpuList::default(),
        side_by_side: 1,
    };
    let spec = ContainerSpec {
        program: None,
        words: args.command.words.clone(),
        cpus: args.cpus.clone(),
        network: args.net.clone(),
        runs: absolute(&args.runs)?,
        real_time_us: lone.budget_us()?,
        cgroup: args.cgroup.clone(),
        memory: Some(args.memory),
        oom_score: oom_score(),
        huge_pages: args.hugepages,
        latency_device: latency_device(),
    };
    let text = format!("{:#}\n", config(&spec));
    match &args.bundle {
        None => verdict::write(&text),
        Some(folder) => bundle(folder, &spec.runs, &text),
    }
}

/// Returns `None` where no process here may lower a score: the runtime could not start the container.
fn oom_score() -> Option<i16> {
    const SYS_RESOURCE: u32 = 24;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bounding = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
    let bounding = bounding.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if bounding.is_some_and(|mask| mask >> SYS_RESOURCE & 1 == 0) {
        say(&"process.oomScoreAdj is left out: it needs CAP_SYS_RESOURCE, which processes started from here lack");
        return None;
    }
    Some(OOM_SCORE)
}

fn bundle(folder: &Path, runs: &Path, config: &str) -> Result<(), Failure> {
    let program = own_binary()?;
    let rootfs = folder.join("rootfs");
    for path in [&rootfs, runs] {
        fs::create_dir_all(path).map_err(|error| unwritten(path, &error))?;
    }
    for entry in root(&program, env!("CARGO_PKG_VERSION")) {
        place(&rootfs, &entry)?;
    }
    write(&folder.join("config.json"), config.as_bytes())?;
    let path = folder.display();
    say(&format!(
        "{path}: run it with `runc run --bundle {path} triptime`; run files are written to {}",
        runs.display()
    ));
    Ok(())
}

fn place(rootfs: &Path, entry: &LayerEntry<'_>) -> Result<(), Failure> {
    let path = rootfs.join(entry.path);
    match &entry.content {
        Content::Folder => fs::create_dir_all(&path).map_err(|error| unwritten(&path, &error))?,
        Content::File(octets) => write(&path, octets)?,
    }
    fs::set_permissions(&path, Permissions::from_mode(entry.mode)).map_err(|error| unwritten(&path, &error))
}
