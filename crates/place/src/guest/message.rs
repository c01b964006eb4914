//! Messages between host and guest. Every command and question carries a number; all messages about it repeat the number.

use super::frame::{Frame, FrameError, FrameKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Number of the guest's greeting.
pub(crate) const GREETING: u32 = 0;

/// Requests of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    /// Asks for the time of its clock.
    Clock,
    /// Runs a command.
    Start {
        /// The words after `triptime`.
        words: Vec<String>,
        /// Files of its working directory, by name.
        files: Vec<(String, String)>,
    },
    /// Writes a line to the command's standard input.
    Say {
        /// Without the newline.
        line: String,
    },
    /// Ends the command, like SIGINT.
    Stop,
    /// Asks for bytes of the command's run file.
    Fetch {
        /// Offset of the first byte.
        from: u64,
    },
    /// Removes the command's files.
    Forget,
    /// Powers off.
    PowerOff,
}

/// Answers of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuestAnswer {
    /// The guest is up.
    Up(Greeting),
    /// Its `CLOCK_REALTIME`.
    Clock {
        /// Time of arrival of the question, in ns since 1970.
        received_ns: i64,
        /// Time of sending this answer, in ns since 1970.
        sent_ns: i64,
    },
    /// The command was started. Lines of its output may come before this message.
    Started,
    /// A line of the command's standard output.
    Line {
        /// Without the newline.
        text: String,
    },
    /// The command has ended.
    Ended(Ended),
    /// The request failed.
    Refused {
        /// The reason.
        why: String,
    },
}

/// Description of a guest, sent by its agent when it is up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// Version of its triptime.
    pub(crate) version: String,
    /// Release of its kernel.
    pub(crate) release: String,
    /// Its CPUs, as a list.
    pub(crate) cpus: String,
    /// Its network interface and the interface's address, if it has one.
    pub(crate) interface: Option<(String, [u8; 6])>,
    /// Its second card and its settings, as text, if one was requested.
    #[serde(default)]
    pub(crate) management: Option<String>,
    /// Problems during its boot.
    pub(crate) complaints: Vec<String>,
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its exit status, or 128 plus the number of the signal that ended it.
    pub(crate) status: u8,
    /// The last part of its standard error.
    pub(crate) said: String,
    /// Size of its run file in bytes; `None` if it left none.
    pub(crate) octets: Option<u64>,
}

/// Reasons why a frame is not a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageError {
    /// Error of the channel.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The frame has other content.
    #[error("received bytes of a file instead of a message")]
    NotAMessage,
    /// The message belongs to another version.
    #[error("a message that is not understood: {0}")]
    Json(#[from] serde_json::Error),
}

/// Packs a message into a frame.
///
/// # Errors
/// Never for our own messages.
pub(crate) fn pack(call: u32, message: &impl Serialize) -> Result<Frame, MessageError> {
    Ok(Frame {
        kind: FrameKind::Message,
        call,
        payload: serde_json::to_vec(message)?,
    })
}

/// Parses the message in a frame.
///
/// # Errors
/// The frame has no message, or an unknown one.
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
