//! Reads the phase fields and the names of channels.

use super::RESIDUAL;
use crate::comtrade::AnalogChannel;
use crate::sample::Quantity;

/// Notations of the phases a, b and c.
const LETTERINGS: [[&str; 3]; 5] = [
    ["A", "B", "C"],
    ["AN", "BN", "CN"],
    ["L1", "L2", "L3"],
    ["R", "S", "T"],
    NUMBERS,
];

/// Numbers count as phases only if all three exist: a field may be the number of an input, and I0, I1, I2 are symmetrical components.
pub(super) const NUMBERS: [&str; 3] = ["1", "2", "3"];

/// The meaning of a field or a name.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// The phase, in capitals; empty if there is none.
    pub(super) phase: String,
    /// The rest of the name.
    pub(super) rest: String,
}

/// Parses the phase field, or the name if the field is empty.
pub(super) fn in_field(channel: &AnalogChannel, quantity: Quantity) -> Word {
    let name = in_name(channel, quantity);
    if channel.phase.is_empty() {
        return name;
    }
    let phase = capitals(&channel.phase);
    Word { phase, ..name }
}

/// Parses the name: `IA_GC1`, `U L1`, `Ua2`, `3U0`.
pub(super) fn in_name(channel: &AnalogChannel, quantity: Quantity) -> Word {
    let upper = capitals(&channel.name);
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

/// Parses the last part of the name that begins with the letter of the quantity and goes on with a phase: `HV IR`, `F1-IA`, `LINE SUM ILA`.
pub(super) fn within_name(channel: &AnalogChannel, quantity: Quantity) -> Word {
    let letters: &[char] = match quantity {
        Quantity::Current => &['I'],
        Quantity::Voltage => &['U', 'V'],
    };
    last_part(channel, |part| {
        let body = part.strip_prefix(letters)?;
        let phase = match body.strip_prefix('L') {
            Some(phase) if phase.len() == 1 && !phase.starts_with(|c: char| c.is_ascii_digit()) => phase,
            _ => without_number(body),
        };
        is_phase(phase).then_some(phase)
    })
}

/// Parses the last part of the name that is a phase and nothing else: `BAY1 A`, `Phase L2`.
pub(super) fn bare_in_name(channel: &AnalogChannel, _: Quantity) -> Word {
    last_part(channel, |part| is_phase(part).then_some(part))
}

fn last_part(channel: &AnalogChannel, phase: impl Fn(&str) -> Option<&str>) -> Word {
    let upper = capitals(&channel.name);
    let parts: Vec<&str> = upper.split(|c: char| !c.is_alphanumeric()).collect();
    let found = (0..parts.len()).rev().find_map(|at| Some((at, phase(parts[at])?)));
    found.map_or_else(Word::default, |(at, phase)| {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
        let numbers = parts[at].trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = if phase.ends_with(numbers) { "" } else { numbers };
        let rest: Vec<&str> = others.map(|(_, part)| *part).chain([number]).collect();
        Word {
            phase: phase.to_owned(),
            rest: rest.join(" "),
        }
    })
}

/// True for a phase in letters, two of them, or the residual.
fn is_phase(word: &str) -> bool {
    let lettered = LETTERINGS.iter().filter(|lettering| **lettering != NUMBERS);
    matches!(word, "N" | "G" | "RES")
        || lettered.flatten().any(|phase| *phase == word)
        || is_between(word) && !is_number(word)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|octet| octet.is_ascii_digit())
}

/// A text in capitals; the Cyrillic letters that look like the phases A, B and C, of UTF-8 or of Windows-1251 read as ISO-8859-1, count as these.
fn capitals(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{410}' | '\u{430}' | '\u{c0}' | '\u{e0}' => 'A',
        '\u{412}' | '\u{432}' | '\u{c2}' | '\u{e2}' => 'B',
        '\u{421}' | '\u{441}' | '\u{d1}' | '\u{f1}' => 'C',
        other => other.to_ascii_uppercase(),
    };
    text.chars().map(letter).collect()
}

/// `A` from `A2`: a number after the letter belongs to a circuit.
fn without_number(word: &str) -> &str {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_whole = letters.is_empty() || LETTERINGS.iter().flatten().any(|phase| *phase == word) || is_between(word);
    if is_whole { word } else { letters }
}

/// The notation in which the words have all three phases.
pub(super) fn lettering(words: &[Word]) -> Option<[&'static str; 3]> {
    let has = |phase: &&str| words.iter().any(|word| word.phase == *phase);
    LETTERINGS.into_iter().find(|lettering| lettering.iter().all(has))
}

/// The index of `phase` in the notation `lettering`; without a notation, in any except numbers.
pub(super) fn place(phase: &str, lettering: Option<[&str; 3]>, has_d: bool) -> Option<usize> {
    let is_residual = match phase {
        "N" | "G" | "RES" => true,
        // Ia to Ie are five numbered currents.
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

/// True if the word names two phases: `AB`, `21`, `L12`, `L1L2`.
pub(super) fn is_between(word: &str) -> bool {
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
