//! The asking end of the channel. It matches answers to questions, and output to commands, by their numbers.

use super::frame::{self, Frame, FrameKind};
use super::message::{GREETING, GuestAnswer, Request, pack, unpack};
use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time limit for sending; all messages to the guest are small.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);

/// A message or data that arrived for a call.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Answer {
        /// Its content.
        answer: GuestAnswer,
        /// Time of arrival, in ns of `CLOCK_REALTIME`.
        at_ns: i64,
    },
    /// Bytes of a file.
    Octets(Vec<u8>),
}

/// Reasons why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing arrived in this time.
    #[error("it did not answer in {:.0} s", .0.as_secs_f64())]
    Silence(Duration),
    /// The channel is broken.
    #[error("the channel to it: {0}")]
    Broken(String),
}

/// The open calls, each with the sender to its waiting caller.
#[derive(Debug, Default)]
struct Calls {
    open: HashMap<u32, Sender<Incoming>>,
    broken: Option<String>,
}

/// Writer of outgoing frames.
pub(crate) trait Outward: Write + Send + Debug {}

impl<T: Write + Send + Debug> Outward for T {}

/// The asking end of the channel.
#[derive(Debug)]
pub(crate) struct Channel {
    writer: Mutex<Box<dyn Outward>>,
    calls: Arc<Mutex<Calls>>,
    next: AtomicU32,
}

impl Channel {
    /// A channel over this stream; also returns the call of the guest's greeting.
    pub(crate) fn new(stream: UnixStream) -> std::io::Result<(Arc<Self>, Call)> {
        stream.set_write_timeout(Some(WRITE_PATIENCE))?;
        let reader = stream.try_clone()?;
        Self::over(reader, Box::new(stream))
    }

    /// A channel over a reader and a writer, of which the writer must have a time limit; also returns the call of the other end's greeting.
    pub(crate) fn over(
        reader: impl Read + Send + 'static,
        writer: Box<dyn Outward>,
    ) -> std::io::Result<(Arc<Self>, Call)> {
        let channel = Arc::new(Self {
            writer: Mutex::new(writer),
            calls: Arc::default(),
            next: AtomicU32::new(GREETING),
        });
        let greeting = Call::open(&channel);
        let calls = Arc::clone(&channel.calls);
        let read = move || {
            let why = hand_out(reader, &calls);
            let mut calls = lock(&calls);
            calls.broken = Some(why);
            // Dropping the senders wakes every waiting call.
            calls.open.clear();
        };
        std::thread::Builder::new()
            .name("triptime-channel".to_owned())
            .spawn(read)?;
        Ok((channel, greeting))
    }

    /// Makes the numbers of the next calls start from this one.
    pub(crate) fn count_from(&self, number: u32) {
        self.next.store(number, Ordering::Relaxed);
    }

    fn send(&self, call: u32, request: &Request) -> Result<(), CallError> {
        let frame = pack(call, request).map_err(|error| CallError::Broken(error.to_string()))?;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *writer, &frame).map_err(|error| {
            // The reason why the channel broke is more useful than a write error.
            self.why().unwrap_or_else(|| CallError::Broken(error.to_string()))
        })
    }

    fn why(&self) -> Option<CallError> {
        lock(&self.calls).broken.clone().map(CallError::Broken)
    }
}

/// Passes each frame to its waiting caller until the stream ends; returns the reason of the end.
fn hand_out(mut from: impl Read, calls: &Mutex<Calls>) -> String {
    loop {
        let frame = match frame::read(&mut from) {
            Ok(frame) => frame,
            Err(error) => return error.to_string(),
        };
        let call = frame.call;
        let incoming = match received(frame) {
            Ok(incoming) => incoming,
            Err(why) => return why,
        };
        if let Some(waiting) = lock(calls).open.get(&call) {
            // An error is ignored: the caller has gone in the meantime.
            let _ = waiting.send(incoming);
        }
    }
}

fn received(frame: Frame) -> Result<Incoming, String> {
    let at_ns = sys::clock::realtime().as_ns();
    match frame.kind {
        FrameKind::Octets => Ok(Incoming::Octets(frame.payload)),
        FrameKind::Message => match unpack(&frame) {
            Ok(answer) => Ok(Incoming::Answer { answer, at_ns }),
            Err(error) => Err(error.to_string()),
        },
    }
}

fn lock(calls: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A question or a command; its answers arrive here.
#[derive(Debug)]
pub(crate) struct Call {
    channel: Arc<Channel>,
    number: u32,
    incoming: Mutex<Receiver<Incoming>>,
}

impl Call {
    /// Opens a new call.
    pub(crate) fn open(channel: &Arc<Channel>) -> Self {
        let number = channel.next.fetch_add(1, Ordering::Relaxed);
        let (tell, incoming) = mpsc::channel();
        let mut calls = lock(&channel.calls);
        // On a broken channel the call would never be woken.
        if calls.broken.is_none() {
            calls.open.insert(number, tell);
        }
        drop(calls);
        Self {
            channel: Arc::clone(channel),
            number,
            incoming: Mutex::new(incoming),
        }
    }

    /// Sends a request.
    pub(crate) fn send(&self, request: &Request) -> Result<(), CallError> {
        self.channel.send(self.number, request)
    }

    /// Waits for the next message, at most this long.
    pub(crate) fn receive(&self, patience: Duration) -> Result<Incoming, CallError> {
        let incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        incoming.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => CallError::Silence(patience),
            RecvTimeoutError::Disconnected => self
                .channel
                .why()
                .unwrap_or_else(|| CallError::Broken("nothing reads it".to_owned())),
        })
    }
}

/// One wait for the other end with one deadline, however many messages it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    begun: Instant,
    patience: Duration,
}

impl Wait {
    /// A wait that begins at this instant and ends `patience` later.
    pub(crate) fn since(begun: Instant, patience: Duration) -> Self {
        Self { begun, patience }
    }

    /// A wait that begins now.
    pub(crate) fn of(patience: Duration) -> Self {
        Self::since(Instant::now(), patience)
    }

    /// Waits for the next message of a call. The error of a passed deadline has the time since the wait began.
    pub(crate) fn receive(&self, call: &Call) -> Result<Incoming, CallError> {
        let left = self.patience.saturating_sub(self.begun.elapsed());
        call.receive(left).map_err(|error| match error {
            CallError::Silence(_) => CallError::Silence(self.begun.elapsed()),
            broken @ CallError::Broken(_) => broken,
        })
    }
}

impl Call {
    /// Closes the call: everyone who waits for it gets an error.
    pub(crate) fn close(&self) {
        lock(&self.channel.calls).open.remove(&self.number);
    }

    /// True if it was closed on purpose, rather than by a broken channel.
    pub(crate) fn is_closed(&self) -> bool {
        let calls = lock(&self.channel.calls);
        calls.broken.is_none() && !calls.open.contains_key(&self.number)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, CallError, Channel, Incoming};
    use crate::guest::frame::{self, Frame, FrameKind};
    use crate::guest::message::{GREETING, GuestAnswer, Request, pack, unpack};
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::Duration;

    const SOON: Duration = Duration::from_secs(30);

    fn pair() -> (Arc<Channel>, Call, UnixStream) {
        let (near, far) = UnixStream::pair().expect("a pair");
        let (channel, greeting) = Channel::new(near).expect("a channel");
        (channel, greeting, far)
    }

    fn line(text: &str) -> GuestAnswer {
        GuestAnswer::Line { text: text.to_owned() }
    }

    fn said(call: &Call) -> String {
        match call.receive(SOON).expect("an answer") {
            Incoming::Answer {
                answer: GuestAnswer::Line { text },
                ..
            } => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_come_to_who_asked() {
        let (channel, greeting, mut far) = pair();
        let (first, second) = (Call::open(&channel), Call::open(&channel));
        first.send(&Request::Stop).expect("sent");
        let number = frame::read(&mut far).expect("a frame").call;
        second.send(&Request::Clock).expect("sent");
        let other = frame::read(&mut far).expect("a frame");
        assert_eq!(unpack::<Request>(&other).expect("understood"), Request::Clock);
        for (call, text) in [
            (other.call, "two"),
            (number, "one"),
            (GREETING, "zero"),
            (77, "nobody's"),
            (number, "more"),
        ] {
            frame::write(&mut far, &pack(call, &line(text)).expect("packed")).expect("sent");
        }
        let octets = Frame {
            kind: FrameKind::Octets,
            call: number,
            payload: vec![9; 3],
        };
        frame::write(&mut far, &octets).expect("sent");
        assert_eq!((said(&first), said(&first)), ("one".to_owned(), "more".to_owned()));
        assert!(matches!(first.receive(SOON), Ok(Incoming::Octets(octets)) if octets == [9; 3]));
        assert_eq!((said(&second), said(&greeting)), ("two".to_owned(), "zero".to_owned()));
        let short = Duration::from_millis(1);
        assert!(matches!(second.receive(short), Err(CallError::Silence(waited)) if waited == short));
    }

    #[test]
    fn who_waits_is_told_that_the_channel_broke_and_why() {
        let (channel, greeting, mut far) = pair();
        far.write_all(b"[    1.234567] Kernel panic").expect("written");
        let error = greeting.receive(SOON).expect_err("no frame");
        assert!(error.to_string().contains("something else writes there"), "{error}");
        // A later call gets the same error.
        let later = Call::open(&channel).receive(SOON).expect_err("broken");
        assert_eq!(later, error);
    }

    #[test]
    fn a_call_that_was_closed_is_not_waited_for() {
        let (channel, _greeting, _far) = pair();
        let call = Call::open(&channel);
        assert!(!call.is_closed());
        call.close();
        assert!(call.is_closed());
        assert!(matches!(call.receive(SOON), Err(CallError::Broken(_))));
    }

    #[test]
    fn an_end_that_is_gone_is_told() {
        let (channel, greeting, far) = pair();
        drop(far);
        let error = greeting.receive(SOON).expect_err("gone");
        assert!(error.to_string().contains("closed"), "{error}");
        assert!(Call::open(&channel).send(&Request::Clock).is_err());
    }
}
