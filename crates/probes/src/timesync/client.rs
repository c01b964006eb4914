//! Queries `ptp4l` over its UNIX socket.

use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wire::ptp::{
    Action, Content, CurrentData, DefaultData, GrandmasterSettings, Id, ParentData, PortData, PortIdentity, Reply,
    TimeProperties, TimeStatus,
};

/// Longest wait for an answer. The daemon answers from its single loop, in well under a millisecond unless it is held up.
const PATIENCE: Duration = Duration::from_millis(300);

/// Usual paths of the daemon's socket: those of linuxptp, then those of timemaster.
const USUAL: [&str; 2] = ["/var/run/ptp4l", "/var/run/ptp4lro"];
const TIMEMASTER: &str = "/var/run/timemaster";

/// Buffer for an answer; every data set is far smaller.
const ROOM: usize = 1_500;

/// Reason why the daemon cannot be queried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PtpError {
    /// No socket was found.
    #[error("no ptp4l: {tried}{}; start it, or give its uds_address with --ptp", .processes)]
    NoSocket {
        /// Paths that were tried.
        tried: String,
        /// Time daemons that are running.
        processes: String,
    },
    /// The socket refuses the access.
    #[error("{}: {why}", path.display())]
    Refused {
        /// The daemon's socket.
        path: PathBuf,
        /// Error of the kernel, with advice.
        why: String,
    },
    /// The socket exists, but no process reads it any more.
    #[error("{}: {why}: no ptp4l listens there any more{}", path.display(), .processes)]
    Gone {
        /// The daemon's socket.
        path: PathBuf,
        /// Error of the kernel.
        why: String,
        /// Time daemons that are running.
        processes: String,
    },
    /// No answer came.
    #[error("{}: no answer from ptp4l in {}", path.display(), .asked)]
    Silent {
        /// The daemon's socket.
        path: PathBuf,
        /// Domains and number of the attempts.
        asked: String,
    },
}

/// Our end of the connection; its name in the file system is removed with it.
struct OwnSocket {
    socket: UnixDatagram,
    path: PathBuf,
}

impl OwnSocket {
    /// Binds a name next to the daemon's socket, which the daemon can reach whatever it has mounted, or else one in the directory
    /// for temporary files.
    fn bind(peer: &Path) -> Result<Self, std::io::Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("triptime-ptp.{}.{number}", std::process::id());
        let beside = peer.parent().map(|directory| directory.join(&name));
        let mut last = std::io::Error::from(ErrorKind::NotFound);
        for path in beside.into_iter().chain([std::env::temp_dir().join(&name)]) {
            // A killed process with the same number may have left such a socket.
            let _ = std::fs::remove_file(&path);
            match UnixDatagram::bind(&path) {
                Ok(socket) => return Ok(Self { socket, path }),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// State of one port, as reported by a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortInfo {
    pub(super) port: u16,
    pub(super) interface: String,
    pub(super) hardware_stamps: bool,
}

/// Facts that do not change while a daemon runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Daemon {
    pub(super) socket: PathBuf,
    pub(super) transport_specific: u8,
    pub(super) minor_version: u8,
    pub(super) clock: DefaultData,
    pub(super) settings: Option<GrandmasterSettings>,
    /// Empty if the daemon is too old to report them.
    pub(super) interfaces: Vec<PortInfo>,
}

/// State of a daemon at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DaemonState {
    pub(super) status: TimeStatus,
    pub(super) current: CurrentData,
    pub(super) parent: ParentData,
    pub(super) properties: Option<TimeProperties>,
    pub(super) ports: Vec<PortData>,
}

/// A connection with one daemon.
pub(super) struct Client {
    own: OwnSocket,
    peer: PathBuf,
    domain: u8,
    transport_specific: u8,
    sequence: u16,
}

impl Client {
    /// Finds the daemon: at `socket`, or at the usual paths; in `domain`, or in any domain.
    pub(super) fn find(socket: Option<&Path>, domain: Option<u8>) -> Result<(Self, Daemon), PtpError> {
        let places = match socket {
            Some(socket) => vec![socket.to_owned()],
            None => usual_places(),
        };
        let there: Vec<&PathBuf> = places.iter().filter(|path| path.exists()).collect();
        let mut first = None;
        for path in &there {
            match Self::open(path, domain) {
                Ok(found) => return Ok(found),
                Err(error) => first = first.or(Some(error)),
            }
        }
        let listed: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        Err(first.unwrap_or_else(|| PtpError::NoSocket {
            tried: format!("nothing listens at {}", listed.join(", ")),
            processes: running(),
        }))
    }

    fn open(path: &Path, domain: Option<u8>) -> Result<(Self, Daemon), PtpError> {
        let own = OwnSocket::bind(path).map_err(|error| PtpError::Refused {
            path: path.to_owned(),
            why: format!("cannot bind a socket for its answers: {error}"),
        })?;
        let mut client = Self {
            own,
            peer: path.to_owned(),
            domain: domain.unwrap_or(0),
            transport_specific: 0,
            sequence: 0,
        };
        let found = client.search(domain)?;
        (client.domain, client.transport_specific) = (found.0, found.1);
        let daemon = client.introduce()?;
        Ok((client, daemon))
    }

    /// A daemon answers only in its own domain and transportSpecific: the usual one is tried first, then all others at once.
    fn search(&mut self, domain: Option<u8>) -> Result<(u8, u8), PtpError> {
        let domains: Vec<u8> = domain.map_or_else(|| (0..=u8::MAX).collect(), |one| vec![one]);
        let all: Vec<(u8, u8)> = [0, 1]
            .into_iter()
            .flat_map(|specific| domains.iter().map(move |domain| (*domain, specific)))
            .collect();
        let (usual, others) = all.split_at(1);
        for some in [usual, others] {
            for (domain, specific) in some {
                (self.domain, self.transport_specific) = (*domain, *specific);
                self.send(Id::Default)?;
            }
            if let Some(found) = self.receive(|reply| {
                matches!(reply.content, Content::Default(_)).then_some((reply.domain, reply.transport_specific))
            }) {
                return Ok(found);
            }
        }
        let asked = domain.map_or_else(|| "any domain".to_owned(), |domain| format!("domain {domain}"));
        Err(PtpError::Silent {
            path: self.peer.clone(),
            asked,
        })
    }

    /// Queries the facts that do not change.
    fn introduce(&mut self) -> Result<Daemon, PtpError> {
        let silent = |client: &Self| PtpError::Silent {
            path: client.peer.clone(),
            asked: format!("domain {}", client.domain),
        };
        let from = self.send(Id::Default)?;
        let found = self.receive(|reply| match reply.content {
            Content::Default(data) if reply.sequence == from => Some((data, reply.minor_version)),
            _ => None,
        });
        let Some((clock, minor_version)) = found else {
            return Err(silent(self));
        };
        let from = self.send(Id::GrandmasterSettings)?;
        let settings = self.receive(|reply| match reply.content {
            _ if reply.sequence != from => None,
            Content::GrandmasterSettings(data) => Some(Some(data)),
            _ => Some(None),
        });
        let interfaces = self.interfaces(usize::from(clock.ports))?;
        Ok(Daemon {
            socket: self.peer.clone(),
            transport_specific: self.transport_specific,
            minor_version,
            clock,
            settings: settings.flatten(),
            interfaces,
        })
    }

    fn interfaces(&mut self, ports: usize) -> Result<Vec<PortInfo>, PtpError> {
        let from = self.send(Id::PortProperties)?;
        let mut found = Vec::new();
        self.receive(|reply| {
            match reply.content {
                _ if reply.sequence != from => return None,
                Content::PortProperties(data) => found.push(PortInfo {
                    port: data.identity.port,
                    interface: String::from_utf8_lossy(data.interface).into_owned(),
                    hardware_stamps: data.timestamping != 0,
                }),
                // A daemon that does not know the question answers with an error for each port.
                _ => return Some(()),
            }
            (found.len() >= ports).then_some(())
        });
        found.sort_by_key(|info| info.port);
        Ok(found)
    }

    /// Queries the state of the daemon, whose clock has this many ports.
    pub(super) fn look(&mut self, ports: u16) -> Result<DaemonState, PtpError> {
        let from = self.send(Id::TimeStatus)?;
        for id in [Id::Current, Id::Parent, Id::TimeProperties, Id::Port] {
            self.send(id)?;
        }
        let questions = self.sequence.wrapping_sub(from);
        let (mut status, mut current, mut parent, mut properties) = (None, None, None, None);
        let mut of_ports: Vec<PortData> = Vec::new();
        self.receive(|reply| {
            if reply.sequence.wrapping_sub(from) >= questions {
                return None;
            }
            match reply.content {
                Content::TimeStatus(data) => status = Some(data),
                Content::Current(data) => current = Some(data),
                Content::Parent(data) => parent = Some(data),
                Content::TimeProperties(data) => properties = Some(data),
                Content::Port(data) => of_ports.push(data),
                _ => {}
            }
            let all = [
                status.is_some(),
                current.is_some(),
                parent.is_some(),
                properties.is_some(),
            ];
            (!all.contains(&false) && of_ports.len() >= usize::from(ports)).then_some(())
        });
        of_ports.sort_by_key(|port| port.identity.port);
        match (status, current, parent) {
            (Some(status), Some(current), Some(parent)) if !of_ports.is_empty() => Ok(DaemonState {
                status,
                current,
                parent,
                properties,
                ports: of_ports,
            }),
            _ => Err(PtpError::Silent {
                path: self.peer.clone(),
                asked: format!("{} ms", PATIENCE.as_millis()),
            }),
        }
    }

    /// Sends one question; returns its number.
    fn send(&mut self, id: Id) -> Result<u16, PtpError> {
        let number = self.sequence;
        self.sequence = number.wrapping_add(1);
        let source = PortIdentity {
            port: (std::process::id() & 0xffff) as u16,
            ..PortIdentity::default()
        };
        let question = wire::ptp::get(id, self.domain, self.transport_specific, source, number);
        // The kernel queues few datagrams for a slow reader and blocks the sender, but not for ever.
        let set = self.own.socket.set_write_timeout(Some(PATIENCE));
        set.and_then(|()| self.own.socket.send_to(&question, &self.peer))
            .map(|_| number)
            .map_err(|error| self.unsent(&error))
    }

    /// Error for a question that could not be sent.
    fn unsent(&self, error: &std::io::Error) -> PtpError {
        let path = self.peer.clone();
        let why = match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NotFound => {
                return PtpError::Gone {
                    path,
                    why: error.to_string(),
                    processes: running(),
                };
            }
            ErrorKind::PermissionDenied => format!("{error}: only root may use ptp4l's socket: run as root"),
            ErrorKind::WouldBlock => "ptp4l does not read its socket".to_owned(),
            _ => error.to_string(),
        };
        PtpError::Refused { path, why }
    }

    /// Reads answers until `take` is satisfied, or no more come in time.
    fn receive<T>(&mut self, mut take: impl FnMut(&Reply<'_>) -> Option<T>) -> Option<T> {
        let until = Instant::now() + PATIENCE;
        let mut room = [0; ROOM];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.own.socket.set_read_timeout(Some(left)).is_err() {
                return None;
            }
            let Ok(length) = self.own.socket.recv(&mut room) else {
                return None;
            };
            // A message that is unreadable or no answer is skipped: other processes may write to this socket.
            let Ok(reply) = Reply::parse(&room[..length]) else {
                continue;
            };
            if reply.action == Action::Response
                && let Some(taken) = take(&reply)
            {
                return Some(taken);
            }
        }
    }
}

fn usual_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = USUAL.iter().map(PathBuf::from).collect();
    let entries = std::fs::read_dir(TIMEMASTER).into_iter().flatten().flatten();
    let mut of_timemaster: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("ptp4l."))
        .map(|entry| entry.path())
        .collect();
    of_timemaster.sort();
    places.append(&mut of_timemaster);
    places
}

/// Lists the processes that keep the time here, in words.
pub(super) fn running() -> String {
    let names = super::system::processes();
    match names.is_empty() {
        true => " (no process of ptp4l, timemaster or chronyd runs here)".to_owned(),
        false => format!(" (running here: {})", names.join(", ")),
    }
}
