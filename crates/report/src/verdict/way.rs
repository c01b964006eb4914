//! Limits on hops that the traced way does not have.

use crate::limits::Limit;
use model::RunView;
use model::hop::HopName;
use std::collections::BTreeSet;

/// Why a limit on hops has nothing to judge in a run that traced others: where it was traced, frames do not pass such points. Empty if this is
/// not the reason.
pub(super) fn without_hop(run: &RunView, limit: &Limit) -> String {
    let is_hop = |pattern: &str| HopName::parse(&format!("{pattern}/")).is_some();
    if run.is_merged() || !limit.series.alternatives().any(is_hop) {
        return String::new();
    }
    let hops = run.series.iter().filter_map(|series| HopName::parse(&series.spec.name));
    let traced: BTreeSet<String> = hops.map(|hop| format!("{}-to-{}", hop.from, hop.to)).collect();
    if traced.is_empty() {
        return String::new();
    }
    let traced = traced.into_iter().collect::<Vec<_>>().join(", ");
    format!(
        "the traced way has no such hop (it has: {traced}): on the host of a guest or container, trace the port through which its frames come in"
    )
}

#[cfg(test)]
mod tests {
    use crate::limits::Profile;
    use crate::verdict::Judgement;
    use testing::synthetic::{run, series};

    fn why(names: &[&str], limit: &str) -> Option<String> {
        let measured = names.iter().map(|name| series(name, 1_000, 40_000, 10));
        let profile = Profile::find("substation").expect("embedded");
        let judgement = Judgement::of(&run(measured.collect()), &[profile]);
        let open = judgement.not_measured.into_iter().find(|open| open.limit.id == limit);
        open.map(|open| open.why)
    }

    #[test]
    fn a_trace_without_a_transit_says_which_way_it_traced() {
        let said = why(&["hop/nic-to-app/MU01", "hop/nic-to-app/MU02"], "transit.max").expect("not measured");
        assert!(
            said.starts_with("the traced way has no such hop (it has: nic-to-app): "),
            "{said}"
        );
        // Limits on anything else get no such reason, nor does a run that traced nothing; a transit is judged.
        assert_eq!(why(&["hop/nic-to-app/MU01"], "wakeup.max").as_deref(), Some(""));
        assert_eq!(why(&["wakeup/cpu1"], "transit.max").as_deref(), Some(""));
        assert_eq!(why(&["hop/nic-to-edge/MU01"], "transit.max"), None);
    }
}
