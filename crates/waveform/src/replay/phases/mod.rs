//! Finds the phase of a channel.
//!
//! The phase fields are used if they name all three phases in one notation; otherwise the names of the channels are used, if they name all three: at
//! their beginning (`IA_GC1`), else in a later part (`HV IR`), else as a bare letter (`BAY1 A`).
//! Numbers in the fields have the lowest priority, because they may be those of inputs. If neither names all, single letters are used, except those
//! of a field that is the same on all channels: some programs write `A` or `1` on each.

mod word;

use super::unit;
use crate::comtrade::AnalogChannel;
use crate::sample::Quantity;
use word::{NUMBERS, Word, bare_in_name, in_field, in_name, is_between, lettering, place, within_name};

/// Index of the residual in [`Phases`], after the phases a, b and c.
pub(super) const RESIDUAL: usize = 3;

/// The channels of one quantity.
#[derive(Debug)]
pub(super) struct Phases<'r> {
    channels: Vec<Channel<'r>>,
    /// True if there are phase fields, but the names were used instead.
    pub(super) by_name: bool,
    /// Names of channels between two phases.
    pub(super) between: Vec<&'r str>,
}

/// A channel of the quantity.
#[derive(Debug)]
pub(super) struct Channel<'r> {
    /// Its index in the record, from 0.
    pub(super) index: usize,
    /// Amperes or volts per unit of the channel.
    pub(super) factor: f64,
    /// 0 to 2, or [`RESIDUAL`].
    place: Option<usize>,
    /// The monitored component.
    component: &'r str,
    /// The rest of its name without the phase.
    rest: String,
}

impl Channel<'_> {
    fn has_component(&self, other: &Self) -> bool {
        self.component == other.component
    }

    fn has_circuit(&self, other: &Self) -> bool {
        self.has_component(other) && self.rest == other.rest
    }
}

impl<'r> Phases<'r> {
    /// Finds the channels whose unit belongs to `quantity`.
    pub(super) fn of(analog: &'r [AnalogChannel], quantity: Quantity) -> Self {
        let mine: Vec<(usize, &AnalogChannel, f64)> = (0..)
            .zip(analog)
            .filter_map(|(index, channel)| Some((index, channel, factor(channel, quantity)?)))
            .collect();
        let words = |read: fn(&AnalogChannel, Quantity) -> Word| -> Vec<Word> {
            mine.iter().map(|(_, channel, _)| read(channel, quantity)).collect()
        };
        let (fields, mut names) = (words(in_field), words(in_name));
        if lettering(&names).is_none() {
            names = deeper(words(within_name), names);
        }
        if lettering(&names).is_none() && lettering(&fields).is_none() {
            names = deeper(words(bare_in_name), names);
        }
        let between = mine
            .iter()
            .zip(fields.iter().zip(&names))
            .filter(|(_, (field, name))| is_between(&field.phase) || is_between(&name.phase))
            .map(|((_, channel, _), _)| channel.name.as_str())
            .collect();
        let (by_name, lettering) = choice(&fields, &names, analog);
        let words = if by_name { names } else { fields };
        let has_d = words.iter().any(|word| word.phase == "D");
        let channel = |((index, channel, factor), word): (&(usize, &'r AnalogChannel, f64), Word)| Channel {
            index: *index,
            factor: *factor,
            place: place(&word.phase, lettering, has_d),
            component: &channel.component,
            rest: word.rest,
        };
        Self {
            by_name: by_name && mine.iter().any(|(_, channel, _)| !channel.phase.is_empty()),
            between,
            channels: mine.iter().zip(words).map(channel).collect(),
        }
    }

    /// The channel of phase 0 to 2: the first in the same circuit as phase a, otherwise the first one.
    pub(super) fn phase(&self, phase: usize) -> Option<&Channel<'r>> {
        let beside = |same| self.beside_a(phase, same).next();
        beside(Channel::has_circuit)
            .or_else(|| beside(Channel::has_component))
            .or_else(|| self.at(phase).next())
    }

    /// The channel of the residual: in the circuit of phase a, or if its component has no other circuit.
    pub(super) fn residual(&self) -> Option<&Channel<'r>> {
        let beside = |place| self.beside_a(place, Channel::has_component);
        let is_alone = (0..=RESIDUAL).all(|place| beside(place).count() <= 1);
        let of_circuit = self.beside_a(RESIDUAL, Channel::has_circuit).next();
        of_circuit.or_else(|| beside(RESIDUAL).next().filter(|_| is_alone))
    }

    /// True if there is a channel of any phase.
    pub(super) fn has_any(&self) -> bool {
        (0..RESIDUAL).any(|phase| self.at(phase).next().is_some())
    }

    /// True if no channel is of this quantity.
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// The channels of `place` for which `same` gives the same as for the first of phase a.
    fn beside_a(
        &self,
        place: usize,
        same: fn(&Channel<'r>, &Channel<'r>) -> bool,
    ) -> impl Iterator<Item = &Channel<'r>> {
        let a = self.at(0).next();
        self.at(place)
            .filter(move |channel| a.is_some_and(|a| same(channel, a)))
    }

    fn at(&self, place: usize) -> impl Iterator<Item = &Channel<'r>> {
        self.channels.iter().filter(move |channel| channel.place == Some(place))
    }
}

/// The words of another part of the names, if they have all three phases; else those so far.
fn deeper(words: Vec<Word>, so_far: Vec<Word>) -> Vec<Word> {
    if lettering(&words).is_some() { words } else { so_far }
}

/// Amperes or volts per unit of the channel, if the unit belongs to `quantity`.
fn factor(channel: &AnalogChannel, quantity: Quantity) -> Option<f64> {
    unit::parse(&channel.unit).and_then(|(of, factor)| (of == quantity).then_some(factor))
}

/// Returns true if phases are taken from the channels' names and false if from their phase fields, and the three letters of the phases
/// there; `None` for the letters if neither names all three phases.
fn choice(fields: &[Word], names: &[Word], analog: &[AnalogChannel]) -> (bool, Option<[&'static str; 3]>) {
    match (lettering(fields), lettering(names)) {
        (Some(NUMBERS), Some(names)) | (None, Some(names)) => (true, Some(names)),
        (Some(fields), _) => (false, Some(fields)),
        (None, None) => (fields_are_equal(analog), None),
    }
}

/// True if several currents and voltages all have the same phase field.
fn fields_are_equal(analog: &[AnalogChannel]) -> bool {
    let mut fields = analog
        .iter()
        .filter(|channel| unit::parse(&channel.unit).is_some())
        .map(|channel| &channel.phase);
    let first = fields.next();
    let second = fields.next();
    first == second && fields.all(|field| Some(field) == first)
}

#[cfg(test)]
mod tests;
