//! The common stream header of AVTP (IEEE 1722-2016, 4.4.4): the fields that are needed to follow a stream.

/// EtherType of AVTP.
pub(crate) const ETHER_TYPE: u16 = 0x22f0;

/// First of the subtypes with a control or an alternative header, in which no stream is followed.
const FIRST_CONTROL_SUBTYPE: u8 = 0x80;

/// Stream identity and sequence number of an AVTP frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamHeader {
    pub(crate) subtype: u8,
    pub(crate) sequence_num: u8,
    pub(crate) stream_id: [u8; 8],
}

impl StreamHeader {
    /// Reads the part of a frame after the EtherType. `None` if it is not stream data, has no valid stream id (sv bit), or is cut.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let &[subtype, flags, sequence_num, _, a, b, c, d, e, f, g, h] = payload.first_chunk::<12>()?;
        let has_stream_id = flags & 0x80 != 0;
        (subtype < FIRST_CONTROL_SUBTYPE && has_stream_id).then_some(Self {
            subtype,
            sequence_num,
            stream_id: [a, b, c, d, e, f, g, h],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::StreamHeader;

    #[test]
    fn stream_data_only() {
        let mut payload = [2, 0x81, 7, 0, 0, 1, 2, 3, 4, 5, 0, 9, 99];
        let header = StreamHeader::parse(&payload).unwrap();
        assert_eq!((header.subtype, header.sequence_num), (2, 7));
        assert_eq!(header.stream_id, [0, 1, 2, 3, 4, 5, 0, 9]);
        assert_eq!(StreamHeader::parse(&payload[..11]), None, "cut");
        payload[0] = 0xfa;
        assert_eq!(StreamHeader::parse(&payload), None, "discovery");
        payload[0] = 2;
        payload[1] = 0x01;
        assert_eq!(StreamHeader::parse(&payload), None, "no stream id");
    }
}
