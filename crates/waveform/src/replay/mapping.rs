//! Which channel is which member.

use super::{Side, unit};
use crate::WaveformError;
use crate::comtrade::{AnalogChannel, Record, Values};
use crate::sample::{Dataset, Member, MemberRole, Quantity};

/// A member and the channel it is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Member: `Ia`.
    pub member: String,
    /// Channel: its name or its number from 1, `-` before it to turn its sign; `none` for a member of quality invalid.
    pub channel: String,
}

/// Reads `Ia=IA_GC1,Ib=2,Ic=-7,Un=none`.
///
/// # Errors
/// A part that is not `member=channel`.
pub fn parse_assignments(text: &str) -> Result<Vec<Assignment>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('=') {
            Some((member, channel)) if !member.trim().is_empty() && !channel.trim().is_empty() => Ok(Assignment {
                member: member.trim().to_owned(),
                channel: channel.trim().to_owned(),
            }),
            _ => Err(format!(
                "\"{part}\" is not a channel of a member: write it as Ia=IA_GC1 (name) or Ia=5 (number)"
            )),
        })
        .collect()
}

/// A channel and the factor to amperes or volts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Feed {
    /// Number of the analog channel, from 0.
    pub(super) channel: usize,
    /// Amperes or volts of one of its unit.
    pub(super) factor: f64,
}

/// Where a member's values come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Origin {
    Feed(Feed),
    /// Quality invalid, on request.
    Invalid,
    /// The sum of the phases.
    Sum,
    /// Nobody has it.
    Zero,
}

/// The origin of every member.
pub(super) fn origins(
    record: &Record,
    dataset: &Dataset,
    assignments: &[Assignment],
    side: Side,
) -> Result<Vec<Origin>, WaveformError> {
    let mut assigned: Vec<Option<&str>> = vec![None; dataset.members().len()];
    for assignment in assignments {
        let index = dataset
            .find(&assignment.member)
            .map_err(|error| WaveformError::setting(error.to_string()))?;
        assigned[index] = Some(&assignment.channel);
    }
    let analog = &record.config.analog;
    let members = dataset.members().iter().zip(&assigned);
    members
        .map(|(member, assigned)| match assigned {
            Some("none") => Ok(Origin::Invalid),
            Some(wanted) => asked_for(analog, member, wanted, side).map(Origin::Feed),
            None => by_phase(analog, member, side),
        })
        .collect()
}

fn asked_for(analog: &[AnalogChannel], member: &Member, wanted: &str, side: Side) -> Result<Feed, WaveformError> {
    let find = |wanted: &str| {
        let named = analog
            .iter()
            .position(|channel| channel.name.eq_ignore_ascii_case(wanted));
        named.or_else(|| {
            wanted
                .parse::<usize>()
                .ok()?
                .checked_sub(1)
                .filter(|index| *index < analog.len())
        })
    };
    let turned = wanted.strip_prefix('-').map(str::trim);
    let (channel, sign) = match (find(wanted), turned.and_then(find)) {
        (Some(channel), _) => (channel, 1.0),
        (None, Some(channel)) => (channel, -1.0),
        (None, None) => {
            return Err(WaveformError::setting(format!(
                "{}: the record has no analog channel \"{wanted}\" (have: {})",
                member.name,
                names(analog)
            )));
        }
    };
    let factor = match unit::parse(&analog[channel].unit) {
        Some((quantity, factor)) if quantity == member.quantity => factor,
        // A recorder that leaves the unit out leaves it to who asks for the channel.
        None if analog[channel].unit.is_empty() => 1.0,
        _ => {
            return Err(WaveformError::setting(format!(
                "{}: channel {} has the unit \"{}\": expected {}",
                member.name,
                analog[channel].name,
                analog[channel].unit,
                match member.quantity {
                    Quantity::Current => "A",
                    Quantity::Voltage => "V",
                }
            )));
        }
    };
    Ok(Feed {
        channel,
        factor: sign * factor * ratio(&analog[channel], side)?,
    })
}

fn by_phase(analog: &[AnalogChannel], member: &Member, side: Side) -> Result<Origin, WaveformError> {
    let wanted = match member.place {
        MemberRole::Phase(phase) => phase,
        MemberRole::Residual => NEUTRAL,
        MemberRole::Further => return Ok(Origin::Zero),
    };
    let of = |phase| {
        analog.iter().enumerate().filter_map(move |(index, channel)| {
            let (quantity, factor) = unit::parse(&channel.unit)?;
            (quantity == member.quantity && phase_of(channel, quantity) == Some(phase)).then_some((index, factor))
        })
    };
    // All phases of one component: a record has those of several feeders.
    let component = of(0).next().map(|(index, _)| analog[index].component.as_str());
    let same = of(wanted).find(|(index, _)| Some(analog[*index].component.as_str()) == component);
    match (same.or_else(|| of(wanted).next().filter(|_| wanted != NEUTRAL)), wanted) {
        (Some((channel, factor)), _) => Ok(Origin::Feed(Feed {
            channel,
            factor: factor * ratio(&analog[channel], side)?,
        })),
        (None, NEUTRAL) => Ok(Origin::Sum),
        (None, _) => Err(WaveformError::setting(format!(
            "{}: no analog channel of the record has this phase and unit: name one, such as {}=1, or {}=none (have: {})",
            member.name,
            member.name,
            member.name,
            names(analog)
        ))),
    }
}

/// What `phase_of` calls the residual.
const NEUTRAL: usize = 3;

/// Names of phases, in the order a, b, c, residual.
const PHASES: [&[&str]; 4] = [
    &["A", "L1", "R", "1", "AN"],
    &["B", "L2", "S", "2", "BN"],
    &["C", "L3", "T", "3", "CN"],
    &["N", "E", "G", "0", "RES"],
];

/// The phase of a channel, by its field or else by its name: `IA_GC1`, `U L1`.
fn phase_of(channel: &AnalogChannel, quantity: Quantity) -> Option<usize> {
    let named = |text: &str| PHASES.iter().position(|names| names.contains(&text));
    let field = channel.phase.to_ascii_uppercase();
    if !field.is_empty() {
        return named(&field);
    }
    let letters: &[char] = match quantity {
        Quantity::Current => &['I'],
        Quantity::Voltage => &['U', 'V'],
    };
    let upper = channel.name.to_ascii_uppercase();
    let rest = upper.strip_prefix(letters)?.trim_start_matches([' ', '_', '-']);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    named(&rest[..end])
}

fn ratio(channel: &AnalogChannel, side: Side) -> Result<f64, WaveformError> {
    if side == Side::AsRecorded || channel.values == Values::Primary {
        return Ok(1.0);
    }
    let ratio = channel.primary / channel.secondary;
    if ratio.is_finite() && ratio > 0.0 {
        return Ok(ratio);
    }
    Err(WaveformError::setting(format!(
        "channel {} has secondary values and the ratio {} to {}: correct it in the .cfg, or replay values as recorded",
        channel.name, channel.primary, channel.secondary
    )))
}

fn names(analog: &[AnalogChannel]) -> String {
    let names: Vec<String> = analog
        .iter()
        .zip(1..)
        .map(|(channel, number)| format!("{number} {} [{}]", channel.name, channel.unit))
        .collect();
    names.join(", ")
}
