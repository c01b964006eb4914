//! The places of clients that have not yet proved that they know the secret. When all are taken, the client that has waited longest is closed, so
//! silent connections keep nobody out. A client that has proved it leaves the door, and is not closed for others.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of places. Each takes a thread and two descriptors, which a machine has for so many; a client that knows the secret needs its place for
/// the time of one answer.
pub(super) const PLACES: usize = 64;

/// The waiting clients, the one that has waited longest first.
#[derive(Debug, Default)]
pub(super) struct Door(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    clients: VecDeque<(u64, TcpStream)>,
}

/// The place of a waiting client; dropping it gives the place up.
#[derive(Debug)]
pub(super) struct Visit {
    door: Arc<Door>,
    number: u64,
}

impl Door {
    /// Gives a client the last place. If there is none, the client that has waited longest is closed.
    ///
    /// # Errors
    /// An error from the kernel.
    pub(super) fn wait(self: &Arc<Self>, stream: &TcpStream) -> std::io::Result<Visit> {
        let stream = stream.try_clone()?;
        let mut waiting = self.lock();
        if waiting.clients.len() >= PLACES
            && let Some((_, longest)) = waiting.clients.pop_front()
        {
            // An error means that it has already gone.
            let _ = longest.shutdown(Shutdown::Both);
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.clients.push_back((number, stream));
        Ok(Visit {
            door: Arc::clone(self),
            number,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit {
    /// Leaves the door, because the client has proved that it knows the secret; `false` if it was closed just before.
    pub(super) fn leave(&self) -> bool {
        let mut waiting = self.door.lock();
        let before = waiting.clients.len();
        waiting.clients.retain(|(number, _)| *number != self.number);
        waiting.clients.len() < before
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::{Door, PLACES};
    use std::io::{ErrorKind, Read};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;

    fn still_open(stream: &mut TcpStream) {
        stream.set_nonblocking(true).expect("set");
        let error = stream.read(&mut [0]).expect_err("nothing to read, and no end");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn one_more_than_there_are_places_closes_the_one_that_has_waited_longest() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let door: Arc<Door> = Arc::default();
        let come = || {
            let outside = TcpStream::connect(address).expect("connected");
            let inside = listener.accept().expect("accepted").0;
            let visit = door.wait(&inside).expect("a place");
            (outside, inside, visit)
        };
        let (mut proven, _inside, visit) = come();
        assert!(visit.leave(), "it had a place");
        let mut clients: Vec<_> = (0..PLACES).map(|_| come()).collect();
        let more = come();
        let (longest, _, visit) = &mut clients[0];
        assert_eq!(longest.read(&mut [0]).expect("closed"), 0);
        assert!(!visit.leave(), "its place is gone");
        still_open(&mut proven);
        still_open(&mut clients[1].0);
        still_open(&mut clients[PLACES - 1].0);
        drop(more);
        // There is a place again: nobody is closed for it.
        clients.push(come());
        still_open(&mut clients[1].0);
    }
}
