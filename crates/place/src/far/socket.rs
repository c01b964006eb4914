//! Connections that close when the other end is gone or too slow.

use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl, set_tcp_nodelay, set_tcp_user_timeout,
};
use std::io::{self, Error, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Silence before TCP keepalive starts, and the duration of its probes.
const IDLE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(5);
const TIMES: u32 = 4;
/// Time that sent data may stay unacknowledged.
const UNTAKEN: Duration = Duration::from_secs(30);
/// Time for the rest of a message after its first byte.
const REST: Duration = Duration::from_secs(20);

/// Makes a connection fail within 30 s after the other machine is gone, even if that machine sends nothing any more.
///
/// # Errors
/// An error from the kernel.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    set_socket_keepalive(stream, true)?;
    set_tcp_keepidle(stream, IDLE)?;
    set_tcp_keepintvl(stream, AGAIN)?;
    set_tcp_keepcnt(stream, TIMES)?;
    set_tcp_user_timeout(stream, u32::try_from(UNTAKEN.as_millis()).unwrap_or(u32::MAX))?;
    stream.set_write_timeout(Some(UNTAKEN))
}

/// Reads with a time limit.
#[derive(Debug)]
pub(super) struct Patient {
    stream: TcpStream,
    until: Instant,
    may_be_silent: bool,
}

impl Patient {
    /// A reader of which everything must arrive within this time.
    pub(super) fn new(stream: TcpStream, within: Duration) -> Self {
        Self {
            stream,
            until: Instant::now() + within,
            may_be_silent: false,
        }
    }

    /// From now on [`Self::first`] waits without a time limit.
    pub(super) fn may_be_silent(&mut self) {
        self.may_be_silent = true;
    }

    /// Waits for a byte; the bytes after it must come soon. `None` at the end of the stream.
    pub(super) fn first(&mut self) -> io::Result<Option<u8>> {
        let mut octet = [0];
        if !self.may_be_silent {
            return Ok((self.read(&mut octet)? == 1).then_some(octet[0]));
        }
        self.stream.set_read_timeout(None)?;
        let octets = self.stream.read(&mut octet)?;
        self.until = Instant::now() + REST;
        Ok((octets == 1).then_some(octet[0]))
    }
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
    fn silence_is_allowed_only_once_it_is_said() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let far = listener.accept().expect("accepted").0;
        let mut patient = Patient::new(far, Duration::from_millis(20));
        assert_eq!(patient.first().expect_err("too slow").kind(), ErrorKind::TimedOut);
        patient.may_be_silent();
        near.write_all(&[5]).expect("said");
        assert_eq!(patient.first().expect("heard"), Some(5));
    }
}
