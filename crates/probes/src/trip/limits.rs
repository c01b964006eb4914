//! What a relay is judged by, whatever profile is named.

use units::format_ns;
use waveform::scenario::{Expect, Scenario};

/// Limits of a relay that is tested with these scenarios, each as it stands in a profile: it trips for each fault, in the time that
/// the scenario requires, and for nothing else.
pub fn limits(scenarios: &[Scenario]) -> Vec<String> {
    let required = scenarios.iter().filter_map(|scenario| match scenario.expect {
        Expect::Trip { within_ns: Some(ns) } => Some(within(&scenario.name, ns)),
        _ => None,
    });
    let tripping = scenarios.iter().any(Scenario::wants_trip);
    let failures = tripping.then(|| FAILURES.to_owned());
    required.chain(failures).chain([FALSE.to_owned()]).collect()
}

fn within(name: &str, ns: u64) -> String {
    format!(
        "[[limit]]\nid = {id:?}\nseries = {series:?}\nquantity = \"max\"\nallowed = \"{ns}ns\"\nsource = {source:?}\n\
         why = \"Required operate time, {within}: from the due instant of the first faulted sample to the trip at the test set.\"\n\n",
        id = format!("trip.within.{name}"),
        series = format!("trip/{name}"),
        source = format!("scenario {name}: expect.within"),
        within = format_ns(ns as f64),
    )
}

const FAILURES: &str = r#"[[limit]]
id = "trip.failures"
series = "trip/*"
quantity = "lost"
allowed = 0
source = "IEC 60050-448: dependability, the probability of not having a failure to operate"
why = "A relay trips for every fault inside its zone."

"#;

const FALSE: &str = r#"[[limit]]
id = "trip.false"
series = "trip/*|security/*"
quantity = "unwanted"
allowed = 0
source = "IEC 60050-448: security, the probability of not having an unwanted operation"
why = "A relay trips for nothing but a fault inside its zone."
"#;
