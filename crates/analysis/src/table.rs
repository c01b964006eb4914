//! The streams of a capture, found by who they are.

use crate::identity::{Identity, StreamKind};
use crate::stream::Stream;
use std::collections::HashMap;
use units::FreeNames;
use wire::ether::{EthernetView, VlanTag};

/// The streams, in the order of appearance.
#[derive(Debug)]
pub(crate) struct StreamTable {
    pub(crate) streams: Vec<Stream>,
    index: HashMap<Vec<u8>, usize>,
    labels: FreeNames,
    most: usize,
    /// The stream of the last frame.
    last: usize,
    /// The key looked for, kept to allocate nothing.
    key: Vec<u8>,
}

/// Where a stream is.
pub(crate) enum Lookup {
    /// Known.
    At(usize),
    /// To be added under this label, which no other has.
    New(Identity, String),
    /// There is no room.
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

    /// The stream whose frame comes next if it is as the last time: publishers send their streams in the same order.
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
        let (dst, vid) = (ethernet.dst(), ethernet.vlan().map(VlanTag::vid));
        if self.streams.len() >= self.most {
            return Lookup::Full;
        }
        let identity = Identity {
            kind,
            dst,
            vid,
            appid,
            name: name.to_vec(),
        };
        let label = self.labels.take(&identity.label());
        Lookup::New(identity, label)
    }

    /// Where a stream is that has come before.
    pub(crate) fn known(
        &mut self,
        kind: StreamKind,
        ethernet: &EthernetView<'_>,
        appid: Option<u16>,
        name: &[u8],
    ) -> Option<usize> {
        let (dst, vid) = (ethernet.dst(), ethernet.vlan().map(VlanTag::vid));
        self.key.clear();
        Identity::write_key(&mut self.key, kind, dst, vid, appid, name);
        self.index.get(self.key.as_slice()).copied()
    }

    /// Adds the stream that [`StreamTable::find`] did not find just before.
    pub(crate) fn add(&mut self, stream: Stream) -> usize {
        let at = self.streams.len();
        self.index.insert(self.key.clone(), at);
        self.streams.push(stream);
        at
    }
}
