//! Which phase a channel is of.
//!
//! The phase fields decide if they name all three phases in one lettering; else the names of the channels do, if they name all
//! three. If neither does, single letters count, but not those of a field that is the same on all channels: some programs
//! write `A` or `1` on each.

use super::unit;
use crate::comtrade::AnalogChannel;
use crate::sample::Quantity;

/// What [`Phases`] calls the residual, behind the phases a, b and c.
pub(super) const RESIDUAL: usize = 3;

/// How the phases a, b and c are written.
const LETTERINGS: [[&str; 3]; 5] = [
    ["A", "B", "C"],
    ["AN", "BN", "CN"],
    ["L1", "L2", "L3"],
    ["R", "S", "T"],
    NUMBERS,
];

/// Phases only where all three are there: a field may be the number of an input, and I0, I1, I2 are symmetrical components.
const NUMBERS: [&str; 3] = ["1", "2", "3"];

/// The channels of one quantity.
#[derive(Debug)]
pub(super) struct Phases<'r> {
    channels: Vec<Channel<'r>>,
    /// There are phase fields, and they were passed over.
    pub(super) by_name: bool,
    /// Names of channels between two phases.
    pub(super) between: Vec<&'r str>,
}

/// A channel of the quantity.
#[derive(Debug)]
pub(super) struct Channel<'r> {
    /// Its place in the record, from 0.
    pub(super) index: usize,
    /// Amperes or volts of one of its unit.
    pub(super) factor: f64,
    /// 0 to 2, or [`RESIDUAL`].
    place: Option<usize>,
    /// The monitored component.
    component: &'r str,
    /// What its name has behind the phase.
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

/// What a field or a name says.
#[derive(Debug, Default)]
struct Word {
    /// The phase, in capitals; empty if it says none.
    phase: String,
    /// What the name has behind it.
    rest: String,
}

impl<'r> Phases<'r> {
    /// Of the channels whose unit is one of `quantity`.
    pub(super) fn of(analog: &'r [AnalogChannel], quantity: Quantity) -> Self {
        let mine: Vec<(usize, &AnalogChannel, f64)> = (0..)
            .zip(analog)
            .filter_map(|(index, channel)| Some((index, channel, factor(channel, quantity)?)))
            .collect();
        let words = |read: fn(&AnalogChannel, Quantity) -> Word| -> Vec<Word> {
            mine.iter().map(|(_, channel, _)| read(channel, quantity)).collect()
        };
        let (fields, names) = (words(in_field), words(in_name));
        let (by_name, lettering) = match (lettering(&fields), lettering(&names)) {
            (Some(fields), _) => (false, Some(fields)),
            (None, Some(names)) => (true, Some(names)),
            (None, None) => (fields_are_equal(analog), None),
        };
        let between: Vec<&str> = mine
            .iter()
            .zip(fields.iter().zip(&names))
            .filter(|(_, (field, name))| is_between(&field.phase) || is_between(&name.phase))
            .map(|((_, channel, _), _)| channel.name.as_str())
            .collect();
        let words = if by_name { names } else { fields };
        let has_d = words.iter().any(|word| word.phase == "D");
        let has_fields = mine.iter().any(|(_, channel, _)| !channel.phase.is_empty());
        Self {
            by_name: by_name && has_fields,
            between,
            channels: mine
                .iter()
                .zip(&words)
                .map(|((index, channel, factor), word)| Channel {
                    index: *index,
                    factor: *factor,
                    place: place(&word.phase, lettering, has_d),
                    component: &channel.component,
                    rest: word.rest.clone(),
                })
                .collect(),
        }
    }

    /// The channel of phase 0 to 2: the first of what phase a belongs to, or else the first one.
    pub(super) fn phase(&self, phase: usize) -> Option<&Channel<'r>> {
        let beside = |same| self.beside_a(phase, same).next();
        beside(Channel::has_circuit)
            .or_else(|| beside(Channel::has_component))
            .or_else(|| self.at(phase).next())
    }

    /// The channel of the residual: of the circuit of phase a, or where its component has no other circuit.
    pub(super) fn residual(&self) -> Option<&Channel<'r>> {
        let beside = |place| self.beside_a(place, Channel::has_component);
        let is_alone = (0..=RESIDUAL).all(|place| beside(place).count() <= 1);
        let of_circuit = self.beside_a(RESIDUAL, Channel::has_circuit).next();
        of_circuit.or_else(|| beside(RESIDUAL).next().filter(|_| is_alone))
    }

    /// Whether there is a channel of any phase.
    pub(super) fn has_any(&self) -> bool {
        (0..RESIDUAL).any(|phase| self.at(phase).next().is_some())
    }

    /// Whether no channel is of this quantity.
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// The channels of `place` that have the `same` as the first of phase a.
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

/// Amperes or volts of one of the channel's unit, if that is of `quantity`.
fn factor(channel: &AnalogChannel, quantity: Quantity) -> Option<f64> {
    unit::parse(&channel.unit).and_then(|(of, factor)| (of == quantity).then_some(factor))
}

/// Whether several currents and voltages all have one phase field.
fn fields_are_equal(analog: &[AnalogChannel]) -> bool {
    let mut fields = analog
        .iter()
        .filter(|channel| unit::parse(&channel.unit).is_some())
        .map(|channel| &channel.phase);
    let first = fields.next();
    let second = fields.next();
    first == second && fields.all(|field| Some(field) == first)
}

/// What the phase field says, or the name where the field is empty.
fn in_field(channel: &AnalogChannel, quantity: Quantity) -> Word {
    let name = in_name(channel, quantity);
    if channel.phase.is_empty() {
        return name;
    }
    let phase = channel.phase.to_ascii_uppercase();
    Word { phase, ..name }
}

/// What the name says: `IA_GC1`, `U L1`, `Ua2`, `3U0`.
fn in_name(channel: &AnalogChannel, quantity: Quantity) -> Word {
    let upper = channel.name.to_ascii_uppercase();
    let letters: &[char] = match quantity {
        Quantity::Current => &['I'],
        Quantity::Voltage => &['U', 'V'],
    };
    let (is_threefold, body) = match upper.strip_prefix('3') {
        Some(body) => (true, body),
        None => (false, upper.as_str()),
    };
    let Some(body) = body.strip_prefix(letters) else {
        return Word::default();
    };
    let body = body.trim_start_matches([' ', '_', '-']);
    let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
    let word = &body[..end];
    let phase = match word {
        "0" | "O" if is_threefold => "RES",
        _ if is_threefold => "",
        _ => without_number(word),
    };
    Word {
        phase: phase.to_owned(),
        rest: body[if is_threefold { end } else { phase.len() }..].to_owned(),
    }
}

/// `A` of `A2`: a number behind the letter is that of a circuit.
fn without_number(word: &str) -> &str {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_whole = letters.is_empty() || LETTERINGS.iter().flatten().any(|phase| *phase == word) || is_between(word);
    if is_whole { word } else { letters }
}

/// The lettering in which the words have all three phases.
fn lettering(words: &[Word]) -> Option<[&'static str; 3]> {
    let has = |phase: &&str| words.iter().any(|word| word.phase == *phase);
    LETTERINGS
        .into_iter()
        .find(|lettering| lettering.iter().all(|phase| has(&phase)))
}

/// The place of `phase` in `lettering`; without one, in any but numbers.
fn place(phase: &str, lettering: Option<[&str; 3]>, has_d: bool) -> Option<usize> {
    let is_residual = match phase {
        "N" | "G" | "RES" => true,
        // Ia to Ie are five currents in a row.
        "E" => !has_d,
        "0" | "O" => lettering == Some(NUMBERS),
        _ => false,
    };
    if is_residual {
        return Some(RESIDUAL);
    }
    let in_one = |lettering: &[&str; 3]| lettering.iter().position(|name| *name == phase);
    match lettering {
        Some(lettering) => in_one(&lettering),
        None => LETTERINGS.iter().filter(|other| **other != NUMBERS).find_map(in_one),
    }
}

/// Whether it names two phases: `AB`, `21`, `L12`, `L1L2`.
fn is_between(word: &str) -> bool {
    let short = match word.strip_prefix('L') {
        Some(rest) => rest.replace('L', ""),
        None => word.to_owned(),
    };
    let &[from, to] = short.as_bytes() else {
        return false;
    };
    from != to
        && [b"ABC", b"123", b"RST"]
            .iter()
            .any(|all| all.contains(&from) && all.contains(&to))
}

#[cfg(test)]
mod tests {
    use super::{Phases, RESIDUAL};
    use crate::comtrade::{AnalogChannel, Values};
    use crate::sample::Quantity;

    /// Channels from `field:name` in amperes.
    fn channels(texts: &[&str]) -> Vec<AnalogChannel> {
        let channel = |text: &&str| {
            let (phase, name) = text.split_once(':').expect("field:name");
            AnalogChannel {
                number: 1,
                name: name.into(),
                phase: phase.into(),
                component: String::new(),
                unit: "A".into(),
                gain: 1.0,
                offset: 0.0,
                skew_us: 0.0,
                primary: 1.0,
                secondary: 1.0,
                values: Values::Primary,
            }
        };
        texts.iter().map(channel).collect()
    }

    /// Places from 1 of the channels of the phases a, b, c and the residual; 0 where there is none.
    fn found(texts: &[&str]) -> [usize; 4] {
        let channels = channels(texts);
        let phases = Phases::of(&channels, Quantity::Current);
        [0, 1, 2, RESIDUAL].map(|place| {
            let channel = match place {
                RESIDUAL => phases.residual(),
                phase => phases.phase(phase),
            };
            channel.map_or(0, |channel| channel.index + 1)
        })
    }

    #[test]
    fn fields_that_name_the_phases_decide() {
        assert_eq!(found(&["C:IA", "B:IB", "A:IC", "N:x"]), [3, 2, 1, 4]);
        assert_eq!(found(&["L1:x", "L2:x", "L3:x", ":IN"]), [1, 2, 3, 4]);
        assert_eq!(found(&["1:x", "2:x", "3:x", "0:x"]), [1, 2, 3, 4]);
        assert_eq!(
            found(&["A:x", ":IB", "C:x"]),
            [1, 2, 3, 0],
            "a name where the field is empty"
        );
        assert_eq!(found(&["A:x"]), [1, 0, 0, 0], "one of one is not the same on all");
    }

    #[test]
    fn fields_that_say_nothing_leave_it_to_the_names() {
        assert_eq!(found(&["A:IA: w1", "A:IB: w2", "A:IC: w3"]), [1, 2, 3, 0]);
        assert_eq!(found(&["1:Ia", "1:Ib", "1:Ic", "1:Id", "1:Ie", "1:In1"]), [1, 2, 3, 6]);
        assert_eq!(
            found(&["7:I1", "8:I2", "9:I3", "1:I0"]),
            [1, 2, 3, 4],
            "numbers of inputs"
        );
        assert_eq!(found(&["A:IL1", "A:IL2", "B:IL3"]), [1, 2, 3, 0]);
        assert_eq!(found(&["A:x", "A:y", "A:z"]), [0; 4], "nor do the names");
        let channels = channels(&["A:IA", "A:IB", "A:IC"]);
        assert!(Phases::of(&channels, Quantity::Current).by_name);
    }

    #[test]
    fn numbers_without_the_others_are_no_phases() {
        assert_eq!(found(&[":I0", ":I1", ":I2"]), [0; 4], "symmetrical components");
        assert_eq!(found(&["0:I21", "1:I32", "6:Io"]), [0; 4]);
        assert_eq!(found(&[":I1", ":I2", ":I0", ":IA", ":IB", ":IC"]), [4, 5, 6, 0]);
    }

    #[test]
    fn a_residual_is_of_the_circuit_or_the_only_one() {
        assert_eq!(found(&[":IN2", ":IA1", ":IB1", ":IC1", ":IA2"]), [2, 3, 4, 0]);
        assert_eq!(found(&[":IN_2", ":IN_1", ":IA_1", ":IB_1", ":IC_1"]), [3, 4, 5, 2]);
        assert_eq!(found(&[":IA.1", ":IB.2", ":IC.3", ":3I0"]), [1, 2, 3, 4]);
        assert_eq!(found(&[":3IA", ":IA", ":IB", ":IC"]), [2, 3, 4, 0]);
        assert_eq!(found(&[":IA", ":IB", ":IC", ":IE"]), [1, 2, 3, 4]);
    }

    #[test]
    fn the_monitored_component_comes_before_the_rest_of_the_name() {
        let mut channels = channels(&["A:IA.1", "N:IN.4", "B:IB.6", "B:IB.2", "C:IC.3", "N:3Io.7"]);
        for (channel, component) in channels.iter_mut().zip(["bay", "other", "other", "bay", "bay", "bay"]) {
            channel.component = component.into();
        }
        let phases = Phases::of(&channels, Quantity::Current);
        let places = [0, 1, 2].map(|phase| phases.phase(phase).map(|channel| channel.index));
        assert_eq!(places, [Some(0), Some(3), Some(4)]);
        assert_eq!(phases.residual().map(|channel| channel.index), Some(5));
    }

    #[test]
    fn channels_between_phases_are_known() {
        let channels = channels(&[":IAB", ":I21", ":IL12", ":IL1L2", ":IA", ":I11", ":IABC"]);
        assert_eq!(
            Phases::of(&channels, Quantity::Current).between,
            ["IAB", "I21", "IL12", "IL1L2"]
        );
    }
}
