//! The quantities in a dataset of sampled values.

use crate::model::{Basic, DataSet, Member};
use units::{Refusal, refusal};

/// The quantity that a channel measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A current.
    Current,
    /// A voltage.
    Voltage,
}

/// One INT32 value with its quality.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// The measured quantity.
    pub quantity: Quantity,
    /// Reference of the value, such as `MU01LD0/TCTR1.AmpSv.instMag.i[MX]`.
    pub reference: String,
}

/// The channels of an ASDU, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(pub Vec<Channel>);

impl Layout {
    /// Number of currents and voltages.
    pub fn counts(&self) -> (usize, usize) {
        let currents = self
            .0
            .iter()
            .filter(|channel| channel.quantity == Quantity::Current)
            .count();
        (currents, self.0.len() - currents)
    }
}

impl DataSet {
    /// The channels, if the dataset consists of INT32 values of currents and voltages, each followed by its quality.
    ///
    /// # Errors
    /// Names the first other member, with its line.
    pub fn layout(&self) -> Result<Layout, Refusal> {
        let mut leaves = self
            .members
            .iter()
            .flat_map(|member| member.leaves().into_iter().map(move |leaf| (member, leaf)));
        let mut channels = Vec::new();
        while let Some((member, (path, basic))) = leaves.next() {
            let line = member.line;
            let name = value_name(member, &path);
            if basic != Basic::Integer(32) {
                return Err(refusal!(
                    "dataset {}, line {line}: {name} is {basic}, not an INT32 value of a current or a voltage",
                    self.name
                ));
            }
            let quantity = quantity(member, &name).ok_or_else(|| {
                refusal!(
                    "dataset {}, line {line}: {name} is neither a current (TCTR) nor a voltage (TVTR)",
                    self.name
                )
            })?;
            if !matches!(leaves.next(), Some((_, (_, Basic::Quality)))) {
                return Err(refusal!(
                    "dataset {}, line {line}: {name} is not followed by its quality (q)",
                    self.name
                ));
            }
            channels.push(Channel {
                quantity,
                reference: name,
            });
        }
        if channels.is_empty() {
            return Err(refusal!("dataset {} has no members", self.name));
        }
        Ok(Layout(channels))
    }

    /// Number of octets of seqData; `None` if the type of a member is not known or has no fixed length.
    pub fn sv_octets(&self) -> Option<usize> {
        let leaves = self.members.iter().flat_map(Member::leaves);
        leaves.map(|(_, basic)| basic.sv_octets()).sum()
    }
}

fn value_name(member: &Member, path: &str) -> String {
    if path.is_empty() {
        return member.reference.clone();
    }
    match member.reference.split_once('[') {
        Some((reference, fc)) => format!("{reference}.{path}[{fc}"),
        None => format!("{}.{path}", member.reference),
    }
}

/// The quantity by the class of the logical node, or by the name of the data object.
fn quantity(member: &Member, name: &str) -> Option<Quantity> {
    match member.ln_class.as_str() {
        "TCTR" => return Some(Quantity::Current),
        "TVTR" => return Some(Quantity::Voltage),
        _ => {}
    }
    let (_, path) = name.split_once('.')?;
    let is = |starts: &[&str]| starts.iter().any(|start| path.starts_with(start));
    if is(&["Amp", "A."]) {
        Some(Quantity::Current)
    } else if is(&["Vol", "PhV.", "PPV.", "V."]) {
        Some(Quantity::Voltage)
    } else {
        None
    }
}
