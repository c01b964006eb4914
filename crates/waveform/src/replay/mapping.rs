//! Assigns channels to members.

use super::phases::Phases;
use super::{Side, unit};
use crate::WaveformError;
use crate::comtrade::{AnalogChannel, ComtradeRecord, Values};
use crate::sample::{Dataset, Member, MemberRole, Quantity};
use units::{Refusal, refusal};

/// A member and its assigned channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Member: `Ia`.
    pub member: String,
    /// Channel: its name or its number in the record, with `-` in front to invert its sign, and `:` with a unit behind it that replaces the record's;
    /// `none` for a member of quality invalid.
    pub channel: String,
}

/// Reads `Ia=IA_GC1,Ib=2,Ic=-7,Un=none`.
///
/// # Errors
/// A part that is not `member=channel`.
pub fn parse_assignments(text: &str) -> Result<Vec<Assignment>, Refusal> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| match part.split_once('=') {
            Some((member, channel)) if !member.trim().is_empty() && !channel.trim().is_empty() => Ok(Assignment {
                member: member.trim().to_owned(),
                channel: channel.trim().to_owned(),
            }),
            _ => Err(refusal!(
                "\"{part}\" is not a channel of a member: write it as Ia=IA_GC1 (name), Ia=5 (number) or Ia=5:A (with its unit)"
            )),
        })
        .collect()
}

/// A channel and the factor to amperes or volts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Feed {
    /// Number of the analog channel, from 0.
    pub(super) channel: usize,
    /// Amperes or volts per unit of the channel.
    pub(super) factor: f64,
}

/// Source of a member's values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    Feed(Feed),
    /// No source, quality invalid; with the reason.
    Invalid(String),
    /// The sum of the phases.
    Sum,
    /// No channel exists: zero.
    Zero,
}

/// The origin of every member.
pub(super) fn origins(
    record: &ComtradeRecord,
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
    let [currents, voltages] = [Quantity::Current, Quantity::Voltage].map(|quantity| Phases::of(analog, quantity));
    let members = dataset.members().iter().zip(&assigned);
    let origins: Vec<Origin> = members
        .map(|(member, assigned)| match (assigned, member.quantity) {
            (Some("none"), _) => Ok(Origin::Invalid("as asked for".to_owned())),
            (Some(wanted), _) => asked_for(analog, member, wanted, side).map(Origin::Feed),
            (None, Quantity::Current) => by_phase(analog, &currents, member, side),
            (None, Quantity::Voltage) => by_phase(analog, &voltages, member, side),
        })
        .collect::<Result<_, _>>()?;
    let is_fed = origins.iter().any(|origin| matches!(origin, Origin::Feed(_)));
    if is_fed || assigned.iter().all(Option::is_some) {
        return Ok(origins);
    }
    Err(WaveformError::setting(format!(
        "no channel of the record is one of {}: name channels, such as {}=1 (have: {})",
        dataset.names(),
        dataset.members()[0].name,
        names(analog)
    )))
}

/// The channel of these words: its name or number, and a minus sign before it if it is inverted.
fn channel_of(analog: &[AnalogChannel], wanted: &str) -> Option<(usize, f64)> {
    let find = |wanted: &str| {
        let named = analog
            .iter()
            .position(|channel| channel.name.eq_ignore_ascii_case(wanted));
        named.or_else(|| {
            let number: u64 = wanted.parse().ok()?;
            analog.iter().position(|channel| channel.number == number)
        })
    };
    let upright = find(wanted).map(|channel| (channel, 1.0));
    upright.or_else(|| Some((find(wanted.strip_prefix('-')?.trim())?, -1.0)))
}

fn asked_for(analog: &[AnalogChannel], member: &Member, wanted: &str, side: Side) -> Result<Feed, WaveformError> {
    let (found, given) = match (channel_of(analog, wanted), wanted.rsplit_once(':')) {
        (None, Some((channel, unit))) => (channel_of(analog, channel.trim()), Some(unit.trim())),
        (found, _) => (found, None),
    };
    let Some((channel, sign)) = found else {
        return Err(WaveformError::setting(format!(
            "{}: the record has no analog channel \"{wanted}\" (have: {})",
            member.name,
            names(analog)
        )));
    };
    let recorded = &analog[channel].unit;
    let expected = match member.quantity {
        Quantity::Current => "A",
        Quantity::Voltage => "V",
    };
    let factor = match (unit::parse(given.unwrap_or(recorded)), given) {
        (Some((quantity, factor)), _) if quantity == member.quantity => factor,
        // If the recorder gave no unit, the user's explicit choice of the channel decides.
        (None, None) if recorded.is_empty() => 1.0,
        (_, Some(given)) => {
            return Err(WaveformError::setting(format!(
                "{}: \"{given}\" after the channel is no unit of it: expected {expected}, or k{expected}",
                member.name
            )));
        }
        (_, None) => {
            return Err(WaveformError::setting(format!(
                "{}: channel {} has the unit \"{recorded}\": expected {expected}; if it is one, write {}={}:{expected}",
                member.name, analog[channel].name, member.name, analog[channel].number
            )));
        }
    };
    Ok(Feed {
        channel,
        factor: sign * factor * ratio(&analog[channel], side)?,
    })
}

fn by_phase(
    analog: &[AnalogChannel],
    phases: &Phases<'_>,
    member: &Member,
    side: Side,
) -> Result<Origin, WaveformError> {
    let channel = match member.place {
        MemberRole::Phase(phase) => phases.phase(phase),
        MemberRole::Residual => phases.residual(),
        MemberRole::Further => return Ok(Origin::Zero),
    };
    if let Some(channel) = channel {
        return Ok(Origin::Feed(Feed {
            channel: channel.index,
            factor: channel.factor * ratio(&analog[channel.index], side)?,
        }));
    }
    if member.place == MemberRole::Residual {
        return Ok(Origin::Sum);
    }
    if let Some(why) = lacks(analog, phases, member.quantity) {
        return Ok(Origin::Invalid(why));
    }
    Err(WaveformError::setting(format!(
        "{}: no analog channel of the record has this phase and unit: name one, such as {}=1, or {}=none (have: {})",
        member.name,
        member.name,
        member.name,
        names(analog)
    )))
}

/// Reason why the record has no phase of `quantity`, if no channel is a candidate.
fn lacks(analog: &[AnalogChannel], phases: &Phases<'_>, quantity: Quantity) -> Option<String> {
    let what = match quantity {
        Quantity::Current => "current",
        Quantity::Voltage => "voltage",
    };
    if phases.is_empty() && analog.iter().all(|channel| !channel.unit.is_empty()) {
        return Some(format!("the record has no {what}"));
    }
    let is_between = !phases.has_any() && !phases.between.is_empty();
    is_between.then(|| {
        format!(
            "the record has no {what} of one phase ({} are between two)",
            phases.between.join(", ")
        )
    })
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
        .map(|channel| format!("{} {} [{}]", channel.number, channel.name, channel.unit))
        .collect();
    names.join(", ")
}
