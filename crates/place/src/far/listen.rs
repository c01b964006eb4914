//! The far end: waits for the machine that runs the plan, and runs the device's end of its steps.

use super::Address;
use super::door::{Door, Visit};
use super::hello::{self, HelloError};
use super::secret::Secret;
use super::socket::prepare;
use crate::container::folder::{self, Folder};
use crate::guest::agent::serve::{Served, attend};
use crate::guest::frame::FrameError;
use crate::guest::message::{Greeting, MessageError};
use crate::{Files, PlaceError};
use run::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::link::LinkInfo;
use units::{CpuList, foreign};

/// Interval between checks whether this end should stop.
const LOOK: Duration = Duration::from_millis(100);

/// Decides what a far end does for a connected client.
pub trait Admission: std::fmt::Debug + Send + Sync {
    /// Describes the command of these words and files, and returns the files for it.
    ///
    /// # Errors
    /// The command is not permitted here.
    fn admit(&self, words: &[String], files: Files) -> Result<(String, Files), String>;
}

/// Settings of a far end.
#[derive(Debug)]
pub struct Offer {
    /// The device's interface: no other is used.
    pub link: LinkInfo,
    /// The CPUs that are judged.
    pub cpus: CpuList,
    /// Decides which commands of the client are run.
    pub admission: Box<dyn Admission>,
    /// Secret that a client must have.
    pub secret: Secret,
    /// Version of this program with its commit and build: both ends must be the same.
    pub version: String,
}

/// A far end that listens.
#[derive(Debug)]
pub struct FarEnd {
    listener: TcpListener,
    address: SocketAddr,
    offer: Arc<Offer>,
    seat: Arc<Mutex<Option<(SocketAddr, TcpStream)>>>,
    door: Arc<Door>,
    home: Folder,
}

/// Reports events to the user.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

impl FarEnd {
    /// Listens on one address.
    ///
    /// # Errors
    /// It is not a single address, or the kernel refused it.
    pub fn listen(address: &Address, offer: Offer) -> Result<Self, PlaceError> {
        let address = address.resolved()?[0];
        if address.ip().is_unspecified() {
            return Err(PlaceError::NotAvailable(format!(
                "{}: name one address of this machine, and not all of them",
                address.ip()
            )));
        }
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let refused = |error: io::Error| PlaceError::NotAvailable(format!("cannot listen on {address}: {error}"));
        let listener = listener.map_err(refused)?;
        Ok(Self {
            address: listener.local_addr().map_err(refused)?,
            listener,
            offer: Arc::new(offer),
            seat: Arc::default(),
            door: Arc::default(),
            home: folder::make("far").map_err(|error| PlaceError::Io {
                path: std::env::temp_dir(),
                error,
            })?,
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients, one at a time, until `stop`. Then it disconnects a connected client.
    ///
    /// # Errors
    /// The listening socket failed.
    pub fn serve(self, stop: &Stop, tell: &Tell) -> Result<(), PlaceError> {
        let mut guests: Vec<JoinHandle<()>> = Vec::new();
        let outcome = loop {
            if stop.requested() {
                break Ok(());
            }
            guests.retain(|guest| !guest.is_finished());
            match self.listener.accept() {
                Ok((stream, from)) => guests.extend(self.receive(stream, from, tell)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.until_somebody(),
                // The client has already gone, or no descriptor was free for a moment.
                Err(error) if guests.is_empty() && error.kind() != io::ErrorKind::ConnectionAborted => {
                    break Err(PlaceError::NotAvailable(format!("{}: {error}", self.address)));
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        if let Some((_, stream)) = lock(&self.seat).as_ref() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for guest in guests {
            // The panic message was already printed by the thread itself.
            let _ = guest.join();
        }
        outcome
    }

    /// Waits for a client, at most until the next check.
    fn until_somebody(&self) {
        let limit = Timespec::try_from(LOOK).unwrap_or_default();
        // An interrupted wait is only a shorter one.
        let _ = poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&limit));
    }

    fn receive(&self, stream: TcpStream, from: SocketAddr, tell: &Tell) -> Option<JoinHandle<()>> {
        let guest = Guest {
            visit: self.door.wait(&stream).ok()?,
            from,
            offer: Arc::clone(&self.offer),
            seat: Arc::clone(&self.seat),
            home: self.home.path().to_owned(),
            tell: Arc::clone(tell),
        };
        let named = std::thread::Builder::new().name("triptime-far".to_owned());
        named.spawn(move || guest.come_in(&stream)).ok()
    }
}

/// The connected client.
struct Guest {
    from: SocketAddr,
    offer: Arc<Offer>,
    seat: Arc<Mutex<Option<(SocketAddr, TcpStream)>>>,
    visit: Visit,
    home: PathBuf,
    tell: Tell,
}

/// Marks the seat as taken; dropping it frees the seat.
struct Seat(Arc<Mutex<Option<(SocketAddr, TcpStream)>>>);

impl Drop for Seat {
    fn drop(&mut self) {
        *lock(&self.0) = None;
    }
}

impl Guest {
    fn come_in(&self, stream: &TcpStream) {
        let said = match self.serve(stream) {
            Ok(()) | Err(GuestError::Left) => format!("{} has left", self.from),
            Err(GuestError::Hello(error)) => format!("{} was not let in: {error}", self.from),
            Err(GuestError::Way(error)) => format!("{} was disconnected: {error}", self.from),
        };
        (self.tell)(&foreign::message(&said));
    }

    fn serve(&self, stream: &TcpStream) -> Result<(), GuestError> {
        let prepared = stream.set_nonblocking(false).and_then(|()| prepare(stream));
        prepared.map_err(HelloError::from)?;
        let (way, _seat) = hello::answer(stream, &self.offer.secret, || self.seat(stream))?;
        (self.tell)(&format!("{} is connected", self.from));
        let served = Served {
            greeting: self.greeting(),
            home: self.home.clone(),
            admit: |words: &[String], files: Files| self.admit(words, files),
        };
        match attend(way.from, Box::new(way.to), served) {
            Err(MessageError::Frame(FrameError::Closed)) => Err(GuestError::Left),
            other => Ok(other?),
        }
    }

    fn seat(&self, stream: &TcpStream) -> Result<Seat, String> {
        if !self.visit.leave() {
            return Err("it was closed, because many clients wait to be admitted: try again".to_owned());
        }
        let mut seat = lock(&self.seat);
        if let Some((other, _)) = seat.as_ref() {
            return Err(format!(
                "{other} is connected, and clients can only connect one at a time: try again later"
            ));
        }
        *seat = Some((self.from, stream.try_clone().map_err(|error| error.to_string())?));
        Ok(Seat(Arc::clone(&self.seat)))
    }

    fn admit(&self, words: &[String], files: Files) -> Result<Files, String> {
        let admitted = self.offer.admission.admit(words, files);
        let said = match &admitted {
            Ok((what, _)) => format!("{}: {what}", self.from),
            Err(why) => format!("{}: {why}", self.from),
        };
        (self.tell)(&foreign::message(&said));
        admitted.map(|(_, files)| files)
    }

    fn greeting(&self) -> Greeting {
        let link = &self.offer.link;
        Greeting {
            management: None,
            version: self.offer.version.clone(),
            release: format!(
                "{}, Linux {}",
                rustix::system::uname().nodename().to_string_lossy(),
                rustix::system::uname().release().to_string_lossy()
            ),
            cpus: self.offer.cpus.to_string(),
            interface: Some((link.name.clone(), link.mac)),
            complaints: Vec::new(),
        }
    }
}

/// Reasons why a client is no longer connected.
#[derive(Debug, thiserror::Error)]
enum GuestError {
    #[error("it has left")]
    Left,
    #[error(transparent)]
    Hello(#[from] HelloError),
    #[error(transparent)]
    Way(#[from] MessageError),
}

fn lock(seat: &Mutex<Option<(SocketAddr, TcpStream)>>) -> MutexGuard<'_, Option<(SocketAddr, TcpStream)>> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}
