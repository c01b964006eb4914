//! Orders that the publisher is given, and its reports of them.

use run::Stop;
use std::sync::Arc;
use waveform::sample::SampleTable;

/// How the frames of a script are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As a merging unit does.
    Plain,
    /// The steady state as ever, and behind each frame one of another svID.
    OtherSvId,
    /// With smpSynch 0.
    Unsynchronised,
    /// With the simulation bit.
    Simulated,
    /// With a tag that no sampled values have.
    Corrupted,
    /// One frame in four is left out.
    Lost,
    /// Each frame twice.
    Duplicated,
    /// In pairs, the later one first.
    Reordered,
    /// Each frame, and behind it one of a second publisher.
    SecondPublisher,
    /// Each frame, later than a relay waits for it.
    Late,
    /// Each frame, and behind it many of streams that are nobody's.
    StormOfSv,
    /// Each frame, and behind it many messages of a control block that is nobody's.
    StormOfGoose,
}

/// From which sample on which samples are sent, until the next script takes over.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// The first sample, counted from the first second.
    pub(super) begin: u64,
    /// The sample that is number 0 of the table.
    pub(super) base: u64,
    pub(super) table: Arc<SampleTable>,
    /// Samples of the second publisher, or of the other svID, where there is one.
    pub(super) second: Option<Arc<SampleTable>>,
    pub(super) manner: Manner,
}

/// Something that was not sent as it was to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The first sample of the frames that it is about, counted from the first second.
    pub(super) from: u64,
    /// The first sample behind them.
    pub(super) until: u64,
}

/// Scripts on their way to the publisher, and troubles and used scripts on their way back.
pub(super) struct Exchange {
    pub(super) scripts: rtrb::Producer<Script>,
    pub(super) used: rtrb::Consumer<Script>,
    pub(super) troubles: rtrb::Consumer<Trouble>,
}

/// The publisher's end of the [`Exchange`].
pub(super) struct Prompter {
    pub(super) scripts: rtrb::Consumer<Script>,
    pub(super) used: rtrb::Producer<Script>,
    pub(super) troubles: rtrb::Producer<Trouble>,
    /// Ends the whole test set.
    pub(super) ended: Stop,
}

/// Scripts that may be under way. A shot has four at the most.
const SCRIPTS: usize = 32;

/// Troubles that may be under way: three seconds without any frame, while the conductor is held up, too.
const TROUBLES: usize = 16_384;

/// Both ends.
pub(super) fn exchange(ended: &Stop) -> (Exchange, Prompter) {
    let (scripts, to_play) = rtrb::RingBuffer::new(SCRIPTS);
    // One more is in force, and one is waited for.
    let (played, used) = rtrb::RingBuffer::new(SCRIPTS + 2);
    let (trouble, troubles) = rtrb::RingBuffer::new(TROUBLES);
    let exchange = Exchange {
        scripts,
        used,
        troubles,
    };
    let prompter = Prompter {
        scripts: to_play,
        used: played,
        troubles: trouble,
        ended: ended.clone(),
    };
    (exchange, prompter)
}
