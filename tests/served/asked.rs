//! Requests, as a program sends them.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const WITHIN: Duration = Duration::from_secs(40);

/// A way to a server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// A port of the loopback interface.
    Port(u16),
    Socket(PathBuf),
}

pub(crate) trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

impl Way {
    /// The way to the port that a command tells in these messages. It chose a free one itself, so that no other test can take it.
    pub(crate) fn told_in(messages: &Path) -> Self {
        let until = Instant::now() + WITHIN;
        loop {
            let text = fs::read_to_string(messages).unwrap_or_default();
            if let Some(port) = port_of(&text) {
                return Self::Port(port);
            }
            assert!(Instant::now() < until, "no address: {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Port(port) => *port,
            Self::Socket(path) => panic!("{}", path.display()),
        }
    }

    /// A connection; `None` if nobody listens.
    pub(crate) fn connect(&self) -> Option<Box<dyn Both>> {
        match self {
            Self::Port(port) => {
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

/// The port in `http://ADDRESS:PORT/`, as `--serve` and `serve` tell it.
fn port_of(text: &str) -> Option<u16> {
    let told = ["live page: http://", "serving http://"];
    let (_, rest) = told.iter().find_map(|words| text.split_once(words))?;
    let (address, _) = rest.split_once('/')?;
    address.rsplit_once(':')?.1.parse().ok()
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
