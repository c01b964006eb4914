//! Values of a GOOSE dataset as JSON: `{"type": …, "value": …}`, with `raw` (hexadecimal) if a number or text would
//! lose something.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wire::goose::Data;

use crate::json::{Hex, Sequence, Text};

/// One value, with its type.
#[derive(Clone)]
pub(crate) struct Value<'a>(pub(super) Data<'a>);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Data::Array(entries) => pair(&mut map, "array", &Sequence(entries.map(Value))),
            Data::Structure(entries) => pair(&mut map, "structure", &Sequence(entries.map(Value))),
            Data::Boolean(value) => pair(&mut map, "boolean", &value),
            Data::BitString { unused, bits } => bit_string(&mut map, unused, bits),
            Data::Integer(value) => pair(&mut map, "integer", &value),
            Data::Unsigned(value) => pair(&mut map, "unsigned", &value),
            Data::Float32(value) => {
                pair(&mut map, "float32", &value)?;
                // The shortest decimal that reads back as this float32 is another number: show the bytes, too.
                let exact = value
                    .to_string()
                    .parse::<f64>()
                    .is_ok_and(|decimal| decimal == f64::from(value));
                if exact && value.is_finite() {
                    Ok(())
                } else {
                    raw(&mut map, &value.to_bits().to_be_bytes())
                }
            }
            Data::Float64(value) => {
                pair(&mut map, "float64", &value)?;
                // JSON has no infinity and no NaN: the value is null.
                if value.is_finite() {
                    Ok(())
                } else {
                    raw(&mut map, &value.to_bits().to_be_bytes())
                }
            }
            Data::OctetString(octets) => typed_raw(&mut map, "octetstring", octets),
            Data::VisibleString(text) => pair(&mut map, "visiblestring", &Text(text)),
            Data::BinaryTime(octets) => typed_raw(&mut map, "binarytime", octets),
            Data::UtcTime(time) => typed_raw(&mut map, "utctime", &time.to_bytes()),
            Data::Other { tag, octets } => {
                map.serialize_entry("type", "other")?;
                map.serialize_entry("tag", &tag.to_string())?;
                raw(&mut map, octets)
            }
        }?;
        map.end()
    }
}

fn pair<M: SerializeMap>(map: &mut M, kind: &'static str, value: &impl Serialize) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    map.serialize_entry("value", value)
}

fn raw<M: SerializeMap>(map: &mut M, octets: &[u8]) -> Result<(), M::Error> {
    map.serialize_entry("raw", &Hex(octets))
}

fn typed_raw<M: SerializeMap>(map: &mut M, kind: &'static str, octets: &[u8]) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    raw(map, octets)
}

fn bit_string<M: SerializeMap>(map: &mut M, unused: u8, bits: &[u8]) -> Result<(), M::Error> {
    let mut digits: String = bits.iter().map(|octet| format!("{octet:08b}")).collect();
    digits.truncate(digits.len().saturating_sub(usize::from(unused)));
    map.serialize_entry("type", "bitstring")?;
    map.serialize_entry("unused", &unused)?;
    map.serialize_entry("bytes", &Hex(bits))?;
    map.serialize_entry("bits", &digits)
}
