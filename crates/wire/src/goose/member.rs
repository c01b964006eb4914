//! A boolean member of a GOOSE dataset, identified by its position, which reports a start or a trip.

use super::{Data, Entries};
use std::fmt;
use std::str::FromStr;

/// A member of a dataset: its number from 0 and, in a structure, its number within the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    entry: u8,
    part: Option<u8>,
}

/// Positions of a double point (IEC 61850-7-3): off, and on.
const OPEN: u8 = 0b01;
const CLOSED: u8 = 0b10;

/// Error: the text does not name a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a member: write its number in the dataset from 0, such as 2, or 2.0 for the first part of a structure"
)]
pub struct MemberError(String);

impl Member {
    /// A member outside any structure, by its number in the dataset from 0.
    pub fn numbered(entry: u8) -> Self {
        Self { entry, part: None }
    }

    /// A part of a structure, by the numbers of the structure and the part, both from 0.
    pub fn part(entry: u8, part: u8) -> Self {
        Self {
            entry,
            part: Some(part),
        }
    }

    /// Value of the member in a message; `None` if it is absent or not a boolean.
    pub fn of(self, entries: Entries<'_>) -> Option<bool> {
        match self.value(entries)? {
            Data::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// True if the member reports a trip: a boolean that is true, or a position (Dbpos) that is open. `None` if it is
    /// absent, neither a boolean nor a position, or in an intermediate position.
    pub fn tripped(self, entries: Entries<'_>) -> Option<bool> {
        match self.value(entries)? {
            Data::Boolean(value) => Some(value),
            Data::BitString {
                unused: 6,
                bits: [bits],
            } => match bits >> 6 {
                OPEN => Some(true),
                CLOSED => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// The same, and of a position between the two what it was `before`.
    pub fn tripped_after(self, before: Option<bool>, entries: Entries<'_>) -> Option<bool> {
        let is_position = matches!(self.value(entries), Some(Data::BitString { unused: 6, bits: [_] }));
        self.tripped(entries).or(before.filter(|_| is_position))
    }

    fn value(self, mut entries: Entries<'_>) -> Option<Data<'_>> {
        let entry = entries.nth(usize::from(self.entry))?;
        match (self.part, entry) {
            (None, value) => Some(value),
            (Some(part), Data::Structure(mut parts)) => parts.nth(usize::from(part)),
            (Some(_), _) => None,
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
        let position = |bits: u8| Value::BitString {
            unused: 6,
            bits: vec![bits << 6],
        };
        let mut all_data = vec![
            Value::Boolean(false),
            Value::Structure(vec![Value::Integer(7), Value::Boolean(true)]),
        ];
        all_data.extend((0..4).map(position));
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
            ("9", None),
        ] {
            let member: Member = text.parse().expect(text);
            assert_eq!((member.of(entries), member.to_string().as_str()), (value, text));
        }
        let positions: Vec<Option<bool>> = (2..6).map(|entry| Member::numbered(entry).tripped(entries)).collect();
        assert_eq!(
            positions,
            [None, Some(true), Some(false), None],
            "between, open, closed, bad"
        );
        assert_eq!(Member::part(1, 1).tripped(entries), Some(true));
        assert!("x".parse::<Member>().is_err() && "1.2.3".parse::<Member>().is_err());
    }
}
