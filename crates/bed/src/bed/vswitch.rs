//! A bed over Open vSwitch with its datapath in user space (`datapath_type=netdev`). It has a separate directory, and does not affect an Open vSwitch
//! that already runs on this machine.

use super::entry::{FrameEntry, over_ports};
use super::names::{TEST_SET_IF, TEST_SET_PORT, device_if, device_port};
use super::{Bed, BedError, Forwarder, Network, kernel};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use sys::link::{add_veth, set_up};
use sys::netns::NetNs;
use sys::thread::kill_children_with_us;

/// Programs that it needs; in Debian they are in openvswitch-switch and openvswitch-common.
const PROGRAMS: [&str; 4] = ["ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl"];

/// Folders of administrators' programs that PATH may lack.
const MORE_PATHS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Environment variables with the programs' folders (ovs-vswitchd(8)); all are set to the private directory.
const DIRECTORIES: [&str; 4] = ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"];

/// Name of the switch in its daemons.
const BRIDGE: &str = "br0";

/// Time limit in seconds for a command that waits for the daemons.
const TIMEOUT: &str = "--timeout=10";

/// A running Open vSwitch. Dropping it ends both daemons, and removes their directory if it is private.
#[derive(Debug)]
pub(super) struct Vswitch {
    /// The daemons with their names.
    daemons: Vec<(String, OwnedFd)>,
    /// Dropping it makes the keeper end the daemons.
    go_on: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

/// A private Open vSwitch with a veth pair to each end. The path to the first device is known.
pub(super) fn build(devices: usize, files: Files) -> Result<Bed, BedError> {
    Vswitch::is_installed()?;
    let (test_set, switch, devices) = (NetNs::create()?, NetNs::create()?, kernel::namespaces(devices)?);
    let join = |end: &NetNs, name: &str, port: &str| {
        switch.run(|| {
            add_veth(port, name, end)?;
            set_up(port)
        })?
    };
    join(&test_set, TEST_SET_IF, TEST_SET_PORT)?;
    let mut ports = vec![TEST_SET_PORT.to_owned()];
    for (number, device) in devices.iter().enumerate() {
        let port = device_port(number);
        join(device, &device_if(number), &port)?;
        ports.push(port);
    }
    let first = devices.first().ok_or_else(|| failed("a bed", "no device"))?;
    let entry = FrameEntry::Known(over_ports(&switch, "ovs-vswitchd", first)?);
    let vswitch = Vswitch::start(NetNs::open(&switch.path())?, ports, files)?;
    let mut bed = kernel::finish(Network::OpenVswitch, test_set, devices, Some(switch), entry)?;
    bed._forwarder = Some(Box::new(vswitch));
    Ok(bed)
}

impl Vswitch {
    /// Checks that all programs that it needs are installed.
    pub(super) fn is_installed() -> Result<(), BedError> {
        PROGRAMS.iter().try_for_each(|program| find(program).map(|_| ()))
    }

    /// A switch with these ports. The daemons run in `namespace`, on the CPUs of the calling thread with the normal policy.
    pub(super) fn start(namespace: NetNs, ports: Vec<String>, files: Files) -> Result<Self, BedError> {
        let (go_on, stopped) = channel();
        let (started, is_started) = channel();
        // The kernel kills the daemons when the thread that started them ends, however that happens.
        let keep = move || {
            let daemons = namespace
                .enter()
                .map_err(BedError::from)
                .and_then(|()| Daemons::start(&ports, &files))
                .and_then(|daemons| Ok((daemons.handles()?, daemons)));
            match daemons {
                Ok((handles, daemons)) => {
                    let _ = started.send(Ok(handles));
                    until_dropped(&stopped);
                    drop(daemons);
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        };
        let keeper = std::thread::Builder::new()
            .name("triptime-ovs".to_owned())
            .spawn(keep)
            .map_err(|error| failed("a thread", &error.to_string()))?;
        let mut vswitch = Self {
            daemons: Vec::new(),
            go_on: Some(go_on),
            keeper: Some(keeper),
        };
        let answer = is_started.recv();
        vswitch.daemons = answer.unwrap_or_else(|_| Err(failed("its keeper", "ended at once")))?;
        Ok(vswitch)
    }
}

impl Forwarder for Vswitch {
    fn ended(&self) -> Option<String> {
        let gone = self.daemons.iter().find(|(_, process)| has_ended(process));
        gone.map(|(name, _)| format!("{name} has ended"))
    }
}

/// True if a process has ended, even if its parent has not waited for it yet.
fn has_ended(process: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(process, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

impl Drop for Vswitch {
    fn drop(&mut self) {
        self.go_on = None;
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

fn until_dropped(stopped: &Receiver<()>) {
    let _ = stopped.recv();
}

/// The directory and the daemons that use it.
struct Daemons {
    directory: PathBuf,
    /// True if the directory is removed afterwards.
    is_private: bool,
    running: Vec<(&'static str, Child)>,
}

impl Daemons {
    fn start(ports: &[String], files: &Files) -> Result<Self, BedError> {
        let mut daemons = Self {
            directory: files.make()?,
            is_private: matches!(files, Files::Private),
            running: Vec::new(),
        };
        daemons.finish("ovsdb-tool", &["create"])?;
        let [database, switch] = marks(&daemons.directory);
        let kept = files.kept();
        daemons.launch("ovsdb-server", &[&[database.as_str()], kept].concat())?;
        daemons.finish("ovs-vsctl", &["--retry", TIMEOUT, "--no-wait", "init"])?;
        daemons.launch("ovs-vswitchd", &[&["--disable-system", switch.as_str()], kept].concat())?;
        let bridge = ["add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev"];
        let ports: Vec<&str> = ports.iter().flat_map(|port| ["--", "add-port", BRIDGE, port]).collect();
        daemons.finish("ovs-vsctl", &[&[TIMEOUT], &bridge[..], &ports].concat())?;
        Ok(daemons)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Result<Command, BedError> {
        command(&self.directory, program, arguments)
    }

    /// Starts a daemon that stays in the foreground.
    fn launch(&mut self, program: &'static str, arguments: &[&str]) -> Result<(), BedError> {
        let child = self.command(program, arguments)?.spawn();
        let child = child.map_err(|error| failed(program, &error.to_string()))?;
        self.running.push((program, child));
        Ok(())
    }

    /// Handles that show the end of a daemon.
    fn handles(&self) -> Result<Vec<(String, OwnedFd)>, BedError> {
        let handle = |(program, child): &(&'static str, Child)| {
            let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty());
            let handle = handle.map_err(|errno| failed(program, &errno.to_string()))?;
            Ok(((*program).to_owned(), handle))
        };
        self.running.iter().map(handle).collect()
    }

    /// Runs a command, and waits for its end.
    fn finish(&self, program: &str, arguments: &[&str]) -> Result<(), BedError> {
        let output = self.command(program, arguments)?.stderr(Stdio::piped()).output();
        let output = output.map_err(|error| failed(program, &error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said
            .lines()
            .last()
            .map_or_else(|| output.status.to_string(), str::to_owned);
        Err(failed(program, &why))
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        // The switch ends before its database.
        for (_, child) in self.running.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if self.is_private {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// Directory of the daemons' database and sockets.
#[derive(Debug, Clone)]
pub(super) enum Files {
    /// A temporary directory.
    Private,
    /// This directory, which is kept, with logs and PID files, so that `ovs-appctl` finds them.
    In(PathBuf),
}

impl Files {
    fn make(&self) -> Result<PathBuf, BedError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let directory = match self {
            Self::In(directory) => directory.clone(),
            Self::Private => {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                std::env::temp_dir().join(format!("triptime-ovs-{}-{number}", std::process::id()))
            }
        };
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => Ok(directory),
            Err(error) => Err(failed(&directory.display().to_string(), &error.to_string())),
        }
    }

    fn kept(&self) -> &'static [&'static str] {
        match self {
            Self::Private => &[],
            Self::In(_) => &["--log-file", "--pidfile"],
        }
    }
}

/// A word of each daemon's command line that identifies daemons with files in this directory: the database's and the switch's.
pub fn marks(directory: &Path) -> [String; 2] {
    let socket = directory.join("db.sock");
    let socket = socket.display();
    [format!("--remote=punix:{socket}"), format!("unix:{socket}")]
}

/// A command with its files in this directory.
fn command(directory: &Path, program: &str, arguments: &[&str]) -> Result<Command, BedError> {
    let mut command = Command::new(find(program)?);
    command.args(["-vconsole:off", "-vsyslog:off"]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for variable in DIRECTORIES {
        command.env(variable, directory);
    }
    kill_children_with_us(&mut command);
    Ok(command)
}

/// Describes a port that a switch for this many devices lacks; `None` if it has all. Its files are in this directory.
pub fn missing(directory: &Path, devices: usize) -> Option<String> {
    let ports = command(directory, "ovs-vsctl", &[TIMEOUT, "list-ports", BRIDGE])
        .and_then(|mut command| {
            let output = command.stdout(Stdio::piped()).output();
            output.map_err(|error| failed("ovs-vsctl", &error.to_string()))
        })
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let ports = match ports {
        Ok(ports) => ports,
        Err(error) => return Some(error.to_string()),
    };
    let wanted = std::iter::once(TEST_SET_PORT.to_owned()).chain((0..devices).map(device_port));
    let mut lacking = wanted.filter(|wanted| !ports.lines().any(|port| port == wanted));
    lacking
        .next()
        .map(|port| format!("{port} is not a port of {BRIDGE} of Open vSwitch"))
}

/// Path of a program.
fn find(program: &str) -> Result<PathBuf, BedError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(MORE_PATHS.map(PathBuf::from));
    let found = directories
        .map(|directory| directory.join(program))
        .find(|path| is_file(path));
    found.ok_or_else(|| BedError::NotAvailable(format!("{program} is not installed")))
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn failed(what: &str, why: &str) -> BedError {
    BedError::NotAvailable(format!("Open vSwitch: {what}: {why}"))
}
