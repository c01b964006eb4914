//! Orders for the publisher, and its reports about them.

use super::peer::Order;
use run::Stop;
use std::sync::Arc;
use waveform::sample::SampleTable;

/// Manner of sending the frames of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As a merging unit sends them.
    Plain,
    /// The usual steady state, and after each frame one of another svID.
    OtherSvId,
    /// With smpSynch 0.
    Unsynchronised,
    /// With the simulation bit.
    Simulated,
    /// With a tag that no sampled values have.
    Corrupted,
    /// Without one frame in four.
    Lost,
    /// Each frame twice.
    Duplicated,
    /// In pairs, the later frame first.
    Reordered,
    /// Each frame, and after it one of a second publisher.
    SecondPublisher,
    /// Each frame, later than a relay waits for it.
    Late,
    /// Each frame, and after it many of streams that no relay uses.
    StormOfSv,
    /// Each frame, and after it many messages of a control block that no relay uses.
    StormOfGoose,
}

/// Samples to be sent from a given sample on, until the next script takes over.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// The first sample, counted from the first second.
    pub(super) begin: u64,
    /// Sample that is number 0 of the table.
    pub(super) base: u64,
    pub(super) table: Arc<SampleTable>,
    /// Samples of the second publisher, or of the other svID; `None` if there is none.
    pub(super) second: Option<Arc<SampleTable>>,
    pub(super) manner: Manner,
    /// True if the LANs have their fault.
    pub(super) has_lan_fault: bool,
}

/// Report of samples that were not sent as planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trouble {
    /// First sample of the affected frames, counted from the first second.
    pub(super) from: u64,
    /// First sample after them.
    pub(super) until: u64,
}

/// Rings for scripts to the publisher, and for troubles and used scripts back to the conductor.
pub(super) struct Exchange {
    pub(super) scripts: rtrb::Producer<Script>,
    /// States of the peer.
    pub(super) orders: rtrb::Producer<Order>,
    pub(super) used: rtrb::Consumer<Script>,
    pub(super) troubles: rtrb::Consumer<Trouble>,
}

/// The publisher's end of the [`Exchange`].
pub(super) struct Prompter {
    pub(super) scripts: rtrb::Consumer<Script>,
    pub(super) orders: rtrb::Consumer<Order>,
    pub(super) used: rtrb::Producer<Script>,
    pub(super) troubles: rtrb::Producer<Trouble>,
    /// Stop request for the whole test set.
    pub(super) ended: Stop,
}

/// Maximum number of scripts in the ring. A shot has at most four.
const SCRIPTS: usize = 32;

/// Maximum number of troubles in the ring: three seconds without any frame while the conductor is held up as well.
const TROUBLES: usize = 16_384;

/// Makes both ends.
pub(super) fn exchange(ended: &Stop) -> (Exchange, Prompter) {
    let (scripts, to_play) = rtrb::RingBuffer::new(SCRIPTS);
    // Two more than in the ring: one in use, and one being taken over.
    let (played, used) = rtrb::RingBuffer::new(SCRIPTS + 2);
    let (trouble, troubles) = rtrb::RingBuffer::new(TROUBLES);
    let (orders, to_take) = rtrb::RingBuffer::new(SCRIPTS);
    let exchange = Exchange {
        scripts,
        orders,
        used,
        troubles,
    };
    let prompter = Prompter {
        scripts: to_play,
        orders: to_take,
        used: played,
        troubles: trouble,
        ended: ended.clone(),
    };
    (exchange, prompter)
}
