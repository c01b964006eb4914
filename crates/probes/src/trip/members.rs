//! Members of the relay's dataset, given by number or by a name from an SCL file.

use crate::error::ProbeError;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;
use streamset::goose::NamedMembers;
use wire::goose::{Member, MemberError};

/// A member as the user gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum MemberName {
    /// By number.
    Numbered(Member),
    /// By name in an SCL file, such as `PTRC1.Tr.general`.
    Named(String),
}

impl FromStr for MemberName {
    type Err = MemberError;

    fn from_str(text: &str) -> Result<Self, MemberError> {
        let is_name = text.contains('.') && text.starts_with(|first: char| first.is_ascii_alphabetic());
        match text.parse() {
            Ok(member) => Ok(Self::Numbered(member)),
            Err(_) if is_name => Ok(Self::Named(text.to_owned())),
            Err(error) => Err(error),
        }
    }
}

impl TryFrom<String> for MemberName {
    type Error = MemberError;

    fn try_from(text: String) -> Result<Self, MemberError> {
        text.parse()
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbered(member) => member.fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A member for a zone or function, with the name that scenarios use: `zone1=3`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FunctionMember {
    pub(super) function: String,
    pub(super) member: MemberName,
}

impl FromStr for FunctionMember {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('=')
            .map(|(function, member)| (function.trim(), member.trim()));
        let Some((function, member)) = parts.filter(|(function, _)| !function.is_empty()) else {
            return Err(format!(
                "\"{text}\" is not a function with its member: write it as zone1=3"
            ));
        };
        Ok(Self {
            function: function.to_owned(),
            member: member.parse().map_err(|error: MemberError| error.to_string())?,
        })
    }
}

impl TryFrom<String> for FunctionMember {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Finder of members.
pub(super) struct Finder {
    scl: Option<NamedMembers>,
    /// The relay's control block.
    pub(super) goose: Option<String>,
}

impl Finder {
    /// Uses the SCL file at this path, if there is one, for the named control block, or else for the only one in the file.
    pub(super) fn new(scl: Option<&str>, goose: Option<String>) -> Result<Self, ProbeError> {
        let Some(path) = scl else {
            return Ok(Self { scl: None, goose });
        };
        let octets = std::fs::read(path).map_err(|error| ProbeError::Usage(format!("trip: {path}: {error}")))?;
        let named = NamedMembers::of_scl(&octets, path).map_err(|error| usage(&error))?;
        let block = named.block(goose.as_deref()).map_err(|error| usage(&error))?;
        Ok(Self {
            goose: Some(block.gocb_ref.clone()),
            scl: Some(named),
        })
    }

    pub(super) fn find(&self, name: &MemberName) -> Result<Member, ProbeError> {
        match (name, &self.scl) {
            (MemberName::Numbered(member), _) => Ok(*member),
            (MemberName::Named(name), Some(scl)) => {
                let block = scl.block(self.goose.as_deref()).map_err(|error| usage(&error))?;
                scl.find(block, name).map_err(|error| usage(&error))
            }
            (MemberName::Named(name), None) => Err(ProbeError::Usage(format!(
                "trip: member {name}: give the SCL file that has this name (--scl), or its number in the dataset, from 0"
            ))),
        }
    }
}

fn usage(error: &units::Refusal) -> ProbeError {
    ProbeError::Usage(format!("trip: {error}"))
}
