//! Connections that close when the other end is gone or too slow.

use rustix::net::sockopt::{set_tcp_nodelay, set_tcp_user_timeout};
use std::io::{self, Error, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Time without a byte from the other end, which gives signs of life, after which a connection fails. Together with an interval of these signs it is
/// below the 30 s that users are told: a sender waits this long from its first unacknowledged byte, which may be that of a sign.
pub(super) const SILENCE: Duration = Duration::from_secs(24);
/// Time for the rest of a message after its first byte.
const REST: Duration = Duration::from_secs(20);

/// Makes sending fail soon after the other machine is gone.
///
/// # Errors
/// An error from the kernel.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    set_tcp_user_timeout(stream, u32::try_from(SILENCE.as_millis()).unwrap_or(u32::MAX))?;
    stream.set_write_timeout(Some(SILENCE))
}

/// Reads with a time limit.
#[derive(Debug)]
pub(super) struct Patient {
    stream: TcpStream,
    until: Instant,
    /// Longest silence before a message; `None` if everything must have arrived by `until`.
    silence: Option<Duration>,
}

impl Patient {
    /// A reader of which everything must arrive within this time.
    pub(super) fn new(stream: TcpStream, within: Duration) -> Self {
        Self {
            stream,
            until: Instant::now() + within,
            silence: None,
        }
    }

    /// From now on [`Self::first`] waits this long for each message.
    pub(super) fn may_be_silent(&mut self, limit: Duration) {
        self.silence = Some(limit);
    }

    /// Waits for a byte; the bytes after it must come soon. `None` at the end of the stream.
    pub(super) fn first(&mut self) -> io::Result<Option<u8>> {
        let mut octet = [0];
        let Some(silence) = self.silence else {
            return Ok((self.read(&mut octet)? == 1).then_some(octet[0]));
        };
        self.until = Instant::now() + silence;
        let octets = self.read(&mut octet).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => silent(silence),
            _ => error,
        })?;
        self.until = Instant::now() + REST;
        Ok((octets == 1).then_some(octet[0]))
    }
}

fn silent(limit: Duration) -> Error {
    let why = format!(
        "nothing came for {} s, not even a sign of life: the network in between is cut, or the other end hangs",
        limit.as_secs_f64()
    );
    Error::new(ErrorKind::TimedOut, why)
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let slow = || Error::new(ErrorKind::TimedOut, "the other end is too slow");
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(slow());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => slow(),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Patient;
    use std::io::{ErrorKind, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn silence_is_limited_by_itself_once_it_is_allowed() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let far = listener.accept().expect("accepted").0;
        let mut patient = Patient::new(far, Duration::from_millis(20));
        assert_eq!(patient.first().expect_err("too slow").kind(), ErrorKind::TimedOut);
        patient.may_be_silent(Duration::from_secs(60));
        near.write_all(&[5]).expect("said");
        assert_eq!(patient.first().expect("heard"), Some(5));
        patient.may_be_silent(Duration::from_millis(20));
        let error = patient.first().expect_err("silent");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(error.to_string().contains("nothing came for 0.02 s"), "{error}");
    }
}
