//! Requests, as a program sends them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

const WITHIN: Duration = Duration::from_secs(40);

/// A way to a server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// A port of the loopback interface, and the address that the server was given.
    Port(u16, String),
    Socket(PathBuf),
}

pub(crate) trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

impl Way {
    pub(crate) fn free_port() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = socket.expect("a free port").port();
        Self::Port(port, port.to_string())
    }

    /// The address as the server is given it.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Port(_, word) => word.clone(),
            Self::Socket(path) => format!("unix:{}", path.display()),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Port(port, _) => *port,
            Self::Socket(path) => panic!("{}", path.display()),
        }
    }

    /// A connection; `None` if nobody listens.
    pub(crate) fn connect(&self) -> Option<Box<dyn Both>> {
        match self {
            Self::Port(port, _) => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).ok()?;
                stream.set_read_timeout(Some(WITHIN)).expect("set");
                Some(Box::new(stream))
            }
            Self::Socket(path) => {
                let stream = UnixStream::connect(path).ok()?;
                stream.set_read_timeout(Some(WITHIN)).expect("set");
                Some(Box::new(stream))
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

/// The answer to a path; `None` if nobody listens.
pub(crate) fn ask(way: &Way, path: &str) -> Option<Answer> {
    ask_with(way, "GET", path, &[])
}

/// The same with another method and these headers.
pub(crate) fn ask_with(way: &Way, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let mut stream = way.connect()?;
    let host = match headers.iter().any(|(name, _)| *name == "Host") {
        true => String::new(),
        false => "Host: localhost\r\n".to_owned(),
    };
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    // A server that refuses may close before it has read everything.
    let _ = write!(stream, "{method} {path} HTTP/1.1\r\n{host}{headers}\r\n");
    let mut octets = Vec::new();
    let mut part = [0; 16_384];
    while let Ok(n @ 1..) = stream.read(&mut part) {
        octets.extend_from_slice(&part[..n]);
    }
    let answer = String::from_utf8_lossy(&octets).into_owned();
    let (head, text) = answer.split_once("\r\n\r\n")?;
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head: head.to_lowercase(),
        text: text.to_owned(),
    })
}
