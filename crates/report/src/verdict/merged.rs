//! Limits on the hops of one of several merged runs.

use crate::limits::Limit;
use model::RunView;
use model::hop::{self, HopName};
use std::collections::BTreeSet;

/// The reason why a limit judges nothing in a merged run: it applies to hops of a run with a name that no merged run
/// has. Empty if this is not the reason.
pub(super) fn no_such_run(run: &RunView, limit: &Limit) -> String {
    if !run.is_merged() {
        return String::new();
    }
    let merged = runs(run);
    let wanted: BTreeSet<String> = limit.series.alternatives().filter_map(wanted).collect();
    if wanted.is_empty() || wanted.iter().any(|name| merged.contains(name.as_str())) {
        return String::new();
    }
    let wanted = wanted.into_iter().collect::<Vec<_>>().join(", ");
    let merged = merged.into_iter().collect::<Vec<_>>().join(", ");
    format!("no run is called {wanted} (have: {merged}): merge them with --label {wanted}")
}

/// Names of the runs that contain the hops.
fn runs(run: &RunView) -> BTreeSet<&str> {
    let hops = run.series.iter().filter_map(|series| HopName::parse(&series.spec.name));
    let points = hops.flat_map(|hop| [hop.from, hop.to]);
    points.filter_map(hop::in_run).map(|(run, _)| run).collect()
}

/// The run that a pattern refers to: `host` in `hop/host.nic-to-host.edge*`.
fn wanted(pattern: &str) -> Option<String> {
    let as_name = format!("{pattern}/");
    let (run, _) = hop::in_run(HopName::parse(&as_name)?.from)?;
    Some(run.to_owned())
}
