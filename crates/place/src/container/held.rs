//! A container that outlives this process, with a waiting program as its only content.

use super::runtime::{Handle, Runtime, RuntimeName, end_group};
use super::{Containers, Network, PlaceError, io};
use crate::processes;
use deploy::PROGRAM;
use std::path::Path;
use std::process::Stdio;
use sys::thread::kill_children_with_us;

/// Command that runs in it until it is taken down.
const WAITS: [&str; 2] = ["lab", "hold"];

/// A container that outlives this process.
#[derive(Debug)]
pub struct HeldContainer(Handle);

impl HeldContainer {
    /// Starts a container in the network namespace `namespace`, or in the machine's, from files made in `folder`. Its folder for run files is the
    /// working directory of this process.
    ///
    /// # Errors
    /// There is no usable runtime, or the runtime failed with this output.
    pub fn start(containers: &Containers, folder: &Path, namespace: Option<&Path>, id: &str) -> Result<(), PlaceError> {
        let runtime = Runtime::find(containers.runtime)?;
        let here = std::env::current_dir().map_err(|error| io(Path::new("."), error))?;
        let network = namespace.map_or(Network::Host, |path| Network::Joined(path.to_owned()));
        let mut spec = containers.spec(network, here)?;
        // A fixed path, so that the group is found even if the runtime fails.
        spec.cgroup = Some(format!("/{id}"));
        spec.words = WAITS.map(str::to_owned).to_vec();
        std::fs::create_dir_all(folder).map_err(|error| io(folder, error))?;
        let handle = runtime.prepare(&spec, folder, &folder.join("state"), id)?;
        start(&handle, folder)
    }

    /// A container that was started earlier.
    ///
    /// # Errors
    /// Its runtime is no longer installed.
    pub fn at(folder: &Path, runtime: Option<RuntimeName>, id: &str) -> Result<Self, PlaceError> {
        let runtime = Runtime::find(runtime)?;
        Ok(Self(runtime.known(folder, &folder.join("state"), id)))
    }

    /// True if it runs and is neither paused nor stopped.
    pub fn is_up(&self) -> bool {
        let first = self.0.first_process().and_then(|process| u32::try_from(process).ok());
        first.is_some_and(|process| Path::new(&format!("/proc/{process}")).exists() && !processes::is_stopped(process))
    }

    /// Kills it. Succeeds if it does not exist.
    pub fn end(&self) {
        self.0.end();
        self.0.end_groups();
    }

    /// Kills the container with this name when its other data is lost.
    pub fn end_named(id: &str) {
        end_group(id);
    }

    /// The command line that runs `triptime` in it, without arguments.
    pub fn way_in(&self) -> String {
        let command = self.0.execute();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
        format!("{} {PROGRAM}", words.join(" "))
    }
}

/// Makes one attempt to start it.
fn start(handle: &Handle, folder: &Path) -> Result<(), PlaceError> {
    let log = folder.join("log");
    let file = std::fs::File::create(&log).map_err(|error| io(&log, error))?;
    let other = file.try_clone().map_err(|error| io(&log, error))?;
    let mut command = handle.run_detached();
    command.stdin(Stdio::null()).stdout(file).stderr(other);
    // Otherwise the runtime could continue alone and make a container that was already taken down.
    kill_children_with_us(&mut command);
    let status = command
        .status()
        .map_err(|error| io(Path::new(handle.program()), error))?;
    match status.success() {
        true => Ok(()),
        false => Err(PlaceError::Failed {
            place: "container",
            said: std::fs::read_to_string(&log).unwrap_or_default().trim().to_owned(),
        }),
    }
}

/// The word quoted for a shell.
fn quoted(word: &str) -> String {
    match word.contains([' ', '"', '$', '&']) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}
