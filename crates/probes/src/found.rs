//! Writes what the rules of a sequence find into the event list.

use model::EventKind;
use wire::sequence::{Finding, What};

/// Notices of findings have this and the finding's own number, in the numbering of each probe.
const FIRST: u16 = 0x100;

/// The notice of a finding.
pub(crate) fn code(what: What) -> u16 {
    FIRST + u16::from(what.number())
}

/// The finding of a notice; `None` of other notices.
pub(crate) fn of(code: u16, a: u64, b: u64) -> Option<Finding> {
    let number = code.checked_sub(FIRST)?;
    let what = What::of(u8::try_from(number).ok()?)?;
    Some(Finding { what, a, b })
}

/// The event of a finding in `stream`.
pub(crate) fn event(stream: &str, finding: Finding) -> (EventKind, String) {
    let kind = match finding.what.is_doubt() {
        true => EventKind::StreamDoubt,
        false => EventKind::Stream,
    };
    (kind, format!("{stream}: {finding}"))
}

#[cfg(test)]
mod tests {
    use super::{code, event, of};
    use model::EventKind;
    use wire::sequence::What;

    #[test]
    fn a_finding_survives_its_way() {
        let found = of(code(What::Restart), 7, 9).expect("a finding");
        assert_eq!((found.what, found.a, found.b), (What::Restart, 7, 9));
        let (kind, text) = event("MU01", found);
        assert_eq!(kind, EventKind::StreamDoubt);
        assert!(text.starts_with("MU01: smpCnt jumped from 7 to 9"), "{text}");
        assert_eq!(of(5, 0, 0), None);
    }
}
