//! Publishing: a message encoded once, with numbers of constant width, and patched in place.

use super::message::Width;
use super::value::{narrow, wide};
use super::{Message, Value, data_tag, tag};
use crate::ber::{Element, Reader, Tag};
use crate::ether::EthernetView;
use crate::header::{EncodeError, Header, OCTETS, RESERVED1_AT};
use crate::time::UtcTime;

/// An encoded message and the positions of its changing fields. timeAllowedtoLive, stNum and sqNum take five octets
/// each (the fixed-length encoding of IEC 61850-8-1 Ed. 2). Patching allocates nothing and keeps the length.
#[derive(Debug, Clone)]
pub struct Template {
    frame: Vec<u8>,
    payload_at: usize,
    /// Elements of goosePdu, counted from APPID.
    fields: Vec<Element>,
    entries: Vec<Element>,
    /// Every UTC time in allData, at any depth.
    times: Vec<Element>,
}

impl Template {
    /// Encodes the message.
    ///
    /// # Errors
    /// The message cannot be encoded.
    pub fn new(message: &Message) -> Result<Self, EncodeError> {
        let frame = message.encode_with(Width::Fixed)?;
        // The encoder satisfies every rule, so this succeeds; a test checks that.
        let payload_at = EthernetView::parse(&frame).map_or(0, |ethernet| ethernet.payload_offset());
        let pdu = frame.get(payload_at..).unwrap_or_default();
        let mut outer = Reader::new(pdu, OCTETS, 0);
        let children = |reader: &mut Reader<'_>| std::iter::from_fn(|| reader.next_element().ok()?).collect::<Vec<_>>();
        let fields = outer
            .element()
            .map_or_else(|_| Vec::new(), |pdu| children(&mut outer.within(&pdu)));
        let all_data = fields.iter().find(|field| field.tag == tag::ALL_DATA);
        let entries = all_data.map_or_else(Vec::new, |all_data| children(&mut outer.within(all_data)));
        let mut times = Vec::new();
        let mut open = entries.clone();
        while let Some(element) = open.pop() {
            match element.tag {
                data_tag::UTC_TIME => times.push(element),
                data_tag::ARRAY | data_tag::STRUCTURE => open.extend(children(&mut outer.within(&element))),
                _ => {}
            }
        }
        Ok(Self {
            frame,
            payload_at,
            fields,
            entries,
            times,
        })
    }

    /// The message with its current contents, ready to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.frame
    }

    /// Sets timeAllowedtoLive, ms.
    pub fn set_time_allowed_to_live(&mut self, ms: u32) {
        self.set_number(tag::TIME_ALLOWED_TO_LIVE, ms);
    }

    /// Sets the time of the last change of state.
    pub fn set_t(&mut self, t: UtcTime) {
        if let Some(content) = self.field_mut(tag::T) {
            put(content, &t.to_bytes());
        }
    }

    /// Sets every UTC time in allData, including those in structures.
    pub fn set_times(&mut self, t: UtcTime) {
        for element in &self.times {
            if let Some(content) = content_mut(&mut self.frame, self.payload_at, element) {
                put(content, &t.to_bytes());
            }
        }
    }

    /// Sets the state number.
    pub fn set_st_num(&mut self, st_num: u32) {
        self.set_number(tag::ST_NUM, st_num);
    }

    /// Sets the sequence number.
    pub fn set_sq_num(&mut self, sq_num: u32) {
        self.set_number(tag::SQ_NUM, sq_num);
    }

    /// Sets or clears the simulate bit and the simulation flag together.
    pub fn set_simulation(&mut self, simulation: bool) {
        let bit = Header::SIMULATE.to_be_bytes()[0];
        if let Some(octet) = self.frame.get_mut(self.payload_at + RESERVED1_AT) {
            *octet = if simulation { *octet | bit } else { *octet & !bit };
        }
        if let Some(content) = self.field_mut(tag::SIMULATION) {
            put(content, &[if simulation { 0xff } else { 0 }]);
        }
    }

    /// Sets entry `index` of allData. The value must have the same type and length, which is always so for booleans,
    /// bit strings of one length, floating point, UTC time, numbers of 32 bits, and octet strings of one length.
    /// Otherwise returns false and changes nothing.
    pub fn set_entry(&mut self, index: usize, value: &Value) -> bool {
        let Some(&element) = self.entries.get(index) else {
            return false;
        };
        let Some(content) = content_mut(&mut self.frame, self.payload_at, &element) else {
            return false;
        };
        match (element.tag, value) {
            (data_tag::BOOLEAN, Value::Boolean(value)) => put(content, &[if *value { 0xff } else { 0 }]),
            (data_tag::BIT_STRING, Value::BitString { unused, bits }) => match content.split_first_mut() {
                Some((first, rest)) if first == unused => put(rest, bits),
                _ => false,
            },
            (data_tag::INTEGER, Value::Integer(value)) => put_number(content, i128::from(*value)),
            (data_tag::UNSIGNED, Value::Unsigned(value)) => put_number(content, i128::from(*value)),
            (data_tag::OCTET_STRING, Value::OctetString(octets))
            | (data_tag::VISIBLE_STRING, Value::VisibleString(octets))
            | (data_tag::BINARY_TIME, Value::BinaryTime(octets)) => put(content, octets),
            (data_tag::FLOAT, Value::Float32(value)) => put_float(content, 8, &value.to_bits().to_be_bytes()),
            (data_tag::FLOAT, Value::Float64(value)) => put_float(content, 11, &value.to_bits().to_be_bytes()),
            (data_tag::UTC_TIME, Value::UtcTime(time)) => put(content, &time.to_bytes()),
            _ => false,
        }
    }

    fn set_number(&mut self, tag: Tag, value: u32) {
        if let Some((_, low)) = self.field_mut(tag).and_then(<[u8]>::split_first_mut) {
            put(low, &value.to_be_bytes());
        }
    }

    fn field_mut(&mut self, tag: Tag) -> Option<&mut [u8]> {
        let element = *self.fields.iter().find(|field| field.tag == tag)?;
        content_mut(&mut self.frame, self.payload_at, &element)
    }
}

fn content_mut<'a>(frame: &'a mut [u8], payload_at: usize, element: &Element) -> Option<&'a mut [u8]> {
    frame.get_mut(payload_at + element.content..payload_at + element.end)
}

fn put(place: &mut [u8], octets: &[u8]) -> bool {
    let fits = place.len() == octets.len();
    if fits {
        place.copy_from_slice(octets);
    }
    fits
}

fn put_number(place: &mut [u8], number: i128) -> bool {
    narrow(&wide(number), place.len()).is_some_and(|octets| put(place, octets))
}

fn put_float(place: &mut [u8], exponent: u8, octets: &[u8]) -> bool {
    match place.split_first_mut() {
        Some((first, rest)) if *first == exponent => put(rest, octets),
        _ => false,
    }
}
