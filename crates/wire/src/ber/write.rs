//! Writing BER with minimal lengths.

use super::Tag;

/// Appends an element with the given content.
pub fn write_element(out: &mut Vec<u8>, tag: Tag, content: &[u8]) {
    write_tag(out, tag);
    write_length(out, content.len());
    out.extend_from_slice(content);
}

/// Appends an element whose content `fill` writes.
pub fn nested(out: &mut Vec<u8>, tag: Tag, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut content = Vec::new();
    fill(&mut content);
    write_element(out, tag, &content);
}

fn write_tag(out: &mut Vec<u8>, tag: Tag) {
    let octets = tag.0.to_be_bytes();
    let skip = octets.iter().take(3).take_while(|&&octet| octet == 0).count();
    out.extend(octets.iter().skip(skip));
}

fn write_length(out: &mut Vec<u8>, length: usize) {
    if let Ok(short @ 0..0x80) = u8::try_from(length) {
        out.push(short);
        return;
    }
    let octets = length.to_be_bytes();
    let skip = octets.iter().take_while(|&&octet| octet == 0).count();
    // At most 8 octets of length on any machine: the count fits the low seven bits.
    out.push(0x80 | (octets.len() - skip) as u8);
    out.extend(octets.iter().skip(skip));
}

/// The octets of a signed INTEGER: two's complement, as few octets as possible.
pub fn integer_octets(value: i64) -> impl Iterator<Item = u8> {
    let octets = value.to_be_bytes();
    let mut skip = 0;
    while skip < 7 {
        let sign_only = if octets[skip + 1] & 0x80 == 0 { 0x00 } else { 0xff };
        if octets[skip] != sign_only {
            break;
        }
        skip += 1;
    }
    octets.into_iter().skip(skip)
}

/// The octets of an unsigned number as INTEGER: as few as possible, with a leading 00 when the top bit would read as a
/// sign.
pub fn unsigned_octets(value: u64) -> impl Iterator<Item = u8> {
    let mut octets = [0; 9];
    octets[1..].copy_from_slice(&value.to_be_bytes());
    let mut skip = 0;
    while skip < 8 && octets[skip] == 0 && octets[skip + 1] & 0x80 == 0 {
        skip += 1;
    }
    octets.into_iter().skip(skip)
}
