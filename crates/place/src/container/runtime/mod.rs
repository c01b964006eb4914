//! The container runtimes of this machine: how each runs, describes and ends a container.

mod groups;
mod lxc;
mod oci;
mod podman;

pub(super) use groups::{end as end_group, name as group_name, sweep as sweep_groups};

use super::super::PlaceError;
use super::config::ContainerSpec;
use super::freed::wait_for_freed;
use super::threads;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Mount point of the controllers of control groups version 1, and of version 2 itself.
const GROUPS: &str = "/sys/fs/cgroup";

/// A container runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeName {
    /// The reference runtime of the OCI.
    Runc,
    /// The runtime of Red Hat.
    Crun,
    /// Podman, which runs one of the two.
    Podman,
    /// A system container of LXC.
    Lxc,
    /// Docker: not usable, listed only to explain why.
    Docker,
}

impl RuntimeName {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Runc, Self::Crun, Self::Podman, Self::Lxc, Self::Docker];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runc => "runc",
            Self::Crun => "crun",
            Self::Podman => "podman",
            Self::Lxc => "lxc",
            Self::Docker => "docker",
        }
    }

    /// The named runtime, or the first that is installed.
    ///
    /// # Errors
    /// The named runtime does not run here, or none is installed.
    pub fn find(named: Option<Self>) -> Result<Self, PlaceError> {
        Runtime::find(named).map(|runtime| runtime.name)
    }

    /// The program that runs a container in the foreground.
    fn program(self) -> &'static str {
        match self {
            Self::Lxc => "lxc-execute",
            other => other.name(),
        }
    }

    /// Its package in Debian and derived distributions.
    fn package(self) -> &'static str {
        match self {
            Self::Docker => "docker.io",
            other => other.name(),
        }
    }

    /// Why it can never run the device under test; `None` if it can.
    fn why_not(self) -> Option<&'static str> {
        (self == Self::Docker).then_some(
            "docker: it cannot start a container in a given network namespace, so not in a test bed, and it starts only images of \
             its daemon's store: use runc, which docker itself uses, with the same settings (docs/guide/container.md has its command line)",
        )
    }
}

/// Error messages of installed runtimes that do not run, as text in brackets.
fn those_that_fail() -> String {
    let said = RuntimeName::ALL.into_iter().filter_map(|name| {
        let output = Command::new(name.program())
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        Some(format!(
            "{}: {}",
            name.name(),
            text.lines().next().unwrap_or("it ends with an error")
        ))
    });
    match said.collect::<Vec<_>>().join("; ") {
        said if said.is_empty() => said,
        said => format!(" that runs ({said})"),
    }
}

/// A runtime that is installed.
#[derive(Debug, Clone)]
pub(super) struct Runtime {
    name: RuntimeName,
    /// The first line of its version output: `runc version 1.1.5`.
    version: String,
}

impl std::fmt::Display for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.version)
    }
}

impl Runtime {
    /// The named runtime, or the first that is installed.
    pub(super) fn find(named: Option<RuntimeName>) -> Result<Self, PlaceError> {
        let not_available = |text: String| Err(PlaceError::NotAvailable(text));
        match named {
            Some(name) => match (name.why_not(), Self::installed(name)) {
                (Some(why), _) => not_available(why.to_owned()),
                (None, Some(found)) => Ok(found),
                (None, None) => not_available(format!(
                    "{} does not run here (`{} --version` fails): install {}, or leave --runtime out",
                    name.name(),
                    name.program(),
                    name.package()
                )),
            },
            None => {
                let mut usable = RuntimeName::ALL.into_iter().filter(|name| name.why_not().is_none());
                match usable.find_map(Self::installed) {
                    Some(found) => Ok(found),
                    None => not_available(format!(
                        "a container needs a runtime, and none is installed{}: install runc, crun, podman or lxc",
                        those_that_fail()
                    )),
                }
            }
        }
    }

    fn installed(name: RuntimeName) -> Option<Self> {
        let output = Command::new(name.program())
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text.lines().next()?;
        output.status.success().then(|| Self {
            name,
            version: match name {
                // LXC prints only its version number.
                RuntimeName::Lxc => format!("LXC {first}"),
                _ => first.to_owned(),
            },
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> RuntimeName {
        self.name
    }

    /// Name and content of the settings that it gets.
    pub(super) fn settings(&self, spec: &ContainerSpec) -> (&'static str, String) {
        match self.name {
            RuntimeName::Runc | RuntimeName::Crun | RuntimeName::Docker => {
                ("config.json", super::config::config(spec).to_string())
            }
            RuntimeName::Podman => ("podman run", podman::settings(spec).join(" ")),
            RuntimeName::Lxc => ("lxc.conf", lxc::settings(spec, Path::new("rootfs"))),
        }
    }

    /// Writes the files for a container of `spec` into the folder `bundle`. The runtime keeps its own state of it in the folder `state`.
    pub(super) fn prepare(
        &self,
        spec: &ContainerSpec,
        bundle: &Path,
        state: &Path,
        id: &str,
    ) -> Result<Handle, PlaceError> {
        if spec.real_time_us.is_some() {
            wait_for_freed();
        }
        let write = |name: &str, text: String| {
            let path = bundle.join(name);
            std::fs::write(&path, text).map_err(|error| super::io(&path, error))
        };
        let rootfs = bundle.join("rootfs");
        for folder in [rootfs.as_path(), state] {
            std::fs::create_dir_all(folder).map_err(|error| super::io(folder, error))?;
        }
        match self.name {
            RuntimeName::Runc | RuntimeName::Crun | RuntimeName::Docker => {
                let mut value = super::config::config(spec);
                value["process"]["cwd"] = super::RUNS.into();
                write("config.json", value.to_string())?;
            }
            RuntimeName::Lxc => {
                lxc::make_mount_points(&rootfs).map_err(|error| super::io(&rootfs, error))?;
                write("lxc.conf", lxc::settings(spec, &rootfs))?;
            }
            RuntimeName::Podman => {}
        }
        Ok(Handle {
            words: spec.words.clone(),
            podman: podman::settings(spec),
            ..self.known(bundle, state, id)
        })
    }

    /// A container that was prepared earlier with these paths.
    pub(super) fn known(&self, bundle: &Path, state: &Path, id: &str) -> Handle {
        Handle {
            name: self.name,
            bundle: bundle.to_owned(),
            state: state.to_owned(),
            id: id.to_owned(),
            words: Vec::new(),
            podman: Vec::new(),
            groups_before: self.name.leftovers(),
        }
    }
}

impl RuntimeName {
    /// Existing control groups that the runtime makes in addition to those of its containers, and does not remove.
    fn leftovers(self) -> Vec<PathBuf> {
        let group = match self {
            Self::Lxc => "lxc.pivot",
            Self::Podman => "conmon",
            _ => return Vec::new(),
        };
        groups::called(group)
    }
}

/// A container: prepared, running, or ended.
#[derive(Debug)]
pub(super) struct Handle {
    name: RuntimeName,
    bundle: PathBuf,
    state: PathBuf,
    id: String,
    /// Words after `triptime`.
    words: Vec<String>,
    /// Options for podman, which has no settings file.
    podman: Vec<String>,
    groups_before: Vec<PathBuf>,
}

impl Handle {
    /// The program that runs it.
    pub(super) fn program(&self) -> &'static str {
        self.name.program()
    }

    /// Runs its command in the foreground, with our standard input, output and error.
    pub(super) fn run(&self) -> Command {
        match self.name {
            RuntimeName::Podman => podman::run((&self.podman, &self.words), &self.state, &self.bundle, &self.id),
            RuntimeName::Lxc => lxc::run(&self.words, &self.state, &self.bundle, &self.id),
            name => {
                let mut command = oci::run(name, &self.state, &self.bundle);
                command.arg(&self.id);
                command
            }
        }
    }

    /// Runs its command, and continues without this process; for runc and crun only.
    pub(super) fn run_detached(&self) -> Command {
        let mut command = oci::command(self.name, &self.state);
        command
            .args(["run", "--detach", "--bundle"])
            .arg(&self.bundle)
            .arg(&self.id);
        command
    }

    /// Runs an additional command in it; for runc and crun only.
    pub(super) fn execute(&self) -> Command {
        let mut command = oci::command(self.name, &self.state);
        command.arg("exec").arg(&self.id);
        command
    }

    /// Ends it by force.
    pub(super) fn end(&self) {
        let mut command = match self.name {
            RuntimeName::Podman => podman::end(&self.state, &self.id),
            RuntimeName::Lxc => lxc::end(&self.state, &self.id),
            name => oci::end(name, &self.state, &self.id),
        };
        // An error means that it no longer exists.
        let _ = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }

    /// Kills the processes in control groups with the container's name, and removes the groups: a runtime that was killed while making them would not
    /// find them.
    pub(super) fn end_groups(&self) {
        groups::end(&self.id);
    }

    /// Removes groups that the runtime left after the container ended. A group in use by others is not empty, and stays.
    pub(super) fn tidy(&self) {
        // crun leaves the groups of a container that it could not make; all runtimes leave those of a container that would not end.
        groups::end(&self.id);
        let made = self.name.leftovers();
        for group in made.iter().filter(|group| !self.groups_before.contains(group)) {
            let _ = std::fs::remove_dir(group);
        }
    }

    /// Number of its first process; 0 or `None` if it does not run.
    pub(super) fn first_process(&self) -> Option<i32> {
        match self.name {
            RuntimeName::Podman => podman::first_process(&self.bundle),
            RuntimeName::Lxc => lxc::first_process(&self.state, &self.id),
            name => oci::first_process(name, &self.state, &self.id),
        }
    }

    /// Number on this machine of the thread with number `there` in the container.
    pub(super) fn thread_here(&self, there: i32) -> Option<i32> {
        threads::number_here(self.first_process()?, there)
    }
}

/// Parses text that consists of a number only.
fn number(text: &[u8]) -> Option<i32> {
    String::from_utf8_lossy(text).trim().parse().ok()
}

/// True if only version 2 of control groups is mounted.
fn has_unified_groups() -> bool {
    Path::new(GROUPS).join("cgroup.controllers").exists()
}

/// Major and minor number of the device that holds off idle states, if this machine has it.
pub fn latency_device() -> Option<(u32, u32)> {
    let device = std::fs::metadata("/dev/cpu_dma_latency").ok()?;
    let number = device.rdev();
    device
        .file_type()
        .is_char_device()
        .then(|| (rustix::fs::major(number), rustix::fs::minor(number)))
}

#[cfg(test)]
mod tests {
    use super::{PlaceError, Runtime, RuntimeName};

    #[test]
    fn docker_is_refused_with_what_to_use() {
        let refused = Runtime::find(Some(RuntimeName::Docker));
        let Err(PlaceError::NotAvailable(text)) = refused else {
            panic!("{refused:?}")
        };
        assert!(text.contains("namespace") && text.contains("use runc"), "{text}");
    }
}
