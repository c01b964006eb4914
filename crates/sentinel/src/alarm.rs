//! Alarms: what a watch tells people and machines.

/// The kind of an alarm. The word is part of metrics, files and of what a hook is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AlarmKind {
    /// A relay tripped after the time that it is allowed.
    Late,
    /// A relay did not trip for a fault.
    Missing,
    /// A relay tripped without a fault, or before it.
    False,
    /// Samples or messages of a stream never came.
    Lost,
    /// A stream or a control block is silent, or never came.
    Silent,
    /// The identity, the configuration or the contents of a stream are others.
    Changed,
    /// It is not known whether a relay acted rightly.
    Unknown,
    /// The watch itself: frames that it lost, a disk that is full, time in which it did not watch.
    Own,
}

impl AlarmKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Late,
        Self::Missing,
        Self::False,
        Self::Lost,
        Self::Silent,
        Self::Changed,
        Self::Unknown,
        Self::Own,
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Missing => "missing",
            Self::False => "false",
            Self::Lost => "lost",
            Self::Silent => "silent",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
            Self::Own => "own",
        }
    }
}

/// An alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Its number, from 1, since the watch began.
    pub number: u64,
    /// Its kind.
    pub kind: AlarmKind,
    /// The relay, stream or control block; `watch` for the watch itself.
    pub subject: String,
    /// The happening, in a sentence.
    pub text: String,
    /// When it happened, in ns of the watch's clock.
    pub at_ns: i64,
    /// When it was found, in ns of the same clock.
    pub found_ns: i64,
    /// Frames up to this number are about it: see [`crate::Ring`].
    pub frames_until: u64,
    /// Alarms of this kind and subject before it that were counted only.
    pub suppressed: u64,
}
