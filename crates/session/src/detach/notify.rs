//! Messages to a service manager (sd_notify(3)): each is a datagram to the socket that it names, so no library is needed.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// The notification socket of a service manager (systemd), with the interval of its watchdog.
#[derive(Debug)]
pub struct Notify {
    socket: UnixDatagram,
    address: SocketAddr,
    /// Interval between watchdog messages; `None`: the manager requests none.
    every: Option<Duration>,
    told: Option<Instant>,
}

impl Notify {
    /// Reads `$NOTIFY_SOCKET`, and the watchdog time of `$WATCHDOG_USEC`; `None`: no service manager waits for messages.
    pub fn from_environment() -> Option<Self> {
        let name = env::var_os("NOTIFY_SOCKET")?;
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name).ok()?,
            None => SocketAddr::from_pathname(&name).ok()?,
        };
        Some(Self {
            socket: UnixDatagram::unbound().ok()?,
            address,
            every: watchdog(),
            told: None,
        })
    }

    /// Reports that the measurement has begun.
    pub fn ready(&self, text: &str) {
        self.send(&format!("READY=1\nSTATUS={}", line(text)));
    }

    /// Reports the present state in one line.
    pub fn status(&self, text: &str) {
        self.send(&format!("STATUS={}", line(text)));
    }

    /// Sends a watchdog message, three times as often as requested. The caller calls this only while windows close, so the manager
    /// ends a run that closes none.
    pub fn goes_on(&mut self, now: Instant) {
        let Some(every) = self.every else { return };
        if self.told.is_none_or(|told| now.duration_since(told) >= every) {
            self.told = Some(now);
            self.send("WATCHDOG=1");
        }
    }

    /// Reports that the measurement is over, and how long the rest takes at most.
    pub fn finishing(&self, at_most: Duration) {
        self.send(&format!("WATCHDOG=1\nEXTEND_TIMEOUT_USEC={}", at_most.as_micros()));
    }

    fn send(&self, text: &str) {
        // A service manager that is restarting misses this message, and gets the next.
        let _ = self.socket.send_to_addr(text.as_bytes(), &self.address);
    }
}

/// A third of the time after which the service manager considers this process hung.
fn watchdog() -> Option<Duration> {
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let is_ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
    let micros = number("WATCHDOG_USEC").filter(|micros| *micros > 0 && is_ours)?;
    Some(Duration::from_micros(micros / 3))
}

/// Makes the text fit a status, which is one line.
fn line(text: &str) -> String {
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::Notify;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    use std::time::{Duration, Instant};

    #[test]
    fn it_is_told_no_more_often_than_a_third_of_what_is_asked_for() {
        let name = format!("triptime-test-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let heard = UnixDatagram::bind_addr(&address).expect("bound");
        heard.set_nonblocking(true).expect("set");
        let mut notify = Notify {
            socket: UnixDatagram::unbound().expect("a socket"),
            address,
            every: Some(Duration::from_secs(20)),
            told: None,
        };
        let mut said = [0; 200];
        let mut next = || {
            heard
                .recv(&mut said)
                .ok()
                .map(|length| String::from_utf8_lossy(&said[..length]).into_owned())
        };
        let begin = Instant::now();
        notify.ready("step 1 of 5\nwake-up");
        assert_eq!(next().as_deref(), Some("READY=1\nSTATUS=step 1 of 5 wake-up"));
        notify.goes_on(begin);
        notify.goes_on(begin + Duration::from_secs(19));
        assert_eq!((next().as_deref(), next()), (Some("WATCHDOG=1"), None));
        notify.goes_on(begin + Duration::from_secs(20));
        assert_eq!(next().as_deref(), Some("WATCHDOG=1"));
        notify.every = None;
        notify.goes_on(begin + Duration::from_secs(100));
        assert_eq!(next(), None, "nobody asks");
    }
}
