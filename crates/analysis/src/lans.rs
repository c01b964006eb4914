//! The LANs of a redundant network in a capture: copies are discarded as a doubly attached node does it, and each LAN is accounted for.

use crate::Analysis;
use capture::Frame;
use model::Tally;
use wire::ether::EthernetView;
use wire::redundancy::{
    Came, Discard, KnownNode, Lan, LanCounts, Nodes, Protocol, Received, Redundancy, SUPERVISION, Supervision,
};
use wire::sv::Fingerprints;

/// Greatest number of sources that are followed; further ones are counted.
const MOST_SOURCES: usize = 64;
/// Greatest number of nodes in the list.
const MOST_NODES: usize = 256;

/// A source of redundant frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedundantSource {
    /// Its address.
    pub mac: wire::ether::Mac,
    /// PRP or HSR.
    pub protocol: Protocol,
    /// Counts of LAN A and LAN B.
    pub lans: [LanCounts; 2],
    /// Frames that came at least once.
    pub together: u64,
    /// Numbers that came on neither LAN; a node numbers frames to other receivers, too.
    pub neither: u64,
    /// Restarts of its count.
    pub restarts: u64,
}

/// Frames without marks that may have been on a LAN: only a copy on the other LAN, which a mark joins to it, shows a loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unproven {
    /// Whole frames of sampled values or GOOSE, which a node with one port sends.
    pub of_protection: u64,
    /// Frames that the capture has cut: it may have cut their marks.
    pub cut: u64,
}

/// A LAN in a capture.
#[derive(Debug, Clone)]
pub struct LanSummary {
    /// Counts of all sources.
    pub counts: LanCounts,
    /// Time of each frame after the first copy.
    pub tally: Tally,
    /// Frames with marks or without.
    pub frames: u64,
    /// Frames without marks: of nodes with one port, or cut by the capture.
    pub unmarked: u64,
    /// Sources whose loss on this LAN does not show.
    pub unproven: Unproven,
    /// Stamps of its first and last frame.
    pub span_ns: Option<(i64, i64)>,
}

impl LanSummary {
    /// True if a frame of the LAN came that belongs to it by its marks.
    pub fn has_spoken(&self) -> bool {
        self.counts.received + self.counts.late > 0
    }
}

/// The redundant network of a capture.
#[derive(Debug, Clone)]
pub struct RedundancySummary {
    /// LAN A and LAN B.
    pub lans: [LanSummary; 2],
    /// True if the capture's interface or file states the LAN of a frame. Otherwise the frame itself does, so a wrong LAN does not
    /// show.
    pub has_ports: bool,
    /// The sources, in the order of their first frames.
    pub sources: Vec<RedundantSource>,
    /// Frames of sources beyond the greatest number: their copies are not discarded.
    pub unplaced: u64,
    /// Frames that came at none of the two ports: they are in no account, and their copies are not discarded.
    pub elsewhere: u64,
    /// The nodes by their supervision frames.
    pub nodes: Vec<KnownNode>,
    /// Supervision frames.
    pub supervision: u64,
    /// Supervision frames of nodes beyond the greatest number, which are in no list.
    pub unplaced_nodes: u64,
}

/// The account under way.
#[derive(Debug)]
pub(crate) struct Lans {
    discard: Discard,
    nodes: Nodes,
    tallies: [Tally; 2],
    frames: [u64; 2],
    unmarked: [u64; 2],
    unproven: [Unproven; 2],
    spans: [Option<(i64, i64)>; 2],
    supervision: u64,
    elsewhere: u64,
    /// LANs whose begin is known.
    has_begun: [bool; 2],
    has_ports: bool,
}

impl Lans {
    pub(crate) fn new() -> Self {
        Self {
            discard: Discard::new(MOST_SOURCES, 0),
            nodes: Nodes::new(MOST_NODES),
            tallies: Default::default(),
            frames: [0; 2],
            unmarked: [0; 2],
            unproven: Default::default(),
            spans: [None; 2],
            supervision: 0,
            elsewhere: 0,
            has_begun: [false; 2],
            has_ports: false,
        }
    }

    pub(crate) fn has_ports(&mut self) {
        self.has_ports = true;
    }

    pub(crate) fn watched_from(&mut self, lan: Lan, at_ns: i64) {
        self.has_begun[lan.number()] = true;
        self.discard.watched_from(lan, at_ns);
    }

    pub(crate) fn watched_to(&mut self, lan: Lan, at_ns: i64) {
        self.discard.watched_to(lan, at_ns);
    }

    /// Accounts for a frame; true if it is a copy that is discarded. A frame without a stamp has no place in the window.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, port: Option<Lan>, prints: &Fingerprints) -> bool {
        if self.has_ports && port.is_none() {
            self.elsewhere += 1;
            return false;
        }
        if let Some(at_ns) = frame.time_ns {
            self.begin(at_ns);
        }
        let Ok(ethernet) = EthernetView::parse(frame.data) else {
            return false;
        };
        let mark = Redundancy::of(&ethernet).filter(|_| !frame.is_cut());
        let lan = port.or_else(|| mark.map(Redundancy::lan));
        if let Some(lan) = lan {
            self.note(lan, frame.time_ns, mark.is_some());
        }
        if mark.is_none() {
            self.doubt(frame.is_cut(), &ethernet, lan);
        }
        let Some(at_ns) = frame.time_ns else { return false };
        if ethernet.ether_type() == SUPERVISION
            && let Ok(supervision) = Supervision::parse(&ethernet)
        {
            self.supervision += 1;
            self.nodes.take(ethernet.src(), supervision, lan, at_ns);
        }
        let Some((mark, lan)) = mark.zip(lan) else { return false };
        let received = Received {
            dst: ethernet.dst(),
            src: ethernet.src(),
            mark,
            port,
            at_ns,
            contents: mark.equal_contents(&ethernet).map(|octets| prints.of(octets, None)),
        };
        let is_wrong = mark.protocol == Protocol::Prp && lan != mark.lan();
        let came = self.discard.take(&received);
        let after_ns = match came {
            Some(Came::First) => Some(0),
            Some(Came::Copy { after_ns }) => i64::try_from(after_ns).ok(),
            _ => None,
        };
        if let Some(after_ns) = after_ns.filter(|_| !is_wrong) {
            self.tallies[lan.number()].sample(after_ns, 1);
        }
        came.is_some_and(Came::is_discarded)
    }

    /// A LAN without a begin of its own is watched from the first stamp of the capture on.
    fn begin(&mut self, at_ns: i64) {
        for lan in Lan::BOTH {
            if !self.has_begun[lan.number()] {
                self.watched_from(lan, at_ns);
            }
        }
    }

    fn note(&mut self, lan: Lan, time_ns: Option<i64>, is_marked: bool) {
        let lan = lan.number();
        self.frames[lan] += 1;
        self.unmarked[lan] += u64::from(!is_marked);
        if let Some(at_ns) = time_ns {
            let (first, last) = self.spans[lan].unwrap_or((at_ns, at_ns));
            self.spans[lan] = Some((first.min(at_ns), last.max(at_ns)));
        }
    }

    /// Counts a frame without a mark. One of which the LAN is not known may have been on either.
    fn doubt(&mut self, is_cut: bool, ethernet: &EthernetView<'_>, lan: Option<Lan>) {
        let is_of_protection = !is_cut && ethernet.is_of_protection();
        for of in Lan::BOTH {
            if lan.is_none_or(|lan| lan == of) {
                let unproven = &mut self.unproven[of.number()];
                unproven.cut += u64::from(is_cut);
                unproven.of_protection += u64::from(is_of_protection);
            }
        }
    }

    /// Ends the account; `None` if the capture shows nothing of a redundant network.
    pub(crate) fn finish(mut self, last_ns: Option<i64>) -> Option<RedundancySummary> {
        if !self.has_ports && self.supervision == 0 && self.discard.sources().is_empty() {
            return None;
        }
        self.discard.end(last_ns.unwrap_or(i64::MAX));
        if let Some(last_ns) = last_ns {
            self.nodes.end(last_ns);
        }
        let sources = self.discard.sources().iter().map(|source| RedundantSource {
            mac: source.mac,
            protocol: source.protocol,
            lans: source.lans,
            together: source.together,
            neither: source.neither,
            restarts: source.restarts,
        });
        let lans = Lan::BOTH.map(|lan| {
            let at = lan.number();
            LanSummary {
                counts: self.discard.lan(lan),
                tally: std::mem::take(&mut self.tallies[at]),
                frames: self.frames[at],
                unmarked: self.unmarked[at],
                unproven: self.unproven[at],
                span_ns: self.spans[at],
            }
        });
        Some(RedundancySummary {
            lans,
            has_ports: self.has_ports,
            sources: sources.collect(),
            unplaced: self.discard.unplaced,
            elsewhere: self.elsewhere,
            nodes: self.nodes.known().to_vec(),
            supervision: self.supervision,
            unplaced_nodes: self.nodes.unplaced,
        })
    }
}

impl Analysis<'_> {
    /// States that each frame comes with the LAN of its port.
    pub fn has_ports(&mut self) {
        self.lans.has_ports();
    }

    /// States that the capture of a LAN begins at this stamp, in ns since 1970 UTC: copies that are missing before are not decided.
    pub fn lan_from(&mut self, lan: Lan, at_ns: i64) {
        self.lans.watched_from(lan, at_ns);
    }

    /// States that the capture of a LAN ends at this stamp.
    pub fn lan_to(&mut self, lan: Lan, at_ns: i64) {
        self.lans.watched_to(lan, at_ns);
    }
}
