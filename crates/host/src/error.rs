//! Reasons that facts about the machine are unknown.

use std::fmt;
use std::io;

/// Reason that a file has no usable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The kernel refused, with this errno.
    Errno(i32),
    /// The file is empty.
    Empty,
    /// The bytes of the file are not text.
    NotText,
    /// The file is longer than any of its kind.
    TooLong,
    /// The path is a directory, a pipe or a device.
    NotAFile,
}

/// Errno numbers of Linux (asm-generic/errno.h), their names, and their meaning for `/proc` and `/sys`.
const ERRNOS: [(i32, &str, &str); 19] = [
    (1, "EPERM", "operation not permitted"),
    (2, "ENOENT", "no such file"),
    (5, "EIO", "input/output error"),
    (6, "ENXIO", "no such device or address"),
    (11, "EAGAIN", "temporarily unavailable"),
    (13, "EACCES", "permission denied"),
    (16, "EBUSY", "busy"),
    (19, "ENODEV", "no such device"),
    (20, "ENOTDIR", "not a directory"),
    (21, "EISDIR", "is a directory"),
    (22, "EINVAL", "not available in this state"),
    (24, "EMFILE", "too many open files"),
    (34, "ERANGE", "out of range"),
    (36, "ENAMETOOLONG", "name too long"),
    (38, "ENOSYS", "not in this kernel"),
    (40, "ELOOP", "too many links"),
    (61, "ENODATA", "no data"),
    (95, "EOPNOTSUPP", "not supported by the driver"),
    (110, "ETIMEDOUT", "timed out"),
];

/// ENOENT.
pub(crate) const NO_ENTRY: i32 = 2;
/// ESRCH.
pub(crate) const NO_PROCESS: i32 = 3;
/// EPERM.
const NOT_PERMITTED: i32 = 1;
/// EACCES.
const NO_ACCESS: i32 = 13;
/// EIO.
pub(crate) const IO: i32 = 5;
/// ENODEV.
const NO_DEVICE: i32 = 19;
/// ENOTDIR.
pub(crate) const NOT_A_DIRECTORY: i32 = 20;
/// ELOOP.
pub(crate) const TOO_MANY_LINKS: i32 = 40;

impl Unreadable {
    /// Converts the error of a file operation.
    pub fn from_io(error: &io::Error) -> Self {
        Self::Errno(error.raw_os_error().unwrap_or(IO))
    }

    /// Errno for a name such as `EACCES`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        ERRNOS
            .iter()
            .find(|(_, known, _)| *known == name)
            .map(|(number, _, _)| Self::Errno(*number))
    }

    /// True if the path does not exist (rather than being unreadable).
    pub fn is_absent(self) -> bool {
        matches!(self, Self::Errno(NO_ENTRY | NOT_A_DIRECTORY))
    }

    /// Name of the errno, such as `EACCES`; `None` if the kernel did not refuse, or for an unnamed errno.
    pub fn errno_name(self) -> Option<&'static str> {
        let Self::Errno(number) = self else { return None };
        ERRNOS
            .iter()
            .find(|(known, _, _)| *known == number)
            .map(|(_, name, _)| *name)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno(number) => match ERRNOS.iter().find(|(known, _, _)| known == number) {
                Some((_, name, meaning)) => write!(f, "{name}: {meaning}"),
                None => write!(f, "errno {number}"),
            },
            Self::Empty => f.write_str("the file is empty"),
            Self::NotText => f.write_str("the file is not text"),
            Self::TooLong => f.write_str("the file is longer than any of its kind"),
            Self::NotAFile => f.write_str("not a regular file"),
        }
    }
}

/// Reason that a fact about the machine is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// A file could not be read.
    #[error("{path}: {why}")]
    Unreadable {
        /// Path relative to the root.
        path: String,
        /// Reason.
        why: Unreadable,
    },
    /// A file has an unexpected content.
    #[error("{path}: found \"{found}\", expected {wanted}")]
    Unexpected {
        /// Path relative to the root.
        path: String,
        /// Expected form.
        wanted: &'static str,
        /// Beginning of the actual content.
        found: String,
    },
    /// The existing files are not conclusive.
    #[error("{0}")]
    Undecided(String),
}

/// Maximum number of characters shown of an unexpected text.
const SHOWN_CHARACTERS: usize = 40;

impl HostError {
    /// `path` contains `found` instead of `wanted`.
    pub fn unexpected(path: &str, wanted: &'static str, found: &str) -> Self {
        let found = found
            .trim()
            .chars()
            .take(SHOWN_CHARACTERS)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        Self::Unexpected {
            path: path.to_owned(),
            wanted,
            found,
        }
    }

    /// True if the file does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Unreadable { why, .. } if why.is_absent())
    }

    /// True if the file does not exist, or was removed between its opening and its reading, as the files of a control group are.
    pub fn is_gone(&self) -> bool {
        let was_removed = matches!(
            self,
            Self::Unreadable {
                why: Unreadable::Errno(NO_DEVICE),
                ..
            }
        );
        was_removed || self.is_absent()
    }

    /// True if the kernel refused access for lack of a privilege.
    pub fn is_forbidden(&self) -> bool {
        matches!(
            self,
            Self::Unreadable {
                why: Unreadable::Errno(NOT_PERMITTED | NO_ACCESS),
                ..
            }
        )
    }

    /// Reason without the path, for a fact that names its source separately.
    pub fn reason(&self) -> String {
        match self {
            Self::Unreadable { why, .. } => why.to_string(),
            Self::Unexpected { wanted, found, .. } => format!("found \"{found}\", expected {wanted}"),
            Self::Undecided(reason) => reason.clone(),
        }
    }
}
