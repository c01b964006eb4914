//! Writes the findings of the sequence rules into the event list.

use model::EventKind;
use wire::sequence::Finding;

/// Event for a finding in `stream`.
pub(crate) fn event(stream: &str, finding: Finding) -> (EventKind, String) {
    let kind = match finding.what.is_doubt() {
        true => EventKind::StreamDoubt,
        false => EventKind::Stream,
    };
    (kind, format!("{stream}: {finding}"))
}

#[cfg(test)]
mod tests {
    use super::event;
    use model::EventKind;
    use wire::sequence::{Finding, What};

    #[test]
    fn a_restart_is_a_doubt_of_its_stream() {
        let what = What::Restart;
        let (kind, text) = event("MU01", Finding { what, a: 7, b: 9 });
        assert_eq!(kind, EventKind::StreamDoubt);
        assert!(text.starts_with("MU01: smpCnt jumped from 7 to 9"), "{text}");
    }
}
