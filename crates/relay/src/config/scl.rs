//! `[scl]` of a relay file: streams and GOOSE control blocks from the station's SCL file.

use super::file::Problem;
use super::goose::{MOST, checked, feed};
use super::{Config, Feed, GooseOutput};
use scl::{Basic, Document, Member, Type};
use serde::Deserialize;
use std::collections::BTreeMap;
use streamset::goose::control_block;
use streamset::{StreamSpec, scl_stream};
use toml::Spanned;
use units::{Refusal, Refuse, refusal};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SclKeys {
    file: Spanned<String>,
    ied: Spanned<String>,
    #[serde(default, rename = "goose")]
    gooses: Vec<Spanned<GooseKeys>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GooseKeys {
    block: String,
    #[serde(default)]
    feed: BTreeMap<String, Spanned<String>>,
}

/// The station's file, and the IED of this relay in it.
pub(super) struct Station {
    document: Document,
    file: String,
    ied: String,
    /// Position of `[scl]` in the text of the relay's file.
    start: usize,
    frequency_hz: f64,
    gooses: Vec<Spanned<GooseKeys>>,
}

impl Station {
    /// Reads the file that `keys` name, by calling `read`.
    pub(super) fn of(
        keys: Spanned<SclKeys>,
        frequency_hz: f64,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, Refusal>,
    ) -> Result<Self, Problem> {
        let start = keys.span().start;
        let SclKeys { file, ied, gooses } = keys.into_inner();
        let at = file.span().start;
        let file = file.into_inner();
        let octets = read(&file).map_err(|problem| (at, problem.of_key("[scl] file")))?;
        let document =
            scl::parse_bytes(&octets).map_err(|error| (at, Refusal::new(error).of(format_args!("[scl] {file}"))))?;
        if !document.ieds.contains(ied.get_ref()) {
            let have = document.ieds.join(", ");
            let problem = refusal!("no IED {} (have: {have})", ied.get_ref()).of(format_args!("[scl] {file}"));
            return Err((ied.span().start, problem));
        }
        Ok(Self {
            document,
            file,
            ied: ied.into_inner(),
            start,
            frequency_hz,
            gooses,
        })
    }

    /// The streams that the IED subscribes to in its `ExtRef` elements.
    pub(super) fn subscribed(&self) -> Result<Vec<StreamSpec>, Problem> {
        let here = |refusal: Refusal| (self.start, refusal.of(format_args!("[scl] {}", self.file)));
        let blocks = self.document.subscribed(&self.ied);
        let blocks = blocks.refused().map_err(here)?;
        if blocks.is_empty() {
            return Err(here(refusal!(
                "IED {} subscribes to no sampled values (ExtRef): name control blocks, [[stream]] with name and scl = \"svID\" \
                 (have: {})",
                self.ied,
                self.sv_ids()
            )));
        }
        blocks.into_iter().map(|block| self.spec(block).map_err(here)).collect()
    }

    /// The stream of the control block with this svID or reference.
    pub(super) fn stream(&self, wanted: &str) -> Result<StreamSpec, Refusal> {
        let reference = |block: &scl::SampledValues| {
            let place = &block.place;
            format!("{}/{}$MS${}", place.ld_name, place.node, place.name)
        };
        let is_it = |block: &&scl::SampledValues| block.sv_id == wanted || reference(block) == wanted;
        let mut found = self.document.sampled_values.iter().filter(is_it);
        match (found.next(), found.next()) {
            (Some(block), None) => self.spec(block),
            (Some(one), Some(other)) => Err(refusal!(
                "{}: {wanted} is the svID of {} (line {}) and {} (line {}): write the reference of the wanted one",
                self.file,
                reference(one),
                one.place.line,
                reference(other),
                other.place.line
            )),
            (None, _) => Err(refusal!(
                "{}: no SampledValueControl with the svID or reference {wanted} (have: {}){}",
                self.file,
                self.sv_ids(),
                self.left_out(true, |_| true)
            )),
        }
    }

    fn sv_ids(&self) -> String {
        let ids: Vec<&str> = self
            .document
            .sampled_values
            .iter()
            .map(|block| block.sv_id.as_str())
            .collect();
        match ids.is_empty() {
            true => "none".to_owned(),
            false => ids.join(", "),
        }
    }

    /// The first control block that cannot be used, as an addition to the error that one was not found.
    fn left_out(&self, is_sampled_values: bool, is_meant: impl Fn(&str) -> bool) -> String {
        let mut left_out = self.document.left_out.iter();
        let first = left_out.find(|left| left.is_sampled_values == is_sampled_values && is_meant(&left.ied));
        first.map_or_else(String::new, |left| format!("; left out: {}", left.problem))
    }

    fn spec(&self, block: &scl::SampledValues) -> Result<StreamSpec, Refusal> {
        // Notes about the file concern its publisher, not the relay.
        scl_stream(block, &self.file, self.frequency_hz, &mut Vec::new())
            .map_err(|refusal| refusal.at_line(block.place.line as usize))
    }

    /// The control blocks that the relay publishes: those of its IED named in `[[scl.goose]]`.
    pub(super) fn outputs(&self, config: &Config) -> Result<Vec<GooseOutput>, Problem> {
        let one = |keys: &Spanned<GooseKeys>| self.output(keys.get_ref(), keys.span().start, config);
        let outputs: Vec<GooseOutput> = self.gooses.iter().map(one).collect::<Result<_, _>>()?;
        match config.gooses.len() + outputs.len() > MOST {
            true => Err((self.start, refusal!("more than {MOST} control blocks"))),
            false => Ok(outputs),
        }
    }

    fn output(&self, keys: &GooseKeys, start: usize, config: &Config) -> Result<GooseOutput, Problem> {
        let here = |refusal: Refusal| (start, refusal.of(format_args!("[[scl.goose]] {}", self.file)));
        let of_ied = || self.document.gooses.iter().filter(|goose| goose.place.ied == self.ied);
        let is_it = |goose: &&scl::Goose| goose.place.name == keys.block || goose.gocb_ref == keys.block;
        let goose = of_ied().find(is_it).ok_or_else(|| {
            let have: Vec<&str> = of_ied().map(|goose| goose.place.name.as_str()).collect();
            here(refusal!(
                "IED {} has no GSEControl {} (have: {}){}",
                self.ied,
                keys.block,
                have.join(", "),
                self.left_out(false, |ied| ied == self.ied)
            ))
        })?;
        let block = control_block(goose, false).map_err(here)?;
        let mut feeds = qualities(&goose.data_set.members);
        for (reference, signal) in &keys.feed {
            let at = signal.span().start;
            let problem = |refusal: Refusal| (at, refusal.of(format_args!("feed of \"{reference}\"")));
            let member = place(&goose.data_set.members, reference).map_err(problem)?;
            let feed = feed(signal.get_ref(), config).map_err(problem)?;
            let feed = feed.ok_or_else(|| {
                problem(refusal!(
                    "\"{}\" is not a state of this relay: write trip:NAME, start:NAME, operate:NAME, retrip:NAME, backtrip:NAME, \
                     input:NAME, health or quality",
                    signal.get_ref()
                ))
            })?;
            checked(&feed, &block.message.all_data[member]).map_err(problem)?;
            feeds.retain(|(other, _)| *other != member);
            feeds.push((member, feed));
        }
        Ok(GooseOutput { block, feeds })
    }
}

/// Makes quality members follow the quality of the relay, independent of other members.
fn qualities(members: &[Member]) -> Vec<(usize, Feed)> {
    let quality = |(place, member): (usize, &Member)| {
        (member.value == Type::Basic(Basic::Quality)).then_some((place, Feed::Quality))
    };
    members.iter().enumerate().filter_map(quality).collect()
}

/// Position of a member by its reference: `PTRC1.Tr.general`, or the full form `RELAY1LD0/PTRC1.Tr.general[ST]`.
fn place(members: &[Member], wanted: &str) -> Result<usize, Refusal> {
    let short = |member: &Member| {
        let behind = member
            .reference
            .split_once('/')
            .map_or(member.reference.as_str(), |(_, behind)| behind);
        behind.split('[').next().unwrap_or(behind).to_owned()
    };
    let is_it = |member: &Member| member.reference == wanted || short(member) == wanted;
    let found = members.iter().position(is_it).ok_or_else(|| {
        let have: Vec<String> = members.iter().map(short).collect();
        refusal!("no such member of the dataset (have: {})", have.join(", "))
    })?;
    match &members[found].value {
        Type::Structure(_) => Err(refusal!(
            "line {} of the SCL file: it is a whole data object: name its attribute in the dataset (daName) for it to follow something",
            members[found].line
        )),
        Type::Basic(_) => Ok(found),
    }
}
