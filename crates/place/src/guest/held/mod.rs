//! A guest that outlives this process. Later processes run commands in it, one after another.
//!
//! ```text
//! [ lab up ] starts [ QEMU --socket FOLDER/channel ]--virtio port--[ agent ]
//! [ lab run ] connects to the socket; the agent greets each that comes, and forgets what was under way when it has gone
//! ```

mod stream;
mod visit;

use super::asked::STAYS;
use super::boot::{LOOK, describe};
use super::channel::CallError;
use super::how::{self, How};
use super::image;
use super::message::Greeting;
use super::modules;
use super::qemu::line::Ways;
use super::qemu::machine::{InMemory, begin};
use super::qemu::{self, threads};
use super::share::Share;
use super::{Cable, GuestSpec, PlaceError, accel, cable, spec};
use crate::processes;
use bed::DeviceEnd;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
pub use visit::Visit;
use visit::{hear, open};

/// Files in its folder: the socket of its agent, its console, QEMU's output, and its properties.
const SOCKET: &str = "channel";
const CONSOLE: &str = "console";
const SAID: &str = "said";
const KNOWN: &str = "guest.json";

/// Time that QEMU may take to make its socket.
const SOCKET_PATIENCE: Duration = Duration::from_secs(10);
/// Number of console lines in an error message.
const LINES: usize = 12;

/// Properties of a guest, as stored in its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Description in one line.
    pub what: String,
    /// Accelerator that runs it: KVM, or an emulation and its reason.
    pub processor: String,
    /// Its network interface.
    pub interface: String,
    /// Host CPUs of its virtual CPUs, as text; `None` if they are not pinned.
    pub placed: Option<String>,
    /// Time from the start of QEMU until its agent was up, in ms.
    pub boot_ms: u64,
}

/// A guest that outlives this process.
#[derive(Debug)]
pub struct HeldGuest {
    folder: PathBuf,
    id: String,
}

impl HeldGuest {
    /// The guest of this name in `folder`; it need not exist yet.
    pub fn at(folder: &Path, id: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            id: id.to_owned(),
        }
    }

    /// Boots guest number `number`, from 0, of several like `spec` at its end of a bed.
    ///
    /// # Errors
    /// A requirement is missing on this machine, or it does not come up. Then nothing keeps running.
    pub fn start(&self, spec: &GuestSpec, number: usize, end: DeviceEnd<'_>) -> Result<(), PlaceError> {
        let spec = of(spec, number);
        check(&spec)?;
        let cable = cable::of(end)?;
        std::fs::create_dir_all(&self.folder).map_err(|error| io(&self.folder, error))?;
        let modules = modules::choose(&spec.modules, &modules::OF_QEMU)?;
        let image = InMemory::new(&image::make(Path::new(image::OWN_PROGRAM), &modules, spec.runtime)?)?;
        let known = how::boot(&spec, |how, patience| {
            let done = self.attempt(&spec, &cable, &image, how, patience);
            if done.is_err() {
                self.end();
            }
            done
        })?;
        let path = self.folder.join(KNOWN);
        let text = serde_json::to_string_pretty(&known).map_err(|error| io(&path, error.into()))?;
        std::fs::write(&path, text).map_err(|error| io(&path, error))
    }

    fn attempt(
        &self,
        spec: &GuestSpec,
        cable: &Cable,
        image: &InMemory,
        how: &How,
        patience: Duration,
    ) -> Result<Known, PlaceError> {
        let begun = Instant::now();
        let mut child = self.launch(spec, cable, image, how)?;
        let stream = until_socket(&self.folder.join(SOCKET), &mut child).map_err(|why| self.not_up(begun, &why))?;
        let greeting = self.until_up(stream, &mut child, patience)?;
        let placed = match &spec.host_cpus {
            Some(cpus) => Some(threads::place(child.id(), cpus, how.is_kvm())?),
            None => None,
        };
        let Some((interface, _)) = &greeting.interface else {
            let why = format!("it has no network card: {}", greeting.complaints.join("; "));
            return Err(self.refused(&why));
        };
        Ok(Known {
            what: describe(spec, &greeting, how.is_kvm()),
            processor: how.to_string(),
            interface: interface.clone(),
            placed,
            boot_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Starts QEMU on a thread that has the guest's network namespace and CPUs.
    fn launch(&self, spec: &GuestSpec, cable: &Cable, image: &InMemory, how: &How) -> Result<Child, PlaceError> {
        let kvm = how.is_kvm();
        let plugged = cable.plug(kvm)?;
        let _ = std::fs::remove_file(self.folder.join(SOCKET));
        let path = |name: &str| self.folder.join(name).display().to_string();
        let ways = Ways {
            name: self.id.clone(),
            kvm,
            locked: sys::privilege::has(sys::privilege::Capability::IpcLock),
            share: Share::here(spec),
            image: image.path(),
            console: format!("file,path={}", path(CONSOLE)),
            channel: format!("socket,path={},server=on,wait=off", path(SOCKET)),
            cards: plugged.cards.clone(),
        };
        let log = self.folder.join(SAID);
        let said = File::create(&log).map_err(|error| io(&log, error))?;
        let mut command = Command::new(qemu::program()?);
        // The process stays when the terminal is closed.
        command.args(qemu::line::words(spec, &ways)).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let cpus = ways.share.emulator.clone();
        let start = move || begin(command, Some(plugged), &cpus, |_| {});
        let started = std::thread::spawn(start).join();
        started.unwrap_or_else(|_| Err(self.refused("the thread that starts QEMU ended")))
    }

    /// Waits until the agent greets.
    fn until_up(&self, stream: UnixStream, child: &mut Child, patience: Duration) -> Result<Greeting, PlaceError> {
        let begun = Instant::now();
        let failed = |error| io(&self.folder.join(SOCKET), error);
        let end = stream.try_clone().map_err(failed)?;
        let (_channel, greeting) = open(stream).map_err(failed)?;
        loop {
            match hear(&greeting, LOOK) {
                Ok(greeting) => {
                    // The next client is accepted after this one has gone.
                    let _ = end.shutdown(Shutdown::Both);
                    return Ok(greeting);
                }
                Err(CallError::Silence(_)) => {
                    let gave_up = self.text(SAID).contains(accel::GAVE_UP);
                    if gave_up || begun.elapsed() > patience {
                        return Err(self.not_up(begun, "nothing came from it"));
                    }
                }
                Err(error) => {
                    let _ = child.try_wait();
                    return Err(self.not_up(begun, &error.to_string()));
                }
            }
        }
    }

    fn not_up(&self, begun: Instant, why: &str) -> PlaceError {
        let seconds = begun.elapsed().as_secs_f64();
        self.refused(&format!(
            "it did not come up in {seconds:.1} s ({why}). {}",
            self.last_words()
        ))
    }

    fn last_words(&self) -> String {
        let (said, console) = (self.text(SAID), self.text(CONSOLE));
        let last = |text: &str| {
            let lines: Vec<&str> = text
                .lines()
                .map(str::trim_end)
                .filter(|line| !line.is_empty())
                .collect();
            lines[lines.len().saturating_sub(LINES)..].join("\n  ")
        };
        format!(
            "QEMU said: {}\n  the guest's console showed:\n  {}",
            last(&said),
            last(&console)
        )
    }

    fn text(&self, name: &str) -> String {
        let octets = std::fs::read(self.folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&octets).into_owned()
    }

    fn refused(&self, why: &str) -> PlaceError {
        PlaceError::Failed {
            place: "guest",
            said: format!("{}: {why}", self.id),
        }
    }

    /// Reads its properties; `None` if it never came up.
    pub fn known(&self) -> Option<Known> {
        serde_json::from_str(&self.text(KNOWN)).ok()
    }

    /// True if it has come up and runs.
    pub fn is_up(&self) -> bool {
        let processes = self.processes();
        self.known().is_some() && !processes.is_empty() && !processes.into_iter().any(processes::is_stopped)
    }

    /// QEMU's processes, found by the guest's name on the command line, because a killed start leaves no other trace.
    pub fn processes(&self) -> Vec<u32> {
        processes::with_word(&self.mark())
    }

    /// Kills it. Succeeds if it does not exist.
    pub fn end(&self) {
        processes::end(&self.mark());
    }

    /// The word of QEMU's command line that gives the guest its name.
    fn mark(&self) -> String {
        format!("guest={},debug-threads=on", self.id)
    }

    /// Connects to it, to run a command.
    ///
    /// # Errors
    /// It does not answer, another command is running in it, or another build of triptime booted it.
    pub fn visit(&self) -> Result<Visit, PlaceError> {
        let path = self.folder.join(SOCKET);
        let came = visit::visit(&path, visit::GREETING_PATIENCE).map_err(|error| io(&path, error))?;
        let visit = came.map_err(|error| {
            self.refused(&format!(
                "{error}: another command may be under way in it, and it takes one at a time"
            ))
        })?;
        let own = crate::build()?;
        match visit.version == own {
            true => Ok(visit),
            false => Err(self.refused(&format!(
                "triptime {} runs in it and {own} here, and both must be the same: `triptime lab down`, and then `triptime lab up` \
                 with this program",
                visit.version
            ))),
        }
    }
}

/// Settings of guest number `number` of several like these: its agent keeps running when its client has gone.
fn of(spec: &GuestSpec, number: usize) -> GuestSpec {
    let mut spec = spec.of(number);
    spec.arguments = format!("{STAYS} {}", spec.arguments).trim_end().to_owned();
    spec
}

/// Checks that several guests like this can be kept running.
///
/// # Errors
/// The impossible setting, in terms of the command line.
pub fn check_all(spec: &GuestSpec, guests: usize) -> Result<(), PlaceError> {
    (0..guests).try_for_each(|number| check(&of(spec, number)))
}

fn check(spec: &GuestSpec) -> Result<(), PlaceError> {
    if spec.channel == spec::Channel::Serial {
        return Err(PlaceError::NotAvailable(
            "a serial port does not show if a client is connected: a guest that is to stay must use virtio".to_owned(),
        ));
    }
    spec.check()
}

/// Waits until QEMU listens.
fn until_socket(path: &Path, child: &mut Child) -> Result<UnixStream, String> {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) => match child.try_wait() {
                Ok(Some(status)) => return Err(format!("QEMU ended ({status})")),
                _ if begun.elapsed() > SOCKET_PATIENCE => return Err(format!("{}: {error}", path.display())),
                _ => std::thread::sleep(LOOK / 10),
            },
        }
    }
}

fn io(path: &Path, error: io::Error) -> PlaceError {
    PlaceError::Io {
        path: path.to_owned(),
        error,
    }
}
