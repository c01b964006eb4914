//! Limits by which a relay is judged with every profile.

use super::{TripConfig, UnderTest};
use units::Ns;
use waveform::type_test::Group;

/// Limits of a relay under this test, each in the format of a profile: it trips for each fault, within the time required by the
/// scenario or the type test, with the expected phases and function, and for nothing else.
pub fn limits(config: &TripConfig) -> Vec<String> {
    let groups = config.groups();
    let required = config.relays.iter().flat_map(|relay| required(config, &groups, relay));
    let tripping = groups.iter().any(|group| group.trips);
    let failures = tripping.then(|| FAILURES.to_owned());
    let any = |is: fn(&Group) -> bool| groups.iter().any(|group| group.trips && is(group));
    let phases = any(|group| group.selection.phases.is_some()).then(|| WRONG_PHASE.to_owned());
    let zones = any(|group| group.selection.function.is_some()).then(|| WRONG_ZONE.to_owned());
    let always = [Some(FALSE.to_owned()), phases, zones].into_iter().flatten();
    required.chain(failures).chain(always).collect()
}

/// Limits on the operate time of a relay: one for all series if their times are equal, otherwise one for each series.
fn required(config: &TripConfig, groups: &[Group], relay: &UnderTest) -> Vec<String> {
    let of_groups = groups.iter().filter(|group| group.trips);
    let times: Vec<(&str, u64)> = of_groups
        .filter_map(|group| Some((group.label.as_str(), group.within_ns?)))
        .collect();
    let is_one = times.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match (&config.type_test, times.first()) {
        (Some(test), Some((_, ns))) if is_one => {
            let name = relay.called(&test.name);
            vec![within(&name, &format!("{name}-*"), *ns, &source(config, &test.name))]
        }
        _ => times
            .iter()
            .map(|(label, ns)| {
                let name = relay.called(label);
                within(&name, &name, *ns, &source(config, label))
            })
            .collect(),
    }
}

fn source(config: &TripConfig, label: &str) -> String {
    match &config.type_test {
        Some(test) => format!("type test {}", test.name),
        None => format!("scenario {label}: expect.within"),
    }
}

/// The limit of an operate time.
pub(crate) fn within(name: &str, series: &str, ns: u64, source: &str) -> String {
    format!(
        "[[limit]]\nid = {id:?}\nseries = {series:?}\nquantity = \"max\"\nallowed = \"{ns}ns\"\nsource = {source:?}\n\
         why = \"Required operate time, {within}: from the due instant of the first faulted sample to the trip at the test set.\"\n\n",
        id = format!("trip.within.{name}"),
        series = format!("trip/{series}"),
        within = Ns(ns),
    )
}

/// The limit of failures to trip.
pub(crate) const FAILURES: &str = r#"[[limit]]
id = "trip.failures"
series = "trip/*"
quantity = "lost"
allowed = 0
source = "IEC 60050-448: dependability, the probability of not having a failure to operate"
why = "A relay trips for every fault inside its zone."

"#;

/// The limit of false trips.
pub(crate) const FALSE: &str = r#"[[limit]]
id = "trip.false"
series = "trip/*|security/*"
quantity = "unwanted"
allowed = 0
source = "IEC 60050-448: security, the probability of not having an unwanted operation"
why = "A relay trips only for a fault inside its zone."

"#;

/// The limit of overruns of relays that are measured beside the test set, during its shots.
pub const OVERRUNS: &str = r#"[[limit]]
id = "trip.overruns"
series = "trip/*|security/*"
quantity = "overruns"
allowed = 0
source = "ABB and the University of Torino: no fault pattern triggering any overruns"
why = "A relay's task keeps its cycle while a fault is on: no cycle is longer than its interval, and none is skipped."

"#;

const WRONG_PHASE: &str = r#"[[limit]]
id = "trip.wrong-phase"
series = "phase/*"
quantity = "wrong"
allowed = 0
source = "IEC 60050-448: selectivity, the ability to identify the faulty phases"
why = "A relay trips the phases that the scenario expects, and no other. Reported by the members in --phase-members."

"#;

const WRONG_ZONE: &str = r#"[[limit]]
id = "trip.wrong-zone"
series = "zone/*"
quantity = "wrong"
allowed = 0
source = "IEC 60050-448: selectivity, the ability to identify the faulty section"
why = "A relay trips by the zone or function that the scenario expects, and no other. Reported by the members in --function-members."

"#;
