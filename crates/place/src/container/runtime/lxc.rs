//! LXC: a system container from a settings file, with LXC's own first process.

use super::super::config::{ContainerSpec, Network};
use super::{has_unified_groups, number};
use deploy::{CAPABILITIES, PROGRAM, RUNS};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::Command;

/// Devices of every container: `null`, `zero`, `full`, `random`, `urandom`, `tty`, `ptmx` and terminals.
const DEVICES: [&str; 8] = ["1:3", "1:5", "1:7", "1:8", "1:9", "5:0", "5:2", "136:*"];

/// The complete `lxc.conf` (lxc.container.conf(5)). `rootfs` has the mount points.
pub(super) fn settings(spec: &ContainerSpec, rootfs: &Path) -> String {
    let groups = if has_unified_groups() {
        "lxc.cgroup2"
    } else {
        "lxc.cgroup"
    };
    settings_for(spec, rootfs, groups)
}

fn settings_for(spec: &ContainerSpec, rootfs: &Path, groups: &str) -> String {
    let mut text = String::new();
    let mut set = |key: &str, value: &str| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{key} = {value}");
    };
    set("lxc.uts.name", "triptime");
    set("lxc.rootfs.path", &format!("dir:{}", rootfs.display()));
    set("lxc.mount.auto", "proc:mixed sys:ro cgroup-full:ro");
    set("lxc.autodev", "1");
    set("lxc.tty.max", "0");
    set("lxc.pty.max", "1");
    set("lxc.console.path", "none");
    set("lxc.cap.keep", &CAPABILITIES.join(" ").to_lowercase());
    set("lxc.no_new_privs", "1");
    set("lxc.init.cwd", RUNS);
    let bind = |from: &Path, to: &str, access: &str| {
        let to = to.trim_start_matches('/');
        format!("{} {to} none bind,nosuid,{access} 0 0", from.display())
    };
    set("lxc.mount.entry", &bind(&spec.runs, RUNS, "rw"));
    if let Some(program) = &spec.program {
        set("lxc.mount.entry", &bind(program, PROGRAM, "ro"));
    }
    match &spec.network {
        Network::Own | Network::Moved(_) => set("lxc.net.0.type", "empty"),
        Network::Host => set("lxc.net.0.type", "none"),
        Network::Joined(path) => set("lxc.namespace.share.net", &path.display().to_string()),
    }
    if let Some(cpus) = &spec.cpus {
        set(&format!("{groups}.cpuset.cpus"), &cpus.to_string());
    }
    if let Some((runtime, period)) = spec.real_time_us {
        // The period comes first: a budget larger than the period is refused.
        set(&format!("{groups}.cpu.rt_period_us"), &period.to_string());
        set(&format!("{groups}.cpu.rt_runtime_us"), &runtime.to_string());
    }
    set(&format!("{groups}.devices.deny"), "a");
    for device in DEVICES {
        set(&format!("{groups}.devices.allow"), &format!("c {device} rwm"));
    }
    if let Some((major, minor)) = spec.latency_device {
        set(&format!("{groups}.devices.allow"), &format!("c {major}:{minor} rw"));
        let device = Path::new("/dev/cpu_dma_latency");
        set(
            "lxc.mount.entry",
            &format!(
                "{},create=file 0 0",
                bind(device, "dev/cpu_dma_latency", "rw").trim_end_matches(" 0 0")
            ),
        );
    }
    text
}

/// The mount points in the root file system, which LXC does not make.
pub(super) fn make_mount_points(rootfs: &Path) -> io::Result<()> {
    for folder in ["proc", "sys", "dev", "tmp", "runs", "usr/bin"] {
        std::fs::create_dir_all(rootfs.join(folder))?;
    }
    std::fs::write(rootfs.join(PROGRAM.trim_start_matches('/')), "")
}

fn command(program: &str, state: &Path, id: &str) -> Command {
    let mut command = Command::new(program);
    command.arg("--lxcpath").arg(state).args(["--name", id]);
    command
}

pub(super) fn run(words: &[String], state: &Path, bundle: &Path, id: &str) -> Command {
    let mut command = command("lxc-execute", state, id);
    command.arg("--rcfile").arg(bundle.join("lxc.conf")).arg("--");
    command.arg(PROGRAM).args(words);
    command
}

pub(super) fn end(state: &Path, id: &str) -> Command {
    let mut command = command("lxc-stop", state, id);
    command.arg("--kill");
    command
}

pub(super) fn first_process(state: &Path, id: &str) -> Option<i32> {
    let output = command("lxc-info", state, id)
        .args(["--pid", "--no-humanize"])
        .output()
        .ok()?;
    number(&output.stdout)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::spec;
    use super::settings_for;
    use crate::container::{ContainerSpec, Network};
    use std::path::Path;

    fn text(spec: &ContainerSpec) -> String {
        settings_for(spec, Path::new("/x/rootfs"), "lxc.cgroup")
    }

    #[test]
    fn it_gets_what_the_others_get() {
        let text = text(&ContainerSpec {
            real_time_us: Some((400_000, 1_000_000)),
            latency_device: Some((10, 259)),
            ..spec()
        });
        for line in [
            "lxc.cap.keep = sys_nice ipc_lock net_raw",
            "lxc.no_new_privs = 1",
            "lxc.namespace.share.net = /run/netns/relay",
            "lxc.cgroup.cpuset.cpus = 0,2-3",
            "lxc.cgroup.cpu.rt_runtime_us = 400000",
            "lxc.cgroup.devices.allow = c 10:259 rw",
            "lxc.mount.entry = /dev/cpu_dma_latency dev/cpu_dma_latency none bind,nosuid,rw,create=file 0 0",
            "lxc.mount.entry = /srv/runs runs none bind,nosuid,rw 0 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        let (denied, allowed) = (text.find("devices.deny"), text.find("devices.allow"));
        assert!(denied < allowed, "{text}");
    }

    #[test]
    fn without_a_bed_it_has_a_network_of_its_own() {
        let text = text(&ContainerSpec {
            network: Network::Own,
            ..spec()
        });
        assert!(text.contains("lxc.net.0.type = empty") && !text.contains("share.net"));
        assert!(!text.contains("rt_runtime_us") && !text.contains("cpu_dma_latency"));
    }
}
