//! The process that forwards frames in a lab. It runs until the lab is taken down.
//!
//! ```text
//! [ lab up ] starts [ triptime lab hold --bed=triptime-NAME-sw ]: makes the bed, names its namespaces, says that it is up, forwards
//!                        |  a thread between two taps, or
//!                        +--[ ovsdb-server ]  [ ovs-vswitchd ]  which the kernel ends with it
//! ```
//!
//! The kernel ends this process together with `lab up` until it has reported that it is up.

use super::names::{LabName, lab_of, name_of};
use super::record::{Asked, LabRecord};
use super::{FOLDER, LabError, PROGRAM, failed, no_lab, pin};
use bed::vswitch::{self, marks};
use bed::{Bed, BedError, Network};
use place::PlaceKind;
use place::processes;
use rustix::process::set_parent_process_death_signal;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::thread::kill_children_with_us;

/// Line that the forwarder writes once it is up.
const UP: &str = "up";

/// Files in the lab's folder: the forwarder's last output, and the files of Open vSwitch.
const SAID: &str = "forwarder";
const FILES: &str = "ovs";

/// Name of the lab's end whose namespace forwards: the middle.
const MIDDLE: &str = "sw";

/// Interval at which the forwarder checks its stop flag and the parts that forward.
const LOOK: Duration = Duration::from_millis(200);

/// The forwarder of a lab; it need not be running.
#[derive(Debug)]
pub(super) struct Forwarder {
    folder: PathBuf,
    id: String,
}

impl Forwarder {
    /// The forwarder of the lab `name` with this folder.
    pub(super) fn of(name: &LabName, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            id: name_of(name, MIDDLE),
        }
    }

    /// Starts the process, which makes the bed from the record in the folder.
    pub(super) fn start(&self) -> Result<(), LabError> {
        let said = self.folder.join(SAID);
        let file = File::create(&said).map_err(|error| failed(&said, error))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0(PROGRAM).args(["lab", "hold"]).arg(self.mark());
        // The process stays when the terminal is closed.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        kill_children_with_us(&mut command);
        let mut child = command.spawn().map_err(|error| failed(&said, error))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            // On a read error the line stays empty, as if the process had written nothing.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        match line.trim() == UP {
            true => Ok(()),
            false => {
                let _ = child.kill();
                let _ = child.wait();
                Err(BedError::NotAvailable(self.last_words()).into())
            }
        }
    }

    fn mark(&self) -> String {
        format!("--bed={}", self.id)
    }

    /// Its process; `None` if it does not run.
    pub(super) fn process(&self) -> Option<u32> {
        processes::with_word(&self.mark()).first().copied()
    }

    /// Describes the missing part of it, if one is missing.
    pub(super) fn missing(&self, asked: &Asked) -> Option<String> {
        let not_running = |why: &str| Some(format!("the forwarder does not run ({}): {why}", self.id));
        let Some(process) = self.process() else {
            return not_running(&self.last_words());
        };
        if let Some(stopped) = self.processes(process).find(|process| processes::is_stopped(*process)) {
            return not_running(&format!("process {stopped} is stopped"));
        }
        let is_switch = asked.network == Network::OpenVswitch;
        let missing = is_switch.then(|| vswitch::missing(&self.files(), asked.devices))??;
        // A switch that ends during the query gives an empty answer.
        match self.process() {
            Some(_) => Some(missing),
            None => not_running(&self.last_words()),
        }
    }

    /// The process itself and the daemons that it started.
    fn processes(&self, own: u32) -> impl Iterator<Item = u32> {
        let daemons = marks(&self.files())
            .into_iter()
            .flat_map(|mark| processes::with_word(&mark));
        std::iter::once(own).chain(daemons)
    }

    /// Folder of Open vSwitch's files.
    pub(super) fn files(&self) -> PathBuf {
        self.folder.join(FILES)
    }

    /// Kills the process and its daemons. Succeeds if none runs.
    pub(super) fn end(&self) {
        processes::end(&self.mark());
        for daemon in marks(&self.files()) {
            processes::end(&daemon);
        }
    }

    fn last_words(&self) -> String {
        let said = std::fs::read(self.folder.join(SAID)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| line.trim_start_matches("triptime: "));
        last.unwrap_or("it was ended from outside").to_owned()
    }
}

/// Makes the bed of the lab whose middle is called `middle`, and forwards until `stop` is set. Writes a line to standard output once the lab is up.
///
/// # Errors
/// There is no such lab, its bed cannot be made, or forwarding stopped.
pub fn forward(middle: &str, stop: &AtomicBool) -> Result<(), LabError> {
    let name = lab_of(middle).ok_or_else(|| LabError::Refused(format!("{middle} is not part of a lab")))?;
    let folder = Path::new(FOLDER).join(name.as_str());
    let asked = LabRecord::read(&folder).ok_or_else(|| no_lab(&name))?.asked;
    let files = Forwarder::of(&name, &folder).files();
    let bed = Bed::kept(asked.network, asked.devices, asked.place == PlaceKind::Vm, &files)?;
    pin(&name, bed.namespaces())?;
    // From now on it is known by its name.
    let _ = set_parent_process_death_signal(None);
    let mut output = std::io::stdout();
    // A write error is ignored: it means that the starting process has gone, and no other process reads this line.
    let _ = writeln!(output, "{UP}").and_then(|()| output.flush());
    while !stop.load(Ordering::Relaxed) {
        if let Some(why) = bed.ended() {
            return Err(BedError::NotAvailable(why).into());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Forwarder, LabName, SAID, forward};
    use crate::Asked;
    use crate::record::tests::asked;
    use bed::Network;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn one_that_does_not_run_is_missing_with_what_it_said_last() {
        let folder = tempfile::tempdir().expect("a directory");
        let name = LabName::parse("unit-test-of-forwarders").expect("a name");
        let forwarder = Forwarder::of(&name, folder.path());
        let tap = Asked {
            network: Network::Tap,
            ..asked()
        };
        let missing = forwarder.missing(&tap).expect("none runs");
        assert!(missing.contains("triptime-unit-test-of-forwarders-sw"), "{missing}");
        assert!(missing.ends_with("ended from outside"), "{missing}");
        std::fs::write(folder.path().join(SAID), "triptime: ovs-vswitchd has ended\n\n").expect("written");
        let missing = forwarder.missing(&tap).expect("none runs");
        assert!(missing.ends_with("): ovs-vswitchd has ended"), "{missing}");
        // No process runs, so this must do nothing.
        forwarder.end();
    }

    #[test]
    fn only_the_middle_of_a_lab_that_is_written_down_is_forwarded_in() {
        let refused = |middle: &str| {
            let refused = forward(middle, &AtomicBool::new(true)).expect_err("no such lab");
            refused.to_string()
        };
        assert!(refused("bay").contains("not part of a lab"));
        assert!(refused("triptime-unit-test-of-forwarders-sw").contains("there is no lab"));
    }
}
