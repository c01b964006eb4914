//! Clients of a guest that is kept running, one after another.

use super::super::away::Errand;
use super::super::channel::{Call, CallError, Channel, Incoming};
use super::super::message::{Greeting, GuestAnswer};
use super::super::peer::Peer;
use super::PlaceError;
use super::stream::FromGreeting;
use crate::{Away, ClockOffset, Job};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time that the agent may take to greet a client; a busy emulated guest takes seconds.
pub(super) const GREETING_PATIENCE: Duration = Duration::from_secs(20);
/// Time limit of the first attempt; the client then disconnects for a while and connects again, with twice the limit each time.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// Duration of the disconnection. A guest that gets no CPU for this long does not notice it.
const GONE: Duration = Duration::from_secs(1);

/// A client of a guest. Dropping it admits the next one.
#[derive(Debug)]
pub struct Visit {
    peer: Arc<AgentPeer>,
    /// Version and build of the guest's triptime.
    pub(super) version: String,
}

impl Visit {
    /// Offset of the guest's clock from this machine's, measured now.
    ///
    /// # Errors
    /// The guest does not answer.
    pub fn clock(&self) -> Result<ClockOffset, PlaceError> {
        self.peer.clock()
    }

    /// Runs a command in the guest.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn run(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        Ok(Box::new(Errand::start(self.peer.clone(), job)?))
    }
}

/// Connection of a client to the agent.
#[derive(Debug)]
struct AgentPeer {
    channel: Arc<Channel>,
}

impl Peer for AgentPeer {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn name(&self) -> &'static str {
        "guest"
    }
}

/// The channel over this stream, starting at the agent's greeting. Its call numbers differ from those of recent clients, because a late reply to a
/// client that has disconnected may still arrive.
pub(super) fn open(stream: UnixStream) -> io::Result<(Arc<Channel>, Call)> {
    let reader = FromGreeting::new(stream.try_clone()?);
    let (channel, greeting) = Channel::over(reader, Box::new(stream))?;
    channel.count_from(std::process::id().wrapping_mul(1 << 10) | 1);
    Ok((channel, greeting))
}

/// Waits for the agent's greeting.
pub(super) fn hear(greeting: &Call, patience: Duration) -> Result<Greeting, CallError> {
    loop {
        if let Incoming::Answer {
            answer: GuestAnswer::Up(greeting),
            ..
        } = greeting.receive(patience)?
        {
            return Ok(greeting);
        }
    }
}

/// Connects to the agent at this socket within this time.
///
/// # Errors
/// There is no agent at the socket (outer error), or it does not greet (inner error).
pub(super) fn visit(socket: &Path, patience: Duration) -> io::Result<Result<Visit, CallError>> {
    let until = Instant::now() + patience;
    let mut this_time = FIRST_PATIENCE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match once(socket, this_time.min(left))? {
            // If the previous client left just before this one came, the agent has not noticed, and waits for more data from it: Linux wakes a reader
            // of such a port, but lets it sleep again if a client is connected.
            Err(CallError::Silence(_)) if left > this_time + GONE => std::thread::sleep(GONE),
            Err(CallError::Silence(_)) => return Ok(Err(CallError::Silence(patience))),
            came => return Ok(came),
        }
        this_time *= 2;
    }
}

/// Makes one attempt; disconnects if the greeting does not come in time.
fn once(socket: &Path, patience: Duration) -> io::Result<Result<Visit, CallError>> {
    let Some(stream) = connect(socket)? else {
        std::thread::sleep(patience);
        return Ok(Err(CallError::Silence(patience)));
    };
    let end = stream.try_clone()?;
    let (channel, greeting) = open(stream)?;
    Ok(match hear(&greeting, patience) {
        Ok(greeting) => Ok(Visit {
            peer: Arc::new(AgentPeer { channel }),
            version: greeting.version,
        }),
        Err(error) => {
            let _ = end.shutdown(Shutdown::Both);
            Err(error)
        }
    })
}

/// `None` if QEMU's queue of connections is full, counting those already closed; a blocking connect would wait forever.
fn connect(socket: &Path) -> io::Result<Option<UnixStream>> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?) {
        Err(Errno::AGAIN) => Ok(None),
        connected => {
            connected?;
            let stream = UnixStream::from(fd);
            stream.set_nonblocking(false)?;
            Ok(Some(stream))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GREETING_PATIENCE, visit};
    use crate::guest::channel::CallError;
    use crate::guest::frame;
    use crate::guest::message::{GREETING, Greeting, GuestAnswer, pack};
    use std::io::Read;
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};

    /// Behaves like the agent of a guest that was asleep when the previous client disconnected.
    #[test]
    fn who_is_not_greeted_comes_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("channel");
        let socket = UnixListener::bind(&path).expect("a socket");
        let agent = std::thread::spawn(move || {
            let (mut unseen, _) = socket.accept().expect("somebody");
            assert_eq!(unseen.read(&mut [0]).expect("the end"), 0, "he asks for nothing");
            let (mut seen, _) = socket.accept().expect("somebody again");
            let greeting = Greeting {
                version: String::new(),
                release: String::new(),
                cpus: String::new(),
                interface: None,
                management: None,
                complaints: Vec::new(),
            };
            let greeting = pack(GREETING, &GuestAnswer::Up(greeting)).expect("small");
            frame::write(&mut seen, &greeting).expect("sent");
            seen
        });
        visit(&path, GREETING_PATIENCE).expect("a socket").expect("greeted");
        agent.join().expect("both times as it should be");
    }

    /// If a client is connected, no other is admitted: a new one gets a refusal in time, however many are waiting.
    #[test]
    fn who_finds_somebody_there_does_not_wait_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("channel");
        let socket = UnixListener::bind(&path).expect("a socket");
        // As QEMU does.
        rustix::net::listen(&socket, 1).expect("it listens");
        let patience = Duration::from_secs(4);
        for _ in 0..2 {
            let begun = Instant::now();
            let error = visit(&path, patience).expect("a socket").expect_err("nobody greets");
            assert_eq!(error, CallError::Silence(patience));
            assert!(begun.elapsed() < patience * 2, "{:?}", begun.elapsed());
        }
    }
}
