//! Messages between host and guest. Each command and each question has a number of its own, which all messages about it have.

use super::frame::{Frame, FrameError, FrameKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The number under which the guest says that it is up.
pub(crate) const GREETING: u32 = 0;

/// Requests of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    /// The time of its clock.
    Clock,
    /// To run a command.
    Start {
        /// The words behind `triptime`.
        words: Vec<String>,
        /// Files of its working directory, by name.
        files: Vec<(String, String)>,
    },
    /// To say a line to the command's standard input.
    Say {
        /// Without its end.
        line: String,
    },
    /// To end the command, as SIGINT does.
    Stop,
    /// Octets of the run file that the command left.
    Fetch {
        /// The first of them.
        from: u64,
    },
    /// To remove what the command left.
    Forget,
    /// To power off.
    PowerOff,
}

/// Answers of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuestAnswer {
    /// It is up.
    Up(Greeting),
    /// Its `CLOCK_REALTIME`.
    Clock {
        /// When the question came, in ns since 1970.
        received_ns: i64,
        /// When this went, in ns since 1970.
        sent_ns: i64,
    },
    /// The command was started. Lines of it may come before this.
    Started,
    /// A line of the command's standard output.
    Line {
        /// Without its end.
        text: String,
    },
    /// The command has ended.
    Ended(Ended),
    /// It could not be done.
    Refused {
        /// Why.
        why: String,
    },
}

/// Description of a guest by itself when it is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// Version of its triptime.
    pub(crate) version: String,
    /// Release of its kernel.
    pub(crate) release: String,
    /// Its CPUs, as a list.
    pub(crate) cpus: String,
    /// Its network interface and that one's address, if it has any.
    pub(crate) interface: Option<(String, [u8; 6])>,
    /// Its second card and what was made of it, in words, if it was to have one.
    #[serde(default)]
    pub(crate) management: Option<String>,
    /// Complaints: what it could not do on the way.
    pub(crate) complaints: Vec<String>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its exit status, or 128 and the number of the signal that ended it.
    pub(crate) status: u8,
    /// The end of what it said on standard error.
    pub(crate) said: String,
    /// Octets of its run file; `None`: it left none.
    pub(crate) octets: Option<u64>,
}

/// Why a frame holds no message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageError {
    /// The channel.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame of something else.
    #[error("octets of a file where a message was due")]
    NotAMessage,
    /// A message of another version.
    #[error("a message that is not understood: {0}")]
    Json(#[from] serde_json::Error),
}

/// A message as a frame.
///
/// # Errors
/// None that a message of ours makes.
pub(crate) fn pack(call: u32, message: &impl Serialize) -> Result<Frame, MessageError> {
    Ok(Frame {
        kind: FrameKind::Message,
        call,
        payload: serde_json::to_vec(message)?,
    })
}

/// The message in a frame.
///
/// # Errors
/// It holds none, or one that is not understood.
pub(crate) fn unpack<M: DeserializeOwned>(frame: &Frame) -> Result<M, MessageError> {
    match frame.kind {
        FrameKind::Message => Ok(serde_json::from_slice(&frame.payload)?),
        FrameKind::Octets => Err(MessageError::NotAMessage),
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, GuestAnswer, MessageError, Request, pack, unpack};
    use crate::guest::frame::{Frame, FrameKind};
    use proptest::prelude::{any, prop};
    use proptest::{prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn requests_come_as_they_went(call in any::<u32>(), words in prop::collection::vec(any::<String>(), 0..4), from in any::<u64>()) {
            let files = words.iter().map(|word| (word.clone(), word.clone())).collect();
            for request in [Request::Start { words, files }, Request::Fetch { from }, Request::Stop] {
                let frame = pack(call, &request).expect("packed");
                prop_assert_eq!(frame.call, call);
                prop_assert_eq!(unpack::<Request>(&frame).expect("understood"), request);
            }
        }

        #[test]
        fn anything_at_all_is_a_message_or_an_error(payload in prop::collection::vec(any::<u8>(), 0..60)) {
            let frame = Frame { kind: FrameKind::Message, call: 1, payload };
            let _ = unpack::<GuestAnswer>(&frame);
            let _ = unpack::<Request>(&frame);
        }
    }

    #[test]
    fn what_is_no_message_is_told() {
        let ended = GuestAnswer::Ended(Ended {
            status: 3,
            said: "é".to_owned(),
            octets: None,
        });
        let mut frame = pack(1, &ended).expect("packed");
        assert_eq!(unpack::<GuestAnswer>(&frame).expect("understood"), ended);
        let error = unpack::<Request>(&frame).expect_err("an answer is no request");
        assert!(error.to_string().contains("not understood"), "{error}");
        frame.kind = FrameKind::Octets;
        assert!(matches!(unpack::<GuestAnswer>(&frame), Err(MessageError::NotAMessage)));
    }
}
