//! The far end of a plan on another machine. Both machines are connected by TCP over any common network other than the measured one:
//!
//! ```text
//! triptime qualify PLAN --nic IF --far HOST          triptime far IF --listen ADDRESS
//! [ Far ]------------ frames, encrypted -------------[ FarEnd ]--[ triptime device ... ]
//!   test set IF ---------- process bus ----------------- IF
//! ```
//!
//! Frames, messages and commands are those of a guest's channel. The far end runs only `triptime device`, only on its own interface, and for one peer
//! at a time. The peer must know the secret; no other machine can read or change the traffic.

mod alive;
mod door;
mod hello;
mod listen;
mod sealed;
mod secret;
mod socket;

pub use listen::{Admission, FarEnd, Offer, Tell};
pub use secret::Secret;

use super::guest::away::Errand;
use super::guest::channel::{Channel, Incoming};
use super::guest::message::{Greeting, GuestAnswer};
use super::guest::peer::Peer;
use super::{Away, ClockOffset, Job, Place, PlaceError, PlaceKind, StatedClock};
use model::{EventKind, Fact};
use std::fmt;
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use units::{CpuList, format_ns};

/// Name of the place in errors, series and the inventory.
const NAME: &str = "far machine";
/// Default port.
pub const PORT: u16 = 18_850;
/// Time limit for connecting to the far machine.
const CONNECT: Duration = Duration::from_secs(10);

/// Address of a far end: `HOST`, `HOST:PORT`, `[2001:db8::1]:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not an address: write HOST or HOST:PORT, such as 192.0.2.7:{PORT}");
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
            None => match text.split_once(':') {
                // An IPv6 address without a port.
                Some((_, rest)) if rest.contains(':') => (text, None),
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| wrong()))?;
        match host.is_empty() {
            true => Err(wrong()),
            false => Ok(Self {
                host: host.to_owned(),
                port,
            }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(to, "[{}]:{}", self.host, self.port),
            false => write!(to, "{}:{}", self.host, self.port),
        }
    }
}

impl Address {
    /// The numeric addresses, at least one.
    fn resolved(&self) -> Result<Vec<SocketAddr>, PlaceError> {
        let failed = |why: String| PlaceError::NotAvailable(format!("{self}: {why}"));
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|error| failed(error.to_string()))?.collect();
        match found.is_empty() {
            true => Err(failed("the name has no address".to_owned())),
            false => Ok(found),
        }
    }
}

/// The connection to a far machine; dropping it closes the connection.
#[derive(Debug)]
struct FarLine {
    channel: Arc<Channel>,
    stream: TcpStream,
    address: SocketAddr,
}

impl Drop for FarLine {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Peer for FarLine {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn last_words(&self, _: &super::guest::channel::CallError) -> Option<String> {
        Some(format!("Check on {} that `triptime far` still runs", self.address))
    }
}

/// A connected far machine.
#[derive(Debug)]
pub struct Far {
    line: Arc<FarLine>,
    greeting: Greeting,
    interface: String,
    mac: [u8; 6],
    text: String,
    stated: Option<StatedClock>,
    /// Largest possible difference of the clocks when the last command started there, in ns.
    apart_ns: Mutex<u64>,
}

impl Far {
    /// Connects to the far end that listens at `address` and has the same `version` with its commit and build. `stated` replaces measuring the clock offset.
    ///
    /// # Errors
    /// No far end listens there, it has a different secret, another client, or another version.
    pub fn connect(
        address: &Address,
        secret: &Secret,
        version: &str,
        stated: Option<StatedClock>,
    ) -> Result<Self, PlaceError> {
        let (stream, numbers) = connected(address)?;
        let io = |error: std::io::Error| refused(&format!("{address}: {error}"));
        let way = hello::ask(&stream, secret).map_err(|error| refused(&format!("{address}: {error}")))?;
        let (channel, greeting) = Channel::over(way.from, Box::new(way.to)).map_err(io)?;
        let line = Arc::new(FarLine {
            channel,
            stream,
            address: numbers,
        });
        let greeting = match greeting
            .receive(hello::NEAR_PATIENCE)
            .map_err(|error| line.failed(&error))?
        {
            Incoming::Answer {
                answer: GuestAnswer::Up(greeting),
                ..
            } => greeting,
            other => return Err(line.refused(&format!("its greeting is unexpected: {other:?}"))),
        };
        if greeting.version != version {
            let other = &greeting.version;
            return Err(line.refused(&format!(
                "triptime {other} runs there and {version} here, and both must be the same: copy one of the two programs to the \
                 other machine, and start `triptime far` again"
            )));
        }
        Self::greeted(line, greeting, stated)
    }

    fn greeted(line: Arc<FarLine>, greeting: Greeting, stated: Option<StatedClock>) -> Result<Self, PlaceError> {
        let Some((interface, mac)) = greeting.interface.clone() else {
            return Err(line.refused("it reports no interface"));
        };
        let [a, b, c, d, e, f] = mac;
        let text = format!(
            "far machine {}: {}, interface {interface} ({a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}), CPUs {} judged",
            line.address.ip(),
            greeting.release,
            greeting.cpus,
        );
        Ok(Self {
            line,
            greeting,
            interface,
            mac,
            text,
            stated,
            apart_ns: Mutex::new(0),
        })
    }

    /// Largest possible difference of the clocks.
    fn apart(&self) -> Result<u64, PlaceError> {
        let clock = self.line.clock()?;
        Ok(match self.stated {
            Some(StatedClock::Within(ns)) => ns,
            _ => clock.apart_ns(),
        })
    }
}

fn connected(address: &Address) -> Result<(TcpStream, SocketAddr), PlaceError> {
    let mut why = None;
    for numbers in address.resolved()? {
        let stream = TcpStream::connect_timeout(&numbers, CONNECT);
        match stream.and_then(|stream| socket::prepare(&stream).map(|()| stream)) {
            Ok(stream) => return Ok((stream, numbers)),
            Err(error) => why = Some(format!("{numbers}: {error}")),
        }
    }
    let why = why.unwrap_or_else(|| address.to_string());
    Err(refused(&format!(
        "{why}; start `triptime far IF --listen {address} --secret FILE` there first"
    )))
}

fn refused(why: &str) -> PlaceError {
    PlaceError::NotAvailable(format!("{NAME} {why}"))
}

impl Place for Far {
    fn kind(&self) -> PlaceKind {
        PlaceKind::Far
    }

    fn describe(&self) -> &str {
        &self.text
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    fn mac(&self) -> [u8; 6] {
        self.mac
    }

    fn cpus(&self) -> Option<CpuList> {
        self.greeting.cpus.parse().ok()
    }

    fn judged(&self) -> Option<CpuList> {
        self.cpus()
    }

    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        self.line.clock()
    }

    fn stated_clock(&self) -> Option<StatedClock> {
        self.stated
    }

    fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: Result<String, String>, source: &str| Fact {
            group: NAME.to_owned(),
            name: name.to_owned(),
            value,
            source: source.to_owned(),
        };
        let clock = self.line.clock().map_err(|error| error.to_string()).map(|clock| {
            let (offset, uncertainty) = (clock.offset_ns as f64, clock.uncertainty_ns as f64);
            format!("ahead by {} ± {}", format_ns(offset), format_ns(uncertainty))
        });
        vec![
            fact("machine", Ok(self.text.clone()), "reported over the connection"),
            fact("clock when connected", clock, "asked over the connection"),
        ]
    }

    fn doubts(&self) -> Vec<(EventKind, String)> {
        let before_ns = *self.apart_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let why = match (self.stated, self.line.clock()) {
            (Some(StatedClock::Unknown), _) => return Vec::new(),
            (stated, Ok(now)) => {
                // A difference within the uncertainty of the measurement does not contradict the statement.
                let proven_ns = now.offset_ns.unsigned_abs().saturating_sub(match stated {
                    Some(_) => now.uncertainty_ns,
                    None => 0,
                });
                if proven_ns <= before_ns {
                    return Vec::new();
                }
                let (before, now) = (format_ns(before_ns as f64), format_ns(proven_ns as f64));
                format!(
                    "its clock was stated at the start to be within {before} of this machine's, but is {now} apart at the end"
                )
            }
            (_, Err(error)) => format!("its clock could not be asked at the end: {error}"),
        };
        vec![(EventKind::ClockDoubt, why)]
    }

    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        let apart_ns = self.apart()?;
        *self.apart_ns.lock().unwrap_or_else(PoisonError::into_inner) = apart_ns;
        Ok(Box::new(Errand::start(self.line.clone(), job)?))
    }
}

#[cfg(test)]
mod tests;
