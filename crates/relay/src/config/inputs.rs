//! `[[input]]` of a relay file.

use super::Config;
use super::file::Problem;
use super::names::free;
use serde::Deserialize;
use units::{Refusal, refusal};
use wire::goose::{MAX_NAME, Member};

/// A boolean that the relay subscribes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GooseInput {
    /// Name in the file.
    pub name: String,
    /// Control block whose messages have it.
    pub gocb_ref: String,
    /// Member of the dataset.
    pub member: Member,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct InputKeys {
    name: String,
    // The same keys as for a published control block.
    #[serde(rename = "gocb_ref")]
    gocb_ref: String,
    member: Option<String>,
}

impl InputKeys {
    /// Makes the input; its table begins at `start` in the text.
    pub(super) fn input(self, config: &Config, start: usize) -> Result<GooseInput, Problem> {
        let taken = config.inputs.iter().map(|input| &input.name);
        free("input", &self.name, taken).map_err(|problem| (start, problem))?;
        let here = |refusal: Refusal| (start, refusal.of(format_args!("input \"{}\"", self.name)));
        if !(1..=MAX_NAME).contains(&self.gocb_ref.len()) {
            return Err(here(refusal!("gocb_ref has 1 to {MAX_NAME} characters")));
        }
        let member = self.member.as_deref().unwrap_or("0");
        Ok(GooseInput {
            member: member
                .parse()
                .map_err(|error: wire::goose::MemberError| here(Refusal::new(error).of_key("member")))?,
            gocb_ref: self.gocb_ref,
            name: self.name,
        })
    }
}
