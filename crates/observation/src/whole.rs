//! Findings that concern a whole observation, and their words.

use model::EventKind;
use units::Ns;

/// Something that concerns the whole observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// No fault was seen.
    NoFault,
    /// No sample of the stream came.
    NoStream,
    /// No message of the relay came that could be used.
    NoRelay,
    /// No message with the contact came that could be used.
    NoContact,
    /// The rate is not known: nothing could be looked at.
    NoRate,
    /// Samples without the members that the rule looks at.
    WithoutMembers,
    /// Frames under the svID of another source, or to another destination, VLAN or APPID.
    OfOthers,
    /// Frames that break a rule of their protocol.
    Malformed,
    /// Samples that never came.
    Lost,
    /// Time in which samples came, but too few in a row to see a change of phasor, in ns.
    Blind,
    /// A fault lasts at the end, and its shot had been over before.
    StillOn,
    /// The same, where phasors are looked at: another fault could not have been seen.
    NotBack,
    /// A trip came too late for its fault to be seen.
    LastTrip,
    /// Findings that were not reported one by one.
    Untold,
}

impl Whole {
    /// The event for it, with a count of it or ns.
    pub(crate) fn told(self, count: u64) -> (EventKind, String) {
        match self {
            Self::NoFault => (
                EventKind::Unproven,
                "no fault was seen: nothing is known of the relay. Check that the rule (--observe) fits the injector's faults".into(),
            ),
            Self::NoStream => (
                EventKind::StreamDoubt,
                "no sample of the stream came: is that its svID (--sv-id)?".into(),
            ),
            Self::NoRelay => (
                EventKind::StreamDoubt,
                "no message of the relay came that could be used: is that its control block (--goose), and its member (--trip-member)?".into(),
            ),
            Self::NoContact => (
                EventKind::StreamDoubt,
                "no message with the contact came that could be used: is that its control block, and its member (--observe)?".into(),
            ),
            Self::NoRate => (
                EventKind::StreamDoubt,
                "the rate of the stream is not known, so no sample was looked at: state it (--rate)".into(),
            ),
            Self::WithoutMembers => (
                EventKind::StreamDoubt,
                format!("{count} samples lack the members that the rule needs: not examined"),
            ),
            Self::OfOthers => (
                EventKind::StreamDoubt,
                format!("{count} frames under the svID had another source, destination, VLAN or APPID: not examined"),
            ),
            Self::Malformed => (EventKind::StreamDoubt, format!("{count} frames could not be read")),
            Self::Lost => (EventKind::Stream, format!("{count} samples never came")),
            Self::Blind => (
                EventKind::StreamDoubt,
                format!("for {} too few samples came in a row to see a change of phasor", Ns(count)),
            ),
            Self::StillOn => (EventKind::Note, "the last fault had not ended at the end".into()),
            Self::NotBack => (
                EventKind::StreamDoubt,
                "after the last shot the phasors never came back to their size before it: no other fault was looked for".into(),
            ),
            Self::LastTrip => (
                EventKind::NotCounted,
                "a trip is not counted: the samples were not looked at for long enough after it to see its fault".into(),
            ),
            Self::Untold => (EventKind::StreamDoubt, format!("{count} findings were not reported one by one")),
        }
    }
}
