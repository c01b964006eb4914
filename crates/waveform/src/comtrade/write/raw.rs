//! Conversion of values to the file's numbers.

use super::channel::Range;
use super::{FileType, Written};

/// The number of a value, as written; `None` if it is missing.
pub(super) fn raw(value: f64, range: &Range, file_type: FileType, written: &mut Written) -> Option<f64> {
    if !value.is_finite() {
        written.missing += 1;
        return None;
    }
    let exact = (value - range.offset) / range.gain;
    let number = if file_type == FileType::Float32 {
        exact
    } else {
        exact.round_ties_even()
    };
    let clipped = number.clamp(-range.most, range.most);
    written.clipped += u64::from(clipped != number);
    Some(clipped)
}

/// Appends a number to binary data.
pub(super) fn put(number: Option<f64>, file_type: FileType, octets: &mut Vec<u8>) {
    // The casts are exact: the number is an integer within the range.
    match file_type {
        FileType::Binary => octets.extend(number.map_or(i16::MIN, |number| number as i16).to_le_bytes()),
        FileType::Binary32 => octets.extend(number.map_or(i32::MIN, |number| number as i32).to_le_bytes()),
        FileType::Float32 => octets.extend(number.map_or(f32::NAN, |number| number as f32).to_le_bytes()),
        FileType::Ascii => octets.extend(number.map_or(99_999, |number| number as i32).to_string().into_bytes()),
    }
}

/// Appends states to binary data: words of sixteen, the first in the lowest bit.
pub(super) fn put_states(states: &[bool], octets: &mut Vec<u8>) {
    for word in states.chunks(16) {
        let bits = word.iter().zip(0..).map(|(state, bit)| u16::from(*state) << bit);
        octets.extend(bits.fold(0, |word, bit| word | bit).to_le_bytes());
    }
}
