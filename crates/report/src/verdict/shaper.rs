//! Limits on the shaper of a capture's talkers.

use crate::limits::Limit;
use model::{RunView, kind};

/// Why a limit on credit has nothing to judge in a capture. Empty if this is not the reason.
pub(super) fn without_rate(run: &RunView, limit: &Limit) -> String {
    let is_of_credit = |pattern: &str| pattern.split('/').next() == Some(kind::CREDIT.name);
    if run.info.command != "pcap" || !limit.series.alternatives().any(is_of_credit) {
        return String::new();
    }
    "a capture does not say at which rate the talkers' port sends: state it (triptime pcap --port-rate 1000)".to_owned()
}

#[cfg(test)]
mod tests {
    use crate::limits::Profile;
    use crate::verdict::Judgement;
    use testing::synthetic::{run, series};

    #[test]
    fn only_a_capture_lacks_the_rate_of_a_port() {
        let why = |command: &str, id: &str| {
            let mut captured = run(vec![series("spacing/listen", 1_000, 125_000, 10)]);
            captured.info.command = command.to_owned();
            let judgement = Judgement::of(&captured, &[Profile::find("avb").expect("embedded")]);
            let open = judgement.not_measured.into_iter().find(|open| open.limit.id == id);
            open.map(|open| open.why)
        };
        assert!(why("pcap", "credit.overflow").is_some_and(|said| said.contains("--port-rate")));
        assert_eq!(why("listen", "credit.overflow").as_deref(), Some(""));
        assert_eq!(why("pcap", "wakeup.max").as_deref(), Some(""));
    }
}
