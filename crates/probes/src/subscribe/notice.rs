//! Notices of this probe about sampled values, and their words.

use super::SubscribeConfig;
use super::expected::{NO_SMP_RATE, dat_set_text, vlan, whereto};
use super::series::Subscribe;
use crate::found;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::ether::Hidden;
use wire::sequence::{Finding, What};

notices! {
    /// Notices about sampled values. Those of GOOSE have codes above.
    pub(super) enum Notice {
        /// Frames that the socket dropped.
        SocketDrop = 1,
        /// smpSynch before and after.
        SmpSynch = 2,
        /// Malformed frames, and the octet of the first that breaks a rule.
        Malformed = 7,
        /// Samples or frames of streams for which there is no room.
        TooManyStreams = 8,
        /// Samples of streams that a relay does not wait for.
        Foreign = 9,
        /// Lowest and highest smpCnt.
        SmpCntRange = 10,
        /// The stream has no smpSynch.
        NoSmpSynch = 11,
        /// The link went down (1) or takes frames again (0).
        Link = 14,
        /// An expected stream never came: for so many ns, with so many samples lost.
        NeverCame = 15,
        /// An expected stream first came after so many ns.
        CameLate = 17,
        /// A stream is not expected: its destination and APPID, and its VLAN, packed.
        NotExpected = 18,
        /// Expected and seen confRev.
        ExpectedConfRev = 19,
        /// Expected and seen number of ASDUs.
        ExpectedAsdus = 20,
        /// Expected and seen octets of seqData.
        ExpectedOctets = 21,
        /// Expected and seen samples a second.
        ExpectedRate = 22,
        /// Expected and seen VLAN, packed.
        ExpectedVlan = 23,
        /// The publisher follows no clock, by this smpSynch.
        PublisherDoubt = 24,
        /// The publisher follows a clock again, by this smpSynch.
        PublisherGood = 25,
        /// Frames that the NIC had no room for, and that came damaged.
        NicDrop = 26,
        /// Frames that the kernel dropped behind the driver.
        KernelDrop = 27,
        /// The number of an expected stream, and how its datSet differs.
        ExpectedDatSet = 28,
        /// Expected and seen smpRate.
        ExpectedSmpRate = 29,
        /// Frames without a stamp.
        Unstamped = 30,
        /// The number of a header that hides streams.
        Hidden = 31,
    }
    each {
        /// The rules of the sequence found this.
        Found(What) = 0x100,
    }
}

impl Subscribe {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let stream = name.split_once('/').map_or(name, |(_, stream)| stream);
        let text = match notice {
            Notice::Found(what) => return found::event(stream, Finding { what, a, b }),
            Notice::SocketDrop => {
                return (
                    EventKind::SocketDrop,
                    format!("the socket dropped {a} frames before they were read"),
                );
            }
            Notice::Unstamped => return (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a)),
            Notice::NicDrop => {
                let text = format!(
                    "{}: the NIC had no room for {a} frames, and {b} came damaged: lost in this host, or on its cable",
                    self.interface
                );
                return (EventKind::NicDrop, text);
            }
            Notice::KernelDrop => {
                let text = format!(
                    "{}: beside the lost samples, the kernel dropped {a} frames behind the driver, before any socket: its queue was \
                     full, or they did not fit",
                    self.interface
                );
                return (EventKind::NicDrop, text);
            }
            Notice::SmpSynch => format!("{stream}: smpSynch changed from {a} to {b}"),
            Notice::Malformed => {
                let text = format!(
                    "{a} malformed SV frames; in the first, octet {b} breaks a rule: which stream they belong to is \
                     not known"
                );
                return (EventKind::Incomplete, text);
            }
            Notice::TooManyStreams => {
                let text = format!(
                    "{a} samples or frames belong to streams beyond the {} that are told apart (--max-streams)",
                    self.config.max_streams
                );
                return (EventKind::Incomplete, text);
            }
            Notice::Foreign => {
                let text = format!("{a} samples came under svIDs that this relay does not wait for");
                return (EventKind::Note, text);
            }
            Notice::Hidden => return hidden(&self.config, a),
            Notice::CameLate => {
                let late = Ns(a);
                let text = format!("{stream}: first came after {late}: whether it was sent before is not known");
                return (EventKind::StreamDoubt, text);
            }
            Notice::SmpCntRange => format!("{stream}: smpCnt ran from {a} to {b}"),
            Notice::Link => {
                return (EventKind::Link, crate::reception::link_text(a == 1, &self.interface));
            }
            Notice::PublisherDoubt => {
                let text = format!("{stream}: smpSynch is {a}: the publisher says that it follows no clock");
                return (EventKind::ClockDoubt, text);
            }
            Notice::PublisherGood => {
                let text = format!("{stream}: smpSynch is {a}: the publisher follows a clock again");
                return (EventKind::ClockGood, text);
            }
            Notice::NoSmpSynch => format!("{stream}: smpSynch is absent; taken as not synchronised"),
            Notice::ExpectedDatSet => dat_set_text(&self.config, stream, a, b),
            Notice::NeverCame => format!("{stream}: never came in {}: {b} samples lost", Ns(a)),
            Notice::NotExpected => format!(
                "{stream}: is not among the expected streams; it is sent to {}",
                whereto(a, b)
            ),
            Notice::ExpectedConfRev => format!("{stream}: confRev is {b}, not {a} as expected"),
            Notice::ExpectedAsdus => format!("{stream}: {b} ASDUs in a frame, not {a} as expected"),
            Notice::ExpectedOctets => {
                format!("{stream}: seqData has {b} octets, not {a} as expected: the dataset is another one")
            }
            Notice::ExpectedRate => format!("{stream}: smpCnt wraps at {b} samples/s, not {a} as expected"),
            Notice::ExpectedSmpRate if b == NO_SMP_RATE => format!("{stream}: has no smpRate, expected {a}"),
            Notice::ExpectedSmpRate => format!("{stream}: smpRate is {b}, not {a} as expected"),
            Notice::ExpectedVlan => format!("{stream}: came {}, expected {}", vlan(b), vlan(a)),
        };
        (EventKind::Stream, text)
    }
}

/// Header number `number` hides streams. Where streams are expected, each of those is watched for: then the others are nothing to doubt.
fn hidden(config: &SubscribeConfig, number: u64) -> (EventKind, String) {
    let kind = match config.expected.is_empty() {
        true => EventKind::StreamDoubt,
        false => EventKind::Note,
    };
    let header = usize::try_from(number).ok().and_then(|number| Hidden::ALL.get(number));
    let header = header.map_or("another header", |header| header.words());
    let text = format!("frames carry sampled values or GOOSE behind {header}, not read: no figure has their streams");
    (kind, text)
}
