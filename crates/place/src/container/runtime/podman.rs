//! Podman: settings on the command line. Its storage is in a temporary folder, and it needs no image.

use super::super::config::{ContainerSpec, Network};
use super::number;
use deploy::{CAPABILITIES, PROGRAM, RUNS};
use rustix::process::{Resource, getrlimit};
use std::path::Path;
use std::process::Command;

/// Limit of processes. Podman's default limits are above ours, and raising one needs `CAP_SYS_RESOURCE`, which root may lack. Our own limit of
/// processes would also be too high; the value does not matter, because it does not apply to root (`RLIMIT_NPROC`, getrlimit(2)).
const PROCESSES: u64 = 1_000;

/// File with the number of a container's first process.
const PROCESS: &str = "pid";

fn command(state: &Path) -> Command {
    let mut command = Command::new("podman");
    for (option, folder) in [("--root", "store"), ("--runroot", "run"), ("--tmpdir", "tmp")] {
        command.arg(option).arg(state.join(folder));
    }
    command.args([
        "--storage-driver",
        "vfs",
        "--cgroup-manager",
        "cgroupfs",
        "--events-backend",
        "none",
    ]);
    // Debian's default is crun, which refuses the hybrid mode of control groups.
    if let Ok(true) = Command::new("runc")
        .arg("--version")
        .output()
        .map(|output| output.status.success())
    {
        command.args(["--runtime", "runc"]);
    }
    command
}

/// The options of `podman run` for the container's rights and resources.
pub(super) fn settings(spec: &ContainerSpec) -> Vec<String> {
    let mut words = vec![
        "--read-only".to_owned(),
        "--cap-drop=all".to_owned(),
        format!("--cap-add={}", CAPABILITIES.join(",")),
        "--security-opt=no-new-privileges".to_owned(),
        format!("--network={}", network(&spec.network)),
        format!("--volume={}:{RUNS}", spec.runs.display()),
    ];
    let program = spec.program.as_ref();
    words.extend(program.map(|program| format!("--volume={}:{PROGRAM}:ro", program.display())));
    words.extend(spec.cpus.as_ref().map(|cpus| format!("--cpuset-cpus={cpus}")));
    if let Some((runtime, period)) = spec.real_time_us {
        // The parent group that podman would make for all containers has no real-time budget.
        words.extend([
            "--cgroup-parent=/".to_owned(),
            format!("--cpu-rt-runtime={runtime}"),
            format!("--cpu-rt-period={period}"),
        ]);
    }
    if spec.latency_device.is_some() {
        words.push("--device=/dev/cpu_dma_latency".to_owned());
    }
    words
}

fn network(network: &Network) -> String {
    match network {
        Network::Host => "host".to_owned(),
        Network::Joined(path) => format!("ns:{}", path.display()),
        Network::Own | Network::Moved(_) => "none".to_owned(),
    }
}

pub(super) fn run((settings, words): (&[String], &[String]), state: &Path, bundle: &Path, id: &str) -> Command {
    let mut command = command(state);
    command.args(["run", "--rm", "--interactive", "--log-driver=none", "--name", id]);
    command.args(settings);
    for (name, kind, most) in [
        ("nofile", Resource::Nofile, u64::MAX),
        ("nproc", Resource::Nproc, PROCESSES),
    ] {
        let limits = getrlimit(kind);
        let word = |limit: Option<u64>| limit.unwrap_or(u64::MAX).min(most);
        let (current, maximum) = (word(limits.current), word(limits.maximum));
        if maximum < u64::MAX {
            command.arg(format!("--ulimit={name}={current}:{maximum}"));
        }
    }
    command.arg("--pidfile").arg(bundle.join(PROCESS));
    command.args(["--workdir", RUNS, "--rootfs"]).arg(bundle.join("rootfs"));
    command.arg(PROGRAM).args(words);
    command
}

pub(super) fn end(state: &Path, id: &str) -> Command {
    let mut command = command(state);
    command.args(["rm", "--force", "--time=0", id]);
    command
}

pub(super) fn first_process(bundle: &Path) -> Option<i32> {
    number(&std::fs::read(bundle.join(PROCESS)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::spec;
    use super::settings;
    use crate::container::ContainerSpec;

    #[test]
    fn it_gets_what_the_others_get() {
        let asked = ContainerSpec {
            real_time_us: Some((400_000, 1_000_000)),
            latency_device: Some((10, 259)),
            ..spec()
        };
        let words = settings(&asked).join(" ");
        for part in [
            "--cap-drop=all --cap-add=SYS_NICE,IPC_LOCK,NET_RAW",
            "--network=ns:/run/netns/relay",
            "--cpuset-cpus=0,2-3",
            "--cgroup-parent=/ --cpu-rt-runtime=400000 --cpu-rt-period=1000000",
            "--device=/dev/cpu_dma_latency",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        let plain = settings(&spec()).join(" ");
        assert!(
            !plain.contains("cgroup-parent") && !plain.contains("--device"),
            "{plain}"
        );
    }
}
