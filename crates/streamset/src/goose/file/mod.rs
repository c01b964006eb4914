//! The file of `publish --goose`: control blocks, their members, and the changes of members. See `docs/formats/goose-file.md`.

mod value;

use super::{Change, ControlBlock, USUAL_TIME_QUALITY};
use crate::values::{DEFAULT_PRIORITY, MacValue};
use serde::Deserialize;
use std::fmt::Display;
use toml::Spanned;
use units::{Refusal, Refuse, line_of, refusal};
use value::Type;
use wire::ether::{Mac, VlanTag};
use wire::goose::{Curve, Message, Value};
use wire::time::{TimeQuality, UtcTime};

/// Reads the control blocks of the file called `name`, whose text is `text`.
///
/// # Errors
/// Not TOML, an unknown key, or an impossible value.
pub fn parse(text: &str, name: &str) -> Result<Vec<ControlBlock>, Refusal> {
    let file: File = toml::from_str(text).refused_of(name)?;
    if file.goose.is_empty() {
        return Err(refusal!("no control block: add a table [[goose]]").of(name));
    }
    let at = |(offset, refusal): Problem| refusal.at_line(line_of(text, offset)).of(name);
    file.goose.iter().map(|block| block.build().map_err(at)).collect()
}

/// Place in the text, and the error.
pub type Problem = (usize, Refusal);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    goose: Vec<Block>,
}

/// The keys of one control block, which other kinds of files use, too.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    gocb_ref: String,
    dat_set: String,
    go_id: Option<String>,
    dst: MacValue,
    appid: u16,
    vlan: Option<u16>,
    #[serde(default = "usual_priority")]
    priority: u8,
    #[serde(default = "one")]
    conf_rev: u32,
    #[serde(default)]
    simulate: bool,
    #[serde(default)]
    nds_com: bool,
    #[serde(default = "one")]
    first_st_num: u32,
    #[serde(default = "one")]
    first_sq_num: u32,
    #[serde(default = "usual_time_quality")]
    time_quality: u8,
    min_time: Option<Span>,
    max_time: Option<Span>,
    tal_factor: Option<f64>,
    member: Spanned<Vec<Member>>,
    #[serde(default)]
    change: Vec<FileChange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    name: Spanned<String>,
    #[serde(rename = "type")]
    kind: Type,
    value: Option<Spanned<toml::Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChange {
    at: Span,
    every: Option<Spanned<Span>>,
    set: Spanned<toml::Table>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Span(u64);

impl TryFrom<String> for Span {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

fn one() -> u32 {
    1
}

fn usual_priority() -> u8 {
    DEFAULT_PRIORITY
}

fn usual_time_quality() -> u8 {
    USUAL_TIME_QUALITY.0
}

impl Block {
    /// The control block that the keys describe.
    ///
    /// # Errors
    /// An impossible value, and its place in the text.
    pub fn build(&self) -> Result<ControlBlock, Problem> {
        let here = self.member.span().start;
        let curve = self.curve().map_err(|problem| (here, problem))?;
        let quality = TimeQuality(self.time_quality);
        let values: Vec<Value> = self
            .members()
            .iter()
            .map(|member| member.first_value(quality))
            .collect::<Result<_, _>>()?;
        Ok(ControlBlock {
            message: self.message(values, quality).map_err(|problem| (here, problem))?,
            curve,
            changes: self
                .change
                .iter()
                .map(|change| self.change(change))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Names of the members in their order, each with its place in the text.
    pub fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        let members = self.members().iter();
        members.map(|member| (member.name.get_ref().as_str(), member.name.span().start))
    }

    fn members(&self) -> &[Member] {
        self.member.get_ref()
    }

    fn curve(&self) -> Result<Curve, Refusal> {
        let usual = Curve::default();
        let curve = Curve {
            first_ns: self.min_time.map_or(usual.first_ns, |time| time.0),
            last_ns: self.max_time.map_or(usual.last_ns, |time| time.0),
            tal_factor: self.tal_factor.unwrap_or(usual.tal_factor),
        };
        if curve.first_ns < 100_000 || curve.last_ns < curve.first_ns {
            return Err(self.said("min_time must be at least 100us, and at most max_time"));
        }
        if !(1.0..=1_000.0).contains(&curve.tal_factor) {
            return Err(self.said("tal_factor must be 1 to 1000: a stream must not expire before its next message"));
        }
        Ok(curve)
    }

    fn message(&self, all_data: Vec<Value>, quality: TimeQuality) -> Result<Message, Refusal> {
        if self.vlan.is_some_and(|vid| vid > 4_095) || self.priority > 7 {
            return Err(self.said("vlan is 0 to 4095, priority 0 to 7"));
        }
        let message = Message {
            dst: self.dst.0,
            src: Mac([0; 6]),
            tags: self
                .vlan
                .map(|vid| VlanTag::new(self.priority, false, vid))
                .into_iter()
                .collect(),
            appid: self.appid,
            simulate: self.simulate,
            gocb_ref: self.gocb_ref.as_bytes().to_vec(),
            time_allowed_to_live: 1,
            dat_set: self.dat_set.as_bytes().to_vec(),
            go_id: self.go_id.as_ref().map(|text| text.as_bytes().to_vec()),
            t: UtcTime::from_ns(0, quality),
            st_num: self.first_st_num,
            sq_num: self.first_sq_num,
            simulation: self.simulate,
            conf_rev: self.conf_rev,
            nds_com: self.nds_com,
            all_data,
        };
        match message.encode() {
            Ok(_) => Ok(message),
            Err(error) => Err(self.said(error)),
        }
    }

    fn said(&self, problem: impl Display) -> Refusal {
        Refusal::new(problem).of(format_args!("control block {}", self.gocb_ref))
    }

    fn change(&self, change: &FileChange) -> Result<Change, Problem> {
        if let Some(every) = change.every.as_ref().filter(|every| every.get_ref().0 < 1_000_000) {
            return Err((every.span().start, "every must be at least 1ms".into()));
        }
        let start = change.set.span().start;
        let set = change.set.get_ref().iter().map(|(name, value)| {
            let found = self.members().iter().position(|member| member.name.get_ref() == name);
            let index = found.ok_or_else(|| (start, self.no_such_member(name)))?;
            let member = &self.members()[index];
            let value = member
                .kind
                .value(value)
                .map_err(|wanted| (start, wanted.of_key(format_args!("set: {name}"))))?;
            let first = member.first_value(TimeQuality(self.time_quality))?;
            match value::octets(&value) == value::octets(&first) {
                true => Ok((index, value)),
                false => Err((
                    start,
                    refusal!("must take as many octets as its first value").of_key(format_args!("set: {name}")),
                )),
            }
        });
        Ok(Change {
            at_ns: change.at.0,
            every_ns: change.every.as_ref().map(|every| every.get_ref().0),
            set: set.collect::<Result<_, _>>()?,
        })
    }

    fn no_such_member(&self, name: &str) -> Refusal {
        let have: Vec<&str> = self
            .members()
            .iter()
            .map(|member| member.name.get_ref().as_str())
            .collect();
        self.said(format_args!("set: no member \"{name}\" (have: {})", have.join(", ")))
    }
}

impl Member {
    fn first_value(&self, quality: TimeQuality) -> Result<Value, Problem> {
        let Some(value) = &self.value else {
            let start = self.name.span().start;
            return self.kind.usual(quality).ok_or_else(|| {
                let name = self.name.get_ref();
                (
                    start,
                    refusal!("a value is missing").of(format_args!("member \"{name}\"")),
                )
            });
        };
        let found = self.kind.value(value.get_ref());
        found.map_err(|wanted| {
            (
                value.span().start,
                wanted.of(format_args!("member \"{}\"", self.name.get_ref())),
            )
        })
    }
}

#[cfg(test)]
mod tests;
