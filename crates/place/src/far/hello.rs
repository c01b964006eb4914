//! The handshake between two machines: each proves that it knows the secret without sending it, and both derive keys for the connection.
//!
//! It is `NNpsk2` of the Noise Protocol Framework (revision 34) by the crate `snow`: fresh keys of both ends, mixed with the secret.
//!
//! ```text
//! far  -> near: e                 a fresh public key
//! near -> far:  e, ee, psk        another one, and a proof that the near end knows the secret
//! far  -> near: sealed: welcome   or the reason why not
//! ```
//!
//! The far end starts, and proves its knowledge last: a client without the secret gets no data for guessing it offline.

use super::alive::{self, Alive};
use super::sealed::{Keys, LARGEST_MESSAGE, Opened, Sealed};
use super::secret::Secret;
use super::socket::{Patient, SILENCE};
use crate::guest::frame::{self, FrameError};
use crate::guest::message::{GREETING, MessageError, pack, unpack};
use serde::{Deserialize, Serialize};
use snow::{Builder, HandshakeState};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of the whole handshake at the near end.
pub(super) const NEAR_PATIENCE: Duration = Duration::from_secs(10);
/// Time in which a client must prove to the far end that it knows the secret: it needs nobody for its answer.
const FAR_PATIENCE: Duration = Duration::from_secs(5);

const PATTERN: &str = "Noise_NNpsk2_25519_ChaChaPoly_SHA256";
/// Position of the secret in [`PATTERN`].
const SECRET_AT: u8 = 2;
/// Text that must be equal on both ends; it enters all keys.
const PROLOGUE: &[u8] = b"triptime far 2";

/// Answer of the far end to a near end that knows the secret.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Said {
    /// The client is accepted.
    Welcome,
    /// The client is refused, for example because another is connected.
    Refused { why: String },
}

/// Reasons why the handshake failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HelloError {
    /// Error of the connection.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// No message came, or it cannot be read.
    #[error("{0}")]
    Message(#[from] MessageError),
    /// The handshake state does not allow the next step.
    #[error("it sent an unexpected message: {0}")]
    Turn(snow::Error),
    /// The other end does not have the same secret.
    #[error("it does not know the secret: give both ends the same with --secret FILE")]
    Secret,
    /// The far end refuses this client.
    #[error("{0}")]
    Refused(String),
}

/// Both directions of a connection, with their keys.
pub(super) struct SealedWay {
    /// Receives.
    pub(super) from: Opened<Patient>,
    /// Sends, also signs of life.
    pub(super) to: Alive,
}

/// The far end's part. `seat` is called once the client has proved that it knows the secret, which is then accepted if there is a free seat; the
/// seat is returned, too.
///
/// # Errors
/// The client lacks the secret, or there is no free seat.
pub(super) fn answer<T>(
    stream: &TcpStream,
    secret: &Secret,
    seat: impl FnOnce() -> Result<T, String>,
) -> Result<(SealedWay, T), HelloError> {
    let mut from = Patient::new(stream.try_clone()?, FAR_PATIENCE);
    let mut handshake = secured(secret)
        .and_then(Builder::build_initiator)
        .map_err(HelloError::Turn)?;
    say(stream, &mut handshake)?;
    hear(&mut from, &mut handshake)?;
    let mut way = SealedWay::new(stream, from, handshake)?;
    match seat() {
        Ok(seat) => {
            way.say(&Said::Welcome)?;
            way.from.may_be_silent(SILENCE);
            Ok((way, seat))
        }
        Err(why) => {
            way.say(&Said::Refused { why: why.clone() })?;
            Err(HelloError::Refused(why))
        }
    }
}

/// The near end's part.
///
/// # Errors
/// The other end is not a far end of triptime, has a different secret, or refuses this client.
pub(super) fn ask(stream: &TcpStream, secret: &Secret) -> Result<SealedWay, HelloError> {
    let mut from = Patient::new(stream.try_clone()?, NEAR_PATIENCE);
    let mut handshake = secured(secret)
        .and_then(Builder::build_responder)
        .map_err(HelloError::Turn)?;
    hear(&mut from, &mut handshake)?;
    say(stream, &mut handshake)?;
    let mut way = SealedWay::new(stream, from, handshake)?;
    let said = frame::read(&mut way.from).map_err(|error| match error {
        // A far end with a different secret closes the connection here, without a readable message.
        FrameError::Closed => HelloError::Secret,
        FrameError::Io(error) if error.kind() == ErrorKind::InvalidData => HelloError::Secret,
        error => HelloError::Message(error.into()),
    })?;
    match unpack(&said)? {
        Said::Welcome => {
            way.from.may_be_silent(SILENCE);
            Ok(way)
        }
        Said::Refused { why } => Err(HelloError::Refused(why)),
    }
}

fn secured(secret: &Secret) -> Result<Builder<'_>, snow::Error> {
    Builder::new(PATTERN.parse()?)
        .prologue(PROLOGUE)?
        .psk(SECRET_AT, secret.key())
}

fn say(mut stream: &TcpStream, handshake: &mut HandshakeState) -> Result<(), HelloError> {
    let mut message = vec![0; LARGEST_MESSAGE];
    let octets = handshake.write_message(&[], &mut message).map_err(HelloError::Turn)?;
    message.truncate(octets);
    let frame = frame::Frame {
        kind: frame::FrameKind::Octets,
        call: GREETING,
        payload: message,
    };
    Ok(frame::write(&mut stream, &frame).map_err(MessageError::from)?)
}

fn hear(from: &mut Patient, handshake: &mut HandshakeState) -> Result<(), HelloError> {
    let frame = frame::read(from).map_err(MessageError::from)?;
    match handshake.read_message(&frame.payload, &mut [0; LARGEST_MESSAGE]) {
        Ok(_) => Ok(()),
        Err(snow::Error::Decrypt) => Err(HelloError::Secret),
        Err(error) => Err(HelloError::Turn(error)),
    }
}

impl SealedWay {
    fn new(stream: &TcpStream, from: Patient, handshake: HandshakeState) -> Result<Self, HelloError> {
        let keys: Keys = Arc::new(handshake.into_stateless_transport_mode().map_err(HelloError::Turn)?);
        Ok(Self {
            from: Opened::new(from, Arc::clone(&keys)),
            to: Alive::begin(Sealed::new(stream.try_clone()?, keys), alive::EVERY)?,
        })
    }

    fn say(&mut self, said: &Said) -> Result<(), HelloError> {
        frame::write(&mut self.to, &pack(GREETING, said)?).map_err(MessageError::from)?;
        Ok(self.to.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{FAR_PATIENCE, HelloError, answer, ask, hear, say, secured};
    use crate::far::secret::Secret;
    use crate::far::socket::Patient;
    use crate::guest::frame;
    use proptest::prelude::{ProptestConfig, any, prop};
    use proptest::{prop_assert, proptest};
    use snow::Builder;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        (near, listener.accept().expect("accepted").0)
    }

    /// The secret of most ends here.
    fn right() -> Secret {
        Secret::of(b"0123456789abcdef")
    }

    fn wrong() -> Secret {
        Secret::of(b"0123456789abcdeX")
    }

    #[test]
    fn ends_with_one_secret_understand_each_other() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || answer(&far, &right(), || Ok(5)));
        let mut here = ask(&near, &right()).expect("welcome");
        let (mut there, seat) = there.join().expect("no panic").expect("understood");
        assert_eq!(seat, 5);
        let mut heard = [0; 4];
        here.to.write_all(b"ping").expect("sent");
        there.from.read_exact(&mut heard).expect("came");
        there.to.write_all(b"pong").expect("sent");
        assert_eq!(&heard, b"ping");
        here.from.read_exact(&mut heard).expect("came");
        assert_eq!(&heard, b"pong");
    }

    /// Signs of life carry nothing to who reads messages.
    #[test]
    fn an_end_with_nothing_to_say_gives_signs_of_life() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || answer(&far, &right(), || Ok(())));
        let mut here = ask(&near, &right()).expect("welcome");
        let (there, ()) = there.join().expect("no panic").expect("understood");
        near.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        near.peek(&mut [0])
            .expect("a sign came: nothing else is sent after the welcome");
        drop(there);
        // The kernel resets a connection whose last messages, here signs of life, were not read.
        let end = here.from.read(&mut [0]);
        let is_over = match &end {
            Ok(octets) => *octets == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        };
        assert!(is_over, "signs, and the end: {end:?}");
    }

    #[test]
    fn who_does_not_know_the_secret_stays_outside() {
        for (here, theirs) in [(wrong(), right()), (right(), wrong())] {
            let (near, far) = pair();
            let there =
                std::thread::spawn(move || answer(&far, &theirs, || -> Result<(), String> { panic!("a seat") }));
            let error = ask(&near, &here).err().expect("refused");
            assert!(error.to_string().contains("does not know the secret"), "{error}");
            assert!(matches!(there.join().expect("no panic"), Err(HelloError::Secret)));
        }
    }

    /// A far end that admits everybody does not know the secret.
    #[test]
    fn a_far_end_that_does_not_know_the_secret_is_left() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || {
            let wrong = wrong();
            let mut handshake = secured(&wrong).and_then(Builder::build_initiator).expect("a handshake");
            say(&far, &mut handshake).expect("said");
            let mut from = Patient::new(far.try_clone().expect("a stream"), FAR_PATIENCE);
            assert!(matches!(hear(&mut from, &mut handshake), Err(HelloError::Secret)));
            (&far).write_all(&[vec![32, 0], vec![7; 32]].concat()).expect("said");
        });
        assert!(matches!(ask(&near, &right()), Err(HelloError::Secret)));
        there.join().expect("no panic");
    }

    /// A near end that repeats another one's messages has no message with the far end's fresh key.
    #[test]
    fn a_repeated_proof_is_none() {
        let said = {
            let (near, mut far) = pair();
            let there = std::thread::spawn(move || ask(&near, &right()).is_ok());
            let secret = right();
            let mut handshake = secured(&secret)
                .and_then(Builder::build_initiator)
                .expect("a handshake");
            say(&far, &mut handshake).expect("said");
            let said = frame::read(&mut far).expect("a proof");
            drop(far);
            assert!(!there.join().expect("no panic"));
            said
        };
        let (mut near, far) = pair();
        let there =
            std::thread::spawn(move || answer(&far, &right(), || -> Result<(), String> { panic!("a seat") }).is_err());
        frame::read(&mut near).expect("a key");
        frame::write(&mut near, &said).expect("said");
        assert!(there.join().expect("no panic"));
    }

    #[test]
    fn who_finds_no_seat_is_told_why() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || answer(&far, &right(), || Err::<(), _>("taken".to_owned())));
        let error = ask(&near, &right()).err().expect("refused");
        assert_eq!(error.to_string(), "taken");
        assert!(there.join().expect("no panic").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn garbage_gets_no_seat_at_either_end(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            let (mut near, far) = pair();
            near.write_all(&octets).expect("sent");
            near.shutdown(std::net::Shutdown::Write).expect("closed");
            let answered = answer(&far, &right(), || -> Result<(), String> { panic!("a seat") });
            prop_assert!(answered.is_err());
            let (near, mut far) = pair();
            far.write_all(&octets).expect("sent");
            drop(far);
            prop_assert!(ask(&near, &right()).is_err());
        }
    }
}
