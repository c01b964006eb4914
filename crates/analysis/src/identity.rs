//! Who a stream is.

use wire::ether::Mac;

/// What a stream carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    /// Sampled values (IEC 61850-9-2).
    SampledValues,
    /// GOOSE (IEC 61850-8-1).
    Goose,
    /// Audio, video or control streams of IEEE 1722.
    Avtp,
    /// The layer-2 test frames of this program.
    TestFrames,
}

impl StreamKind {
    /// The word for it in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::SampledValues => "sv",
            Self::Goose => "goose",
            Self::Avtp => "avtp",
            Self::TestFrames => "test",
        }
    }

    /// Whether its frames are due at equal intervals. GOOSE is not: it repeats itself slower and slower.
    pub fn is_periodic(self) -> bool {
        self != Self::Goose
    }
}

/// Everything that tells a stream from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What it carries.
    pub kind: StreamKind,
    /// Destination address.
    pub dst: Mac,
    /// VLAN identifier. Not part of what tells GOOSE streams apart.
    pub vid: Option<u16>,
    /// APPID, where there is one.
    pub appid: Option<u16>,
    /// svID or gocbRef as on the wire; stream id (8 octets) or session (4 octets).
    pub name: Vec<u8>,
}

impl Identity {
    /// The octets that tell the stream from others, appended to `key`.
    pub(crate) fn write_key(
        key: &mut Vec<u8>,
        kind: StreamKind,
        dst: Mac,
        vid: Option<u16>,
        appid: Option<u16>,
        name: &[u8],
    ) {
        let vid = vid.filter(|_| kind != StreamKind::Goose);
        key.push(kind as u8);
        key.extend_from_slice(&dst.0);
        // A VLAN identifier has 12 bits, so no tag is told from each of them.
        key.extend_from_slice(&vid.unwrap_or(u16::MAX).to_be_bytes());
        key.extend_from_slice(&appid.unwrap_or_default().to_be_bytes());
        key.extend_from_slice(name);
    }

    /// Its name for a person.
    pub fn label(&self) -> String {
        let hex = || self.name.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
        match self.kind {
            StreamKind::SampledValues | StreamKind::Goose => printable(&self.name),
            StreamKind::Avtp => format!("avtp-{}", hex()),
            StreamKind::TestFrames => format!("test-{}", hex()),
        }
    }
}

/// Names come from the network: what could move the cursor of a terminal is shown as `?`.
pub fn printable(name: &[u8]) -> String {
    name.iter()
        .map(|&octet| {
            if matches!(octet, 0x20..0x7f) {
                char::from(octet)
            } else {
                '?'
            }
        })
        .collect()
}
