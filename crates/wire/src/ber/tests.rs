use super::{Element, Reader, Tag, integer_octets, nested, unsigned_octets, write_element};
use crate::frame_error::Rule;

fn read(bytes: &[u8]) -> Result<Element, Rule> {
    Reader::new(bytes, 0, 0).element().map_err(|error| error.rule)
}

#[test]
fn every_definite_form_is_accepted() {
    for head in [
        &[0x80, 2][..],
        &[0x80, 0x81, 2],
        &[0x80, 0x82, 0, 2],
        &[0x80, 0x84, 0, 0, 0, 2],
    ] {
        let bytes = [head, &[7, 8]].concat();
        let element = read(&bytes).unwrap();
        assert_eq!(
            (element.tag, &bytes[element.content..element.end]),
            (Tag(0x80), &[7, 8][..])
        );
    }
}

#[test]
fn lengths_that_are_refused() {
    assert_eq!(read(&[0x80, 0x80, 0, 0]), Err(Rule::IndefiniteLength));
    assert_eq!(read(&[0x80, 0xff, 0, 0]), Err(Rule::ReservedLength));
    assert_eq!(
        read(&[0x80, 0x85, 0, 0, 0, 0, 1, 0]),
        Err(Rule::LongLength { octets: 5 })
    );
    assert_eq!(read(&[0x80, 0x82, 0]), Err(Rule::LengthCut));
    assert_eq!(read(&[0x80]), Err(Rule::LengthCut));
    assert_eq!(read(&[]), Err(Rule::TagCut));
    assert_eq!(read(&[0x80, 3, 1, 2]), Err(Rule::Overrun { length: 3, left: 2 }));
    assert_eq!(
        read(&[0x80, 0x84, 0xff, 0xff, 0xff, 0xff]),
        Err(Rule::Overrun {
            length: u32::MAX,
            left: 0
        })
    );
}

#[test]
fn tags_of_several_octets() {
    let element = read(&[0x9f, 0x81, 0x02, 1, 5]).unwrap();
    assert_eq!((element.tag, element.content), (Tag(0x9f_8102), 4));
    assert!(element.tag.is_context());
    assert!(!Tag(0x62).is_context() && !Tag(0x5f_8102).is_context() && Tag(0xaf).is_context());
    assert_eq!(read(&[0x9f, 0xff, 0xff]), Err(Rule::TagCut));
    assert_eq!(read(&[0x9f, 0xff, 0xff, 0xff, 0x7f, 0]), Err(Rule::TagTooLong));
}

#[test]
fn a_reader_within_an_element_stops_at_its_end() {
    let bytes = [0x30, 3, 0x80, 1, 9, 0x81, 0];
    let mut reader = Reader::new(&bytes, 0, 100);
    let outer = reader.element().unwrap();
    let mut inner = reader.within(&outer);
    assert_eq!(inner.next_element().unwrap().unwrap().end, 5);
    assert_eq!(inner.next_element(), Ok(None));
    assert_eq!(reader.next_element().unwrap().unwrap().tag, Tag(0x81));
    assert_eq!(reader.error(5, Rule::NoApdu).offset, 105);
}

#[test]
fn lengths_are_written_minimally() {
    for (length, head) in [
        (0, &[0x87, 0][..]),
        (127, &[0x87, 127]),
        (128, &[0x87, 0x81, 128]),
        (256, &[0x87, 0x82, 1, 0]),
    ] {
        let mut out = Vec::new();
        write_element(&mut out, Tag(0x87), &vec![1; length]);
        assert_eq!(&out[..head.len()], head);
        assert_eq!(out.len(), head.len() + length);
        assert_eq!(read(&out).unwrap().len(), length);
    }
    let mut out = Vec::new();
    nested(&mut out, Tag(0x9f_8102), |inner| inner.push(1));
    assert_eq!(out, [0x9f, 0x81, 0x02, 1, 1]);
}

#[test]
fn integers_are_written_minimally() {
    let signed = |value| integer_octets(value).collect::<Vec<_>>();
    let unsigned = |value| unsigned_octets(value).collect::<Vec<_>>();
    assert_eq!(signed(0), [0]);
    assert_eq!(signed(-1), [0xff]);
    assert_eq!(signed(-129), [0xff, 0x7f]);
    assert_eq!(signed(128), [0, 0x80]);
    assert_eq!(signed(i64::MIN), i64::MIN.to_be_bytes());
    assert_eq!(unsigned(0), [0]);
    assert_eq!(unsigned(255), [0, 0xff]);
    assert_eq!(unsigned(u64::from(u32::MAX)), [0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(unsigned(u64::MAX).len(), 9);
}
