//! A boolean member of a GOOSE dataset, by its place: one that tells of a start or a trip.

use super::{Data, Entries};
use std::fmt;
use std::str::FromStr;

/// Which member: its number in the dataset from 0, and, of a structure, its number in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    entry: u8,
    part: Option<u8>,
}

/// The text names no member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a member: write its number in the dataset from 0, such as 2, or 2.0 for the first part of a structure"
)]
pub struct MemberError(String);

impl Member {
    /// A member that is no part of a structure, by its number in the dataset from 0.
    pub fn numbered(entry: u8) -> Self {
        Self { entry, part: None }
    }

    /// Its value in a message; `None` where it is not there, or no boolean.
    pub fn of(self, mut entries: Entries<'_>) -> Option<bool> {
        let entry = entries.nth(usize::from(self.entry))?;
        let value = match (self.part, entry) {
            (None, value) => value,
            (Some(part), Data::Structure(mut parts)) => parts.nth(usize::from(part))?,
            (Some(_), _) => return None,
        };
        match value {
            Data::Boolean(value) => Some(value),
            _ => None,
        }
    }
}

impl FromStr for Member {
    type Err = MemberError;

    fn from_str(text: &str) -> Result<Self, MemberError> {
        let number = |text: &str| text.parse().map_err(|_| MemberError(text.to_owned()));
        Ok(match text.split_once('.') {
            Some((entry, part)) => Self {
                entry: number(entry)?,
                part: Some(number(part)?),
            },
            None => Self {
                entry: number(text)?,
                part: None,
            },
        })
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "{}.{part}", self.entry),
            None => write!(f, "{}", self.entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Member;
    use crate::ether::{EthernetView, Mac};
    use crate::goose::{Frame, Message, Value};

    #[test]
    fn a_member_is_found_by_its_numbers() {
        let all_data = vec![
            Value::Boolean(false),
            Value::Structure(vec![Value::Integer(7), Value::Boolean(true)]),
        ];
        let message = Message {
            dst: Mac([1; 6]),
            src: Mac([2; 6]),
            gocb_ref: b"x".to_vec(),
            time_allowed_to_live: 1,
            dat_set: b"x".to_vec(),
            sq_num: 0,
            all_data,
            ..Message::default()
        };
        let octets = message.encode().expect("a message");
        let frame = EthernetView::parse(&octets).and_then(|ethernet| Frame::parse(&ethernet));
        let entries = frame.expect("our own").all_data();
        for (text, value) in [
            ("0", Some(false)),
            ("1.1", Some(true)),
            ("1.0", None),
            ("1", None),
            ("0.0", None),
            ("2", None),
        ] {
            let member: Member = text.parse().expect(text);
            assert_eq!((member.of(entries), member.to_string().as_str()), (value, text));
        }
        assert!("x".parse::<Member>().is_err() && "1.2.3".parse::<Member>().is_err());
    }
}
