//! Signs of life: empty messages, by which each end knows that the other one runs and that the network between them carries, even while there is
//! nothing to say. A socket's own keepalive says this of the next machine only, for example of the near end of an ssh tunnel.

use super::sealed::Sealed;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval of the signs: several of them fit into the silence after which an end gives up.
pub(super) const EVERY: Duration = Duration::from_secs(5);

/// A sender that also gives signs of life, until it is dropped.
#[derive(Debug)]
pub(super) struct Alive {
    to: Shared,
    /// Closing it ends the thread that gives the signs.
    _until: Sender<()>,
}

type Shared = Arc<Mutex<Sealed<TcpStream>>>;

impl Alive {
    /// Begins to give signs at this interval.
    ///
    /// # Errors
    /// The kernel starts no thread.
    pub(super) fn begin(to: Sealed<TcpStream>, every: Duration) -> io::Result<Self> {
        let to = Arc::new(Mutex::new(to));
        let (until, dropped) = channel();
        let shared = Arc::clone(&to);
        std::thread::Builder::new()
            .name("triptime-alive".to_owned())
            .spawn(move || give_signs(&shared, &dropped, every))?;
        Ok(Self { to, _until: until })
    }
}

fn give_signs(to: &Shared, dropped: &Receiver<()>, every: Duration) {
    while dropped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        // The reader of a broken connection tells it; here it is the end only.
        if with(to, Sealed::sign).is_err() {
            return;
        }
    }
}

fn with<T>(to: &Shared, write: impl FnOnce(&mut Sealed<TcpStream>) -> io::Result<T>) -> io::Result<T> {
    write(&mut to.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Write for Alive {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        with(&self.to, |to| to.write(octets))
    }

    fn flush(&mut self) -> io::Result<()> {
        with(&self.to, Sealed::flush)
    }
}
