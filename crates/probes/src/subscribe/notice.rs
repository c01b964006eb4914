//! Notices of `subscribe` about sampled values, and their texts.

use super::SubscribeConfig;
use super::expected::{NO_SMP_RATE, dat_set_text, vlan, whereto};
use super::series::Subscribe;
use crate::found;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::ether::Hidden;
use wire::routed::Proof;
use wire::sequence::{Finding, What};

notices! {
    /// Notices about sampled values. The codes of the GOOSE notices are above these.
    pub(super) enum Notice {
        /// Number of frames that the socket dropped.
        SocketDrop = 1,
        /// smpSynch before and after the change.
        SmpSynch = 2,
        /// Number of malformed frames, and position of the octet in the first one that breaks a rule.
        Malformed = 7,
        /// Number of samples or frames of streams beyond the limit.
        TooManyStreams = 8,
        /// Number of samples of streams that a relay does not expect.
        Foreign = 9,
        /// Lowest and highest smpCnt.
        SmpCntRange = 10,
        /// The stream has no smpSynch.
        NoSmpSynch = 11,
        /// The link went down (1) or receives frames again (0).
        Link = 14,
        /// An expected stream never came: the time waited, in ns, and the number of lost samples.
        NeverCame = 15,
        /// An expected stream came late: time until its first frame, in ns.
        CameLate = 17,
        /// A stream is not in the list of expected ones: its destination and APPID, and its VLAN, packed.
        NotExpected = 18,
        /// Expected and received confRev.
        ExpectedConfRev = 19,
        /// Expected and received number of ASDUs.
        ExpectedAsdus = 20,
        /// Expected and received length of seqData, in octets.
        ExpectedOctets = 21,
        /// Expected and received samples a second.
        ExpectedRate = 22,
        /// Expected and received VLAN, packed.
        ExpectedVlan = 23,
        /// The publisher follows no clock, according to this smpSynch.
        PublisherDoubt = 24,
        /// The publisher follows a clock again, according to this smpSynch.
        PublisherGood = 25,
        /// Number of frames that the NIC had no room for, and of damaged ones.
        NicDrop = 26,
        /// Number of frames that the kernel dropped after the driver.
        KernelDrop = 27,
        /// Number of an expected stream, and the difference of its datSet.
        ExpectedDatSet = 28,
        /// Expected and received smpRate.
        ExpectedSmpRate = 29,
        /// Number of frames without a stamp.
        Unstamped = 30,
        /// Number of a header that hides streams.
        Hidden = 31,
    }
    each {
        /// Number of datagrams with this result of the check of their signatures.
        Proof(Proof) = 0x80,
        /// Number of messages of a relay's input with this result of the check of their signatures, and the number of the input.
        InputProof(Proof) = 0x90,
        /// A finding of the sequence rules.
        Found(What) = 0x100,
    }
}

impl Subscribe {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let stream = name.split_once('/').map_or(name, |(_, stream)| stream);
        let text = match notice {
            Notice::Found(what) => return found::event(stream, Finding { what, a, b }),
            Notice::Proof(proof) => {
                return (kind_of(proof), format!("{stream}: {a} messages {}", proof.words()));
            }
            Notice::InputProof(proof) => {
                let inputs = self.config.relay.as_ref().map(|relay| &relay.inputs);
                let number = usize::try_from(b).unwrap_or(usize::MAX);
                let name = inputs.and_then(|inputs| inputs.get(number));
                let name = name.map_or("an input", String::as_str);
                return (kind_of(proof), format!("input {name}: {a} messages {}", proof.words()));
            }
            Notice::SocketDrop => {
                return (
                    EventKind::SocketDrop,
                    format!("the socket dropped {a} frames before they were read"),
                );
            }
            Notice::Unstamped => return (EventKind::Incomplete, crate::nic::unstamped_text(&self.interface, a)),
            Notice::NicDrop => {
                let text = format!(
                    "{}: the NIC had no room for {a} frames, and {b} were damaged: lost in this host, or on its cable",
                    self.interface
                );
                return (EventKind::NicDrop, text);
            }
            Notice::KernelDrop => {
                let text = format!(
                    "{}: in addition to the lost samples, the kernel dropped {a} frames after the driver, before any socket: its queue was \
                     full, or they did not fit",
                    self.interface
                );
                return (EventKind::NicDrop, text);
            }
            Notice::SmpSynch => format!("{stream}: smpSynch changed from {a} to {b}"),
            Notice::Malformed => {
                let text = format!(
                    "{a} malformed SV frames; in the first, octet {b} breaks a rule; the stream that they belong to is \
                     not known"
                );
                return (EventKind::Incomplete, text);
            }
            Notice::TooManyStreams => {
                let text = format!(
                    "{a} samples or frames belong to streams beyond the limit of {} (--max-streams)",
                    self.config.max_streams
                );
                return (EventKind::Incomplete, text);
            }
            Notice::Foreign => {
                let text = format!("{a} samples had svIDs that this relay does not expect");
                return (EventKind::Note, text);
            }
            Notice::Hidden => return hidden(&self.config, a),
            Notice::CameLate => {
                let late = Ns(a);
                let text = format!("{stream}: first came after {late}: it is not known whether it was sent before");
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
                format!("{stream}: seqData has {b} octets, not {a} as expected: the dataset is different")
            }
            Notice::ExpectedRate => format!("{stream}: smpCnt wraps at {b} samples/s, not {a} as expected"),
            Notice::ExpectedSmpRate if b == NO_SMP_RATE => format!("{stream}: has no smpRate, expected {a}"),
            Notice::ExpectedSmpRate => format!("{stream}: smpRate is {b}, not {a} as expected"),
            Notice::ExpectedVlan => format!("{stream}: came {}, expected {}", vlan(b), vlan(a)),
        };
        (EventKind::Stream, text)
    }
}

/// Messages that are refused put the figures in doubt; those that are used without a check do not.
fn kind_of(proof: Proof) -> EventKind {
    match proof.is_doubt() {
        true => EventKind::StreamDoubt,
        false => EventKind::Note,
    }
}

/// Event for header number `number`, which hides streams. If streams are expected, each of them is checked, so hidden streams
/// cause no doubt.
fn hidden(config: &SubscribeConfig, number: u64) -> (EventKind, String) {
    let kind = match config.expected.is_empty() {
        true => EventKind::StreamDoubt,
        false => EventKind::Note,
    };
    let header = usize::try_from(number).ok().and_then(|number| Hidden::ALL.get(number));
    let header = header.map_or("another header", |header| header.words());
    let text = format!(
        "frames carry sampled values or GOOSE after {header}, which is not read: no figure includes their streams"
    );
    (kind, text)
}
