//! Notices of `listen` and their texts.

use super::series::Listen;
use crate::found;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::sequence::{Finding, What};

notices! {
    /// Notices of `listen`.
    pub(super) enum Notice {
        /// Number of frames that the socket dropped.
        SocketDrop = 1,
        /// The talker restarted; number of restarts so far.
        Restart = 2,
        /// Number of restarts that had no notice.
        MoreRestarts = 3,
        /// Number of frames that came too late or too often.
        Stale = 4,
        /// Number of frames of streams beyond the limit.
        TooManyStreams = 5,
        /// The link went down (1) or receives frames again (0).
        Link = 6,
        /// Number of frames that break a rule.
        Malformed = 7,
        /// The talker sent its end mark and started a new run.
        NewSession = 8,
        /// Time without a frame so far, in ns.
        Silent = 9,
        /// Time without a frame up to the end, in ns, and the number of lost frames.
        Stopped = 10,
        /// Time without a frame, in ns, that does not fit the counter, and the number of values of that counter.
        Uncountable = 11,
        /// Number of frames without a stamp.
        Unstamped = 12,
    }
    each {
        /// A finding of the sequence rules.
        Found(What) = 0x100,
    }
}

impl Listen {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let stream = name.split_once('/').map_or(name, |(_, stream)| stream);
        match notice {
            Notice::Found(what) => self.found(stream, Finding { what, a, b }),
            Notice::SocketDrop => {
                let text = format!("the socket dropped {a} frames before they were read");
                (EventKind::SocketDrop, text)
            }
            Notice::Unstamped => (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a)),
            Notice::Link => (EventKind::Link, crate::reception::link_text(a == 1, &self.interface)),
            Notice::Restart => {
                let text = format!(
                    "{stream}: the talker restarted without an end mark ({a} restarts so far): the loss is not \
                     known"
                );
                (EventKind::StreamDoubt, text)
            }
            Notice::MoreRestarts => {
                let text = format!(
                    "{stream}: the talker restarted {a} more times: if two talkers send this stream, give them \
                     different VLANs or interfaces"
                );
                (EventKind::StreamDoubt, text)
            }
            Notice::NewSession => (
                EventKind::Stream,
                format!("{stream}: the talker ended, and started a new run"),
            ),
            Notice::Stale => {
                let text = format!("{stream}: {a} frames came too late or too often: they had already been counted");
                (EventKind::Stream, text)
            }
            Notice::Silent => (EventKind::Stream, format!("{stream}: silent for {} so far", Ns(a))),
            Notice::Stopped => {
                let text = format!("{stream}: stopped {} before the end: {b} frames lost", Ns(a));
                (EventKind::Stream, text)
            }
            Notice::Uncountable => {
                let text = format!(
                    "{stream}: silent for {}, which its counter of {b} values does not explain: the loss is not known",
                    Ns(a)
                );
                (EventKind::StreamDoubt, text)
            }
            Notice::Malformed => {
                let text = format!("{a} SV frames break a rule, or hold several streams: their stream is not known");
                (EventKind::Incomplete, text)
            }
            Notice::TooManyStreams => {
                let most = self.config.max_streams;
                let text = format!("{a} frames belong to streams beyond the limit of {most} (--max-streams)");
                (EventKind::Incomplete, text)
            }
        }
    }

    fn found(&self, stream: &str, finding: Finding) -> (EventKind, String) {
        if finding.what == What::OtherRate {
            let text = format!(
                "{stream}: its smpCnt shows {a} frames a second, but --interval says {}: late frames are counted by \
                 --interval; give --interval {a}/s",
                self.config.period,
                a = finding.a
            );
            return (EventKind::Stream, text);
        }
        found::event(stream, finding)
    }
}
