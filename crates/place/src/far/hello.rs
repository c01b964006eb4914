//! The first words between two machines: each shows that it knows the secret without saying it, and both have keys for the rest.

use super::sealed::{Opened, Sealed};
use super::secret::{Secret, Tag, is_same};
use super::socket::Patient;
use crate::guest::frame;
use crate::guest::message::{GREETING, MessageError, pack, unpack};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

/// How long all of it may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Labels of both proofs and both keys: each is made from the secret, both nonces and one of these.
const NEAR: &[u8] = b"triptime: the near end knows it";
const FAR: &[u8] = b"triptime: the far end knows it";
const TO_FAR: &[u8] = b"triptime: key to the far end";
const TO_NEAR: &[u8] = b"triptime: key to the near end";

type Nonce = [u8; 32];

/// In this order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Said {
    /// The far end.
    Hello { nonce: Nonce },
    /// The near end.
    Proof { nonce: Nonce, proof: Tag },
    /// The far end: come in.
    Welcome { proof: Tag },
    /// The far end, instead of that.
    Refused { why: String },
}

/// Why it came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum HelloError {
    /// The connection.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// No message came, or one that cannot be read.
    #[error("{0}")]
    Message(#[from] MessageError),
    /// Something else was said than is due.
    #[error("it said something that was not its turn")]
    Turn,
    /// The other end does not know the secret.
    #[error("it does not know the secret: give both ends the same with --secret FILE")]
    Secret,
    /// The far end does not want this one.
    #[error("{0}")]
    Refused(String),
}

/// Both directions of a connection, with their keys.
pub(super) struct Way {
    /// Receives.
    pub(super) from: Opened<Patient>,
    /// Sends.
    pub(super) to: Sealed<TcpStream>,
}

/// The nonces of both ends.
struct Nonces {
    far: Nonce,
    near: Nonce,
}

impl Nonces {
    fn tag(&self, secret: &Secret, what: &[u8]) -> Tag {
        secret.tag(&[what, &self.far, &self.near])
    }
}

/// The far end's part. A near end that is the right one comes in if `seat` has a place for it, which is given, too.
///
/// # Errors
/// It is not, or there is no place: why not.
pub(super) fn answer<T>(
    stream: &TcpStream,
    secret: &Secret,
    seat: impl FnOnce() -> Result<T, String>,
) -> Result<(Way, T), HelloError> {
    let mut from = Patient::new(stream.try_clone()?, PATIENCE);
    let far = nonce()?;
    say(stream, &Said::Hello { nonce: far })?;
    let Said::Proof { nonce: near, proof } = hear(&mut from)? else {
        return Err(HelloError::Turn);
    };
    let nonces = Nonces { far, near };
    let refuse = |why: String| {
        say(stream, &Said::Refused { why: why.clone() })?;
        Err(HelloError::Refused(why))
    };
    if !is_same(&proof, &nonces.tag(secret, NEAR)) {
        return refuse(HelloError::Secret.to_string());
    }
    let seat = match seat() {
        Ok(seat) => seat,
        Err(why) => return refuse(why),
    };
    let proof = nonces.tag(secret, FAR);
    say(stream, &Said::Welcome { proof })?;
    let way = Way {
        from: Opened::new(from, nonces.tag(secret, TO_FAR)),
        to: Sealed::new(stream.try_clone()?, nonces.tag(secret, TO_NEAR)),
    };
    Ok((way, seat))
}

/// The near end's part.
///
/// # Errors
/// The other end is no far end of ours, does not know the secret, or does not want this one.
pub(super) fn ask(stream: &TcpStream, secret: &Secret) -> Result<Way, HelloError> {
    let mut from = Patient::new(stream.try_clone()?, PATIENCE);
    let Said::Hello { nonce: far } = hear(&mut from)? else {
        return Err(HelloError::Turn);
    };
    let nonces = Nonces { far, near: nonce()? };
    let proof = nonces.tag(secret, NEAR);
    say(
        stream,
        &Said::Proof {
            nonce: nonces.near,
            proof,
        },
    )?;
    match hear(&mut from)? {
        Said::Welcome { proof } if is_same(&proof, &nonces.tag(secret, FAR)) => Ok(Way {
            from: Opened::new(from, nonces.tag(secret, TO_NEAR)),
            to: Sealed::new(stream.try_clone()?, nonces.tag(secret, TO_FAR)),
        }),
        Said::Welcome { .. } => Err(HelloError::Secret),
        Said::Refused { why } => Err(HelloError::Refused(why)),
        Said::Hello { .. } | Said::Proof { .. } => Err(HelloError::Turn),
    }
}

fn say(mut stream: &TcpStream, said: &Said) -> Result<(), MessageError> {
    Ok(frame::write(&mut stream, &pack(GREETING, said)?)?)
}

fn hear(from: &mut impl Read) -> Result<Said, MessageError> {
    unpack(&frame::read(from)?)
}

fn nonce() -> std::io::Result<Nonce> {
    let mut nonce = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut nonce)?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::{HelloError, Said, answer, ask, say};
    use crate::far::secret::Secret;
    use crate::guest::frame;
    use proptest::prelude::{ProptestConfig, any, prop};
    use proptest::{prop_assert, proptest};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::OpenOptionsExt;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        (near, listener.accept().expect("accepted").0)
    }

    fn secret(text: &str) -> Secret {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("secret");
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        file.expect("made").write_all(text.as_bytes()).expect("written");
        Secret::read(&path).expect("a secret")
    }

    #[test]
    fn ends_with_one_secret_understand_each_other() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || answer(&far, &secret("0123456789abcdef"), || Ok(5)));
        let mut here = ask(&near, &secret("0123456789abcdef")).expect("welcome");
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

    #[test]
    fn who_does_not_know_the_secret_stays_outside() {
        for (here, theirs) in [
            (Secret::default(), secret("0123456789abcdef")),
            (secret("0123456789abcdeX"), Secret::default()),
        ] {
            let (near, far) = pair();
            let there =
                std::thread::spawn(move || answer(&far, &theirs, || -> Result<(), String> { panic!("a seat") }));
            let error = ask(&near, &here).err().expect("refused");
            assert!(error.to_string().contains("does not know the secret"), "{error}");
            assert!(matches!(there.join().expect("no panic"), Err(HelloError::Refused(_))));
        }
    }

    /// One that welcomes everybody does not know the secret.
    #[test]
    fn a_far_end_that_does_not_know_the_secret_is_left() {
        let (near, mut far) = pair();
        let there = std::thread::spawn(move || {
            say(&far, &Said::Hello { nonce: [1; 32] }).expect("said");
            frame::read(&mut far).expect("a proof");
            say(&far, &Said::Welcome { proof: [0; 32] }).expect("said");
        });
        assert!(matches!(ask(&near, &Secret::default()), Err(HelloError::Secret)));
        there.join().expect("no panic");
    }

    #[test]
    fn who_finds_no_seat_is_told_why() {
        let (near, far) = pair();
        let there = std::thread::spawn(move || answer(&far, &Secret::default(), || Err::<(), _>("taken".to_owned())));
        let error = ask(&near, &Secret::default()).err().expect("refused");
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
            let answered = answer(&far, &Secret::default(), || -> Result<(), String> { panic!("a seat") });
            prop_assert!(answered.is_err());
            let (near, mut far) = pair();
            far.write_all(&octets).expect("sent");
            drop(far);
            prop_assert!(ask(&near, &Secret::default()).is_err());
        }
    }
}
