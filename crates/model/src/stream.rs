//! Identity and name of a stream: every measurement of it uses the same identity and label.

use std::collections::HashMap;
use units::FreeNames;
use wire::ether::Mac;

/// Length in bytes of the longest name: an svID or a gocbRef (IEC 61850-8-1: 129).
pub const MAX_NAME: usize = 129;

/// The protocol of a stream.
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
    /// The word in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::SampledValues => "sv",
            Self::Goose => "goose",
            Self::Avtp => "avtp",
            Self::TestFrames => "test",
        }
    }

    /// True if its frames are due at equal intervals. GOOSE frames are not: they repeat at growing intervals.
    pub fn is_periodic(self) -> bool {
        self != Self::Goose
    }
}

/// Identity of a stream, as far as it is known where it is measured. Contains no pointers, so that a measuring thread can keep and
/// pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId {
    /// Its protocol.
    pub kind: StreamKind,
    /// Destination address; `None` if it is not known, or does not distinguish streams.
    pub destination: Option<Mac>,
    /// Source address, if it distinguishes streams.
    pub source: Option<Mac>,
    /// VLAN identifier. `None`: no tag, or not known, or it does not distinguish streams (GOOSE).
    pub vid: Option<u16>,
    /// APPID; AVTP and test frames have none.
    pub appid: Option<u16>,
    /// svID or gocbRef; for AVTP the stream id (8 octets), for test frames the session (4 octets): as on the wire.
    pub name: StreamName,
}

/// A name as on the wire: at most [`MAX_NAME`] octets. Names that differ only by a trailing NUL are different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamName {
    length: u8,
    octets: [u8; MAX_NAME],
}

impl StreamName {
    /// Makes the name; anything beyond [`MAX_NAME`] is cut.
    pub fn of(name: &[u8]) -> Self {
        let length = name.len().min(MAX_NAME);
        let mut octets = [0; MAX_NAME];
        octets[..length].copy_from_slice(&name[..length]);
        Self {
            length: u8::try_from(length).unwrap_or(u8::MAX),
            octets,
        }
    }
}

impl StreamId {
    /// Makes a stream of which only the kind and the name are known.
    pub fn named(kind: StreamKind, name: &[u8]) -> Self {
        Self {
            kind,
            destination: None,
            source: None,
            vid: None,
            appid: None,
            name: StreamName::of(name),
        }
    }

    /// The bytes of its name.
    pub fn name(&self) -> &[u8] {
        &self.name.octets[..usize::from(self.name.length).min(MAX_NAME)]
    }

    /// True if the two are the same except for their VLAN, whose tag a frame can lose or get on its way.
    pub fn is_same_but_vlan(&self, other: &Self) -> bool {
        Self { vid: None, ..*self } == Self { vid: None, ..*other }
    }

    /// True if the two, seen at two places, may be the same stream: no field known of both differs.
    pub fn may_be(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.name() == other.name()
            && agree(self.destination, other.destination)
            && agree(self.source, other.source)
            && agree(self.vid, other.vid)
            && agree(self.appid, other.appid)
    }

    /// Its label if no other stream has that name.
    pub fn plain_label(&self) -> String {
        let hex = || {
            self.name()
                .iter()
                .map(|octet| format!("{octet:02x}"))
                .collect::<String>()
        };
        match self.kind {
            StreamKind::SampledValues | StreamKind::Goose => String::from_utf8_lossy(self.name()).into_owned(),
            StreamKind::Avtp => format!("avtp-{}", hex()),
            StreamKind::TestFrames => format!("test-{}", hex()),
        }
    }
}

fn agree<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.zip(b).is_none_or(|(a, b)| a == b)
}

/// The labels of a run's streams. The same stream has the same label wherever it is measured and whichever place saw it first; of
/// streams with one name, the second is `MU01#2`.
#[derive(Debug, Clone, Default)]
pub struct StreamLabels {
    names: HashMap<StreamKind, FreeNames>,
    given: HashMap<StreamId, String>,
    seen: Vec<(Observer, StreamId)>,
}

/// A place that measures streams: one socket, or one host's tracing. There, different identities are different streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observer(pub u32);

impl StreamLabels {
    /// Returns the label of `stream`, as `observer` sees it.
    ///
    /// Elsewhere on its way a stream may have another VLAN, or none, and its source may be unknown. It counts as a stream of
    /// another observer if it can be only that one.
    pub fn label(&mut self, observer: Observer, stream: &StreamId) -> String {
        let label = match self.given.get(stream) {
            Some(label) => label.clone(),
            None => self.elsewhere(observer, stream).unwrap_or_else(|| {
                let names = self.names.entry(stream.kind).or_default();
                names.take(&stream.plain_label())
            }),
        };
        if !self.seen.contains(&(observer, *stream)) {
            self.seen.push((observer, *stream));
            self.given.insert(*stream, label.clone());
        }
        label
    }

    /// The label of the one stream of other observers that it can be.
    fn elsewhere(&self, observer: Observer, stream: &StreamId) -> Option<String> {
        let label_of = |other: &StreamId| self.given.get(other);
        let here: Vec<&String> = self
            .seen
            .iter()
            .filter(|(at, _)| *at == observer)
            .filter_map(|(_, own)| label_of(own))
            .collect();
        let fits = |(at, other): &&(Observer, StreamId)| {
            *at != observer && stream.may_be(other) && label_of(other).is_some_and(|label| !here.contains(&label))
        };
        let others: Vec<&StreamId> = self.seen.iter().filter(fits).map(|(_, other)| other).collect();
        let first = others.first()?;
        // A stream that is not distinguished by its source represents all sources of its identity.
        let is_one = |other: &&StreamId| {
            label_of(other) == label_of(first) || stream.source.is_none() && is_same_but_source(other, first)
        };
        others.iter().all(is_one).then(|| label_of(first).cloned()).flatten()
    }
}

fn is_same_but_source(one: &StreamId, other: &StreamId) -> bool {
    StreamId { source: None, ..*one } == StreamId { source: None, ..*other }
}

#[cfg(test)]
mod tests {
    use super::{Observer, StreamId, StreamKind, StreamLabels};
    use wire::ether::Mac;

    const SOCKET: Observer = Observer(0);
    const KERNEL: Observer = Observer(1);

    fn sv(last: u8, vid: Option<u16>, name: &str) -> StreamId {
        StreamId {
            destination: Some(Mac([1, 0x0c, 0xcd, 4, 0, last])),
            vid,
            appid: Some(0x4000),
            ..StreamId::named(StreamKind::SampledValues, name.as_bytes())
        }
    }

    fn from(last: u8, stream: StreamId) -> StreamId {
        StreamId {
            source: Some(Mac([2, 0, 0, 0, 0, last])),
            ..stream
        }
    }

    #[test]
    fn a_stream_has_one_label_wherever_it_is_measured_and_whoever_saw_it_first() {
        let mut labels = StreamLabels::default();
        let (first, second) = (sv(1, None, "MU01"), sv(2, None, "MU01"));
        assert_eq!(labels.label(SOCKET, &first), "MU01");
        assert_eq!(labels.label(SOCKET, &second), "MU01#2");
        assert_eq!(labels.label(KERNEL, &from(8, second)), "MU01#2");
        assert_eq!(labels.label(KERNEL, &from(9, first)), "MU01");
        // A plan with several rounds receives them again, in another order.
        assert_eq!(labels.label(Observer(2), &second), "MU01#2");
        assert_eq!(labels.label(Observer(2), &first), "MU01");
    }

    #[test]
    fn a_tag_that_is_lost_on_the_way_makes_no_other_stream() {
        let mut labels = StreamLabels::default();
        assert_eq!(labels.label(KERNEL, &sv(1, Some(100), "MU01")), "MU01");
        assert_eq!(labels.label(SOCKET, &sv(1, None, "MU01")), "MU01");
        assert_eq!(
            labels.label(KERNEL, &sv(1, Some(200), "MU01")),
            "MU01#2",
            "two VLANs of one observer are two streams"
        );
        let mut labels = StreamLabels::default();
        labels.label(KERNEL, &sv(1, Some(100), "MU01"));
        labels.label(KERNEL, &sv(1, Some(200), "MU01"));
        assert_eq!(labels.label(SOCKET, &sv(1, None, "MU01")), "MU01#3", "it can be either");
    }

    #[test]
    fn two_sources_under_one_identity_are_one_stream_to_who_does_not_look_at_sources() {
        let mut labels = StreamLabels::default();
        let stream = sv(1, None, "MU01");
        assert_eq!(labels.label(KERNEL, &from(1, stream)), "MU01");
        assert_eq!(labels.label(KERNEL, &from(2, stream)), "MU01#2");
        assert_eq!(labels.label(SOCKET, &stream), "MU01");
        let mut labels = StreamLabels::default();
        assert_eq!(labels.label(SOCKET, &stream), "MU01");
        assert_eq!(labels.label(KERNEL, &from(1, stream)), "MU01");
        assert_eq!(labels.label(KERNEL, &from(2, stream)), "MU01#2");
    }

    #[test]
    fn a_name_that_looks_like_a_numbered_one_and_a_block_of_that_name_are_others() {
        let mut labels = StreamLabels::default();
        for (stream, label) in [
            (sv(1, None, "MU01"), "MU01"),
            (sv(2, None, "MU01"), "MU01#2"),
            (sv(1, None, "MU01#2"), "MU01#2#2"),
            (StreamId::named(StreamKind::Goose, b"MU01"), "MU01"),
            (
                StreamId::named(StreamKind::Avtp, &[2, 0, 0, 0, 0, 1, 0, 1]),
                "avtp-0200000000010001",
            ),
        ] {
            assert_eq!(labels.label(SOCKET, &stream), label);
        }
    }
}
