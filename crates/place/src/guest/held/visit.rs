//! Visits of clients to a guest that is held up, one after another.

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

/// How long the agent may take to greet who comes; an emulated one that is busy takes seconds.
pub(super) const GREETING_PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take at first, before who comes goes for a while and comes again; twice as long each time.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// How long nobody is there then. A guest that has no CPU for this long does not see that somebody went.
const GONE: Duration = Duration::from_secs(1);

/// One who is at a guest that is held up. The next one is let in when this is dropped.
#[derive(Debug)]
pub struct Visit(Arc<AgentPeer>);

impl Visit {
    /// How the guest's clock stands to this machine's now.
    ///
    /// # Errors
    /// It does not answer.
    pub fn clock(&self) -> Result<ClockOffset, PlaceError> {
        self.0.clock()
    }

    /// Has a command run in it.
    ///
    /// # Errors
    /// It cannot start it.
    pub fn run(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        Ok(Box::new(Errand::start(self.0.clone(), job)?))
    }
}

/// The way to the agent for one who comes.
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

/// The channel over this stream, from the agent's greeting on. Its calls have numbers that no other process used lately: the agent may still
/// say something of a call of who has gone.
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

/// Goes to the agent at this socket, and waits so long.
///
/// # Errors
/// There is nothing at the socket; or, inside, why the agent does not greet.
pub(super) fn visit(socket: &Path, patience: Duration) -> io::Result<Result<Visit, CallError>> {
    let until = Instant::now() + patience;
    let mut this_time = FIRST_PATIENCE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match once(socket, this_time.min(left))? {
            // Where somebody went in the instant this one came, the agent has not seen it, and waits for more from him: Linux wakes who
            // reads from such a port, and lets him sleep on if somebody is there again.
            Err(CallError::Silence(_)) if left > this_time + GONE => std::thread::sleep(GONE),
            Err(CallError::Silence(_)) => return Ok(Err(CallError::Silence(patience))),
            came => return Ok(came),
        }
        this_time *= 2;
    }
}

/// The same; goes away when it is not greeted in time.
fn once(socket: &Path, patience: Duration) -> io::Result<Result<Visit, CallError>> {
    let Some(stream) = connect(socket)? else {
        std::thread::sleep(patience);
        return Ok(Err(CallError::Silence(patience)));
    };
    let end = stream.try_clone()?;
    let (channel, greeting) = open(stream)?;
    Ok(match hear(&greeting, patience) {
        Ok(_) => Ok(Visit(Arc::new(AgentPeer { channel }))),
        Err(error) => {
            let _ = end.shutdown(Shutdown::Both);
            Err(error)
        }
    })
}

/// `None`: as many wait there as QEMU lets wait, those who have gone meanwhile among them; whoever blocked would wait without end.
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

    /// As the agent of a guest does that was asleep when the one before went.
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

    /// One is there, and nobody else is let in: who comes then is told so in time, whatever number waits already.
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
