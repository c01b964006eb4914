//! Timing of progress lines where no table is drawn: in a log, in a pipe, under a service manager.

use std::time::{Duration, Instant};

/// Maximum time between two lines.
const AT_LEAST_EVERY: Duration = Duration::from_secs(600);

/// Instant and step of the last line.
#[derive(Debug, Default)]
pub(super) struct Said {
    step: Option<usize>,
    at: Option<Instant>,
}

impl Said {
    /// Returns true if a line is due now, at each new step and after a long silence, and records it as printed.
    pub(super) fn is_due(&mut self, step: Option<usize>, now: Instant) -> bool {
        let since = *self.at.get_or_insert(now);
        let due = step != self.step || now.duration_since(since) >= AT_LEAST_EVERY;
        if due {
            (self.step, self.at) = (step, Some(now));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_LEAST_EVERY, Said};
    use std::time::{Duration, Instant};

    #[test]
    fn a_line_comes_at_each_step_and_every_ten_minutes() {
        let (mut said, begin) = (Said::default(), Instant::now());
        assert!(
            !said.is_due(None, begin),
            "a command without steps says nothing at its start"
        );
        assert!(said.is_due(Some(1), begin) && !said.is_due(Some(1), begin + Duration::from_secs(599)));
        assert!(said.is_due(Some(1), begin + AT_LEAST_EVERY));
        assert!(said.is_due(Some(2), begin + AT_LEAST_EVERY + Duration::from_secs(1)));
        assert!(!said.is_due(Some(2), begin + AT_LEAST_EVERY + Duration::from_secs(2)));
    }
}
