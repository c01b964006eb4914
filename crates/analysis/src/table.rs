//! The streams of a capture, found by their identity.

use crate::stream::AnalysedStream;
use model::{StreamId, StreamKind};
use std::collections::HashMap;
use units::FreeNames;
use wire::ether::{EthernetView, Mac, VlanTag};

/// The streams, in the order of appearance.
#[derive(Debug)]
pub(crate) struct StreamTable {
    pub(crate) streams: Vec<AnalysedStream>,
    index: HashMap<Vec<u8>, usize>,
    labels: FreeNames,
    most: usize,
    /// The stream of the last frame.
    last: usize,
    /// The key to look up, kept to avoid allocation.
    key: Vec<u8>,
}

/// Result of looking up a stream.
pub(crate) enum Lookup {
    /// A known stream, by its index.
    At(usize),
    /// A new stream, to be added under this unique label.
    New(StreamId, String),
    /// A new stream for which there is no room.
    Full,
}

impl StreamTable {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            streams: Vec::new(),
            index: HashMap::new(),
            labels: FreeNames::default(),
            most,
            last: 0,
            key: Vec::with_capacity(256),
        }
    }

    /// The stream whose frame is expected next, because publishers send their streams in the same order each time.
    #[inline]
    pub(crate) fn likely(&self) -> Option<usize> {
        self.streams.get(self.last).map(|stream| stream.successor)
    }

    /// Remembers that a frame of the stream `now` came.
    #[inline]
    pub(crate) fn came(&mut self, now: usize) {
        if let Some(last) = self.streams.get_mut(self.last) {
            last.successor = now;
        }
        self.last = now;
    }

    /// Finds a stream.
    pub(crate) fn find(
        &mut self,
        kind: StreamKind,
        ethernet: &EthernetView<'_>,
        appid: Option<u16>,
        name: &[u8],
    ) -> Lookup {
        if let Some(at) = self.known(kind, ethernet, appid, name) {
            return Lookup::At(at);
        }
        if self.streams.len() >= self.most {
            return Lookup::Full;
        }
        let stream = StreamId {
            destination: Some(ethernet.dst()),
            vid: ethernet.vlan().map(VlanTag::vid),
            appid,
            ..StreamId::named(kind, name)
        };
        let label = self.labels.take(&stream.plain_label());
        Lookup::New(stream, label)
    }

    /// Index of a known stream.
    pub(crate) fn known(
        &mut self,
        kind: StreamKind,
        ethernet: &EthernetView<'_>,
        appid: Option<u16>,
        name: &[u8],
    ) -> Option<usize> {
        let (dst, vid) = (ethernet.dst(), ethernet.vlan().map(VlanTag::vid));
        self.key.clear();
        write_key(&mut self.key, kind, dst, vid, appid, name);
        // Several groups share a MAC address, and all hosts behind a router have the router's. Names have no zero octet.
        if let Some([_, destination]) = ethernet.ip_addresses() {
            self.key.push(0);
            self.key.extend_from_slice(destination.to_string().as_bytes());
        }
        self.index.get(self.key.as_slice()).copied()
    }

    /// Adds the stream that the last call of [`StreamTable::find`] did not find.
    pub(crate) fn add(&mut self, stream: AnalysedStream) -> usize {
        let at = self.streams.len();
        self.index.insert(self.key.clone(), at);
        self.streams.push(stream);
        at
    }
}

/// Appends the bytes that identify the stream to `key`: shorter than a [`StreamId`], for names of any length.
fn write_key(key: &mut Vec<u8>, kind: StreamKind, dst: Mac, vid: Option<u16>, appid: Option<u16>, name: &[u8]) {
    let vid = vid.filter(|_| kind != StreamKind::Goose);
    key.push(kind as u8);
    key.extend_from_slice(&dst.0);
    // A VLAN identifier has 12 bits, so this value for "no tag" differs from each of them.
    key.extend_from_slice(&vid.unwrap_or(u16::MAX).to_be_bytes());
    key.extend_from_slice(&appid.unwrap_or_default().to_be_bytes());
    key.extend_from_slice(name);
}
