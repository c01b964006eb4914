//! Addresses to listen on, and the sockets that do.

use crate::ServeError;
use crate::token::Token;
use rustix::fs::{Mode, fstat};
use rustix::io::Errno;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Beginning of the address of a Unix socket.
const UNIX: &str = "unix:";

/// An address to listen on: a port of the loopback interface, an IP address with a port, or a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A Unix socket of this path, for its owner alone.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix(UNIX) {
            return match Path::new(path).is_absolute() {
                true => Ok(Self::Unix(path.into())),
                false => Err("the path of a Unix socket begins with /, as in unix:/run/triptime.sock".into()),
            };
        }
        let loopback = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let tcp = match text.strip_prefix("localhost:") {
            Some(port) => port.parse().map(loopback).ok(),
            None => text.parse().map(loopback).or_else(|_| text.parse()).ok(),
        };
        tcp.map(Self::Tcp)
            .ok_or_else(|| "use a port, ADDRESS:PORT with an IP address, or unix:/PATH".into())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(to, "http://{address}/"),
            Self::Unix(path) => write!(to, "{UNIX}{}", path.display()),
        }
    }
}

impl Address {
    /// The address as it is given on a command line.
    pub fn word(&self) -> String {
        match self {
            Self::Tcp(address) => address.to_string(),
            Self::Unix(_) => self.to_string(),
        }
    }

    /// True if only programs of this machine, or users that may open the socket, can connect.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.is_loopback(),
            },
            Self::Unix(_) => true,
        }
    }

    /// Begins to listen.
    ///
    /// # Errors
    /// Others could connect and there is no token; the address is taken or not of this machine.
    pub fn bind(&self, token: Option<&Token>) -> Result<Bound, ServeError> {
        if !self.is_local() && token.is_none() {
            return Err(ServeError::Wrong(format!(
                "{self}: others could connect: give a file with a token, or listen on the loopback interface or on a Unix socket"
            )));
        }
        match self {
            Self::Tcp(address) => {
                let socket = TcpListener::bind(address).map_err(ServeError::io(self))?;
                let address = Self::Tcp(socket.local_addr().map_err(ServeError::io(self))?);
                Ok(Bound {
                    socket: socket.into(),
                    address,
                })
            }
            Self::Unix(path) => Ok(Bound {
                socket: for_its_owner(path).map_err(ServeError::io(self))?.into(),
                address: self.clone(),
            }),
        }
    }
}

/// Listens on a socket that its owner alone may open. A socket that nobody listens on any more is replaced.
fn for_its_owner(path: &Path) -> io::Result<UnixListener> {
    let is_left = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if is_left {
        fs::remove_file(path)?;
    }
    // The mask applies to the whole process: no other thread makes files yet.
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    bound
}

/// A socket that listens.
#[derive(Debug)]
pub struct Bound {
    socket: OwnedFd,
    address: Address,
}

impl Bound {
    /// The socket that another process made and passed on, with its address.
    ///
    /// # Errors
    /// It is not a socket.
    pub fn passed(socket: OwnedFd, address: Address) -> Result<Self, ServeError> {
        let refused = |errno: Errno| ServeError::io(&"the socket that was passed on")(errno.into());
        let kind = rustix::fs::FileType::from_raw_mode(fstat(&socket).map_err(refused)?.st_mode);
        match kind {
            rustix::fs::FileType::Socket => Ok(Self { socket, address }),
            _ => Err(refused(Errno::NOTSOCK)),
        }
    }

    /// Its address: the real port, also where any was asked for.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The socket for another process, which then listens.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn for_another(&self) -> io::Result<OwnedFd> {
        self.socket.as_fd().try_clone_to_owned()
    }

    pub(crate) fn into_parts(self) -> (OwnedFd, Address) {
        (self.socket, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    fn address(text: &str) -> Address {
        text.parse().expect(text)
    }

    #[test]
    fn a_port_is_one_of_the_loopback_interface() {
        assert_eq!(address("9850").to_string(), "http://127.0.0.1:9850/");
        assert_eq!(address("localhost:80"), address("127.0.0.1:80"));
        assert!(address("[::1]:9850").is_local() && address("unix:/run/x").is_local());
        assert!(!address("0.0.0.0:9850").is_local() && !address("192.0.2.7:1").is_local());
        for text in ["", "70000", "relay:80", "unix:x", "127.0.0.1", ":80"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_others_reach_needs_a_token() {
        let refused = address("0.0.0.0:0").bind(None).expect_err("refused");
        assert!(refused.to_string().contains("token"), "{refused}");
    }

    #[test]
    fn any_port_becomes_a_real_one_and_a_taken_one_is_refused() {
        let bound = address("0").bind(None).expect("bound");
        let taken = bound.address().clone();
        assert_ne!(taken, address("0"));
        assert!(taken.bind(None).is_err());
    }

    #[test]
    fn a_socket_is_its_owners_and_replaces_only_one_that_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.sock");
        let at = Address::Unix(path.clone());
        let bound = at.bind(None).expect("bound");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(at.bind(None).is_err(), "somebody listens");
        drop(bound);
        assert!(UnixStream::connect(&path).is_err());
        at.bind(None).expect("nobody listens any more");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, "notes").expect("written");
        assert!(at.bind(None).is_err(), "a file of somebody");
        assert_eq!(std::fs::read(&path).expect("there"), b"notes");
    }
}
