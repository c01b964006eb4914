//! The start of a fault, and how well it is known.

/// The start of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Stamp of the frame with its first sample, or of the message with the contact, in ns.
    pub at_ns: i64,
    /// The fault began up to this much earlier, in ns; `None` where nobody knows: of a contact, the injector's own time.
    pub uncertain_ns: Option<u64>,
    /// smpCnt of the first faulted sample.
    pub smp_cnt: Option<u16>,
    /// Why it is not known well enough for a trip to be timed by it.
    pub doubt: Option<StartDoubt>,
}

/// Why the start of a fault is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartDoubt {
    /// So many samples right before the first faulted one never came.
    Missing(u64),
    /// The rule holds, but no sample departs from the one a cycle earlier.
    NoStep,
    /// The change began more than three cycles before the rule recognised it.
    Earlier,
    /// Too few samples came before to compare with.
    TooFew,
    /// The first message with the contact never came.
    FirstMessage,
}

impl StartDoubt {
    /// Its words, after "not counted: ".
    pub(crate) fn words(self) -> String {
        match self {
            Self::Missing(samples) => format!("{samples} samples right before the first faulted one never came"),
            Self::NoStep => {
                "the rule holds, but no sample departs from the one a cycle earlier: where the fault began is not known"
                    .into()
            }
            Self::Earlier => "the change began more than three cycles before the rule recognised it".into(),
            Self::TooFew => "too few samples came before the fault to compare with".into(),
            Self::FirstMessage => "the first message with the contact never came".into(),
        }
    }
}

/// An instant at which a fault began, was found, or ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edge {
    /// A fault began.
    Began(Start),
    /// A fault was on when the rule could be looked at for the first time, or again; at this instant.
    WasOn(i64),
    /// The fault is over since this instant.
    Ended(i64),
}
