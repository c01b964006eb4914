//! The place of a change and that of a series: they have texts of different forms.

use crate::tables::IN_IT;
use model::{Change, RunView, setting};

/// Place whose changes are those of another machine.
pub(super) const FAR: &str = "far machine";

/// Kinds of places, as a change names them.
const KINDS: [&str; 3] = ["container", "vm", FAR];

/// Kinds of the places of a series, the outer one first: `vm: QEMU; in it, container: runc` is `vm`, `container`. A place of unknown kind is
/// `unknown`.
pub(super) fn kinds_of(place: &str) -> Vec<&'static str> {
    let kind = |part: &str| KINDS.into_iter().find(|kind| part.starts_with(kind));
    place.split(IN_IT).map(|part| kind(part).unwrap_or("unknown")).collect()
}

/// True if a series in a place of these kinds may feel a change in a place: in the same one, or in a container inside it.
pub(super) fn is_felt_in(place: &str, kinds: &[&str]) -> bool {
    let own: Vec<&str> = path(place);
    let inside = kinds.strip_prefix(own.as_slice());
    inside.is_some_and(|inside| inside.iter().all(|kind| *kind == "container"))
}

/// Kinds of the place of a change, the outer one first.
fn path(place: &str) -> Vec<&str> {
    let parts = place.split(": ");
    let kinds = parts.flat_map(|part| match part {
        "container-in-vm" => vec!["vm", "container"],
        part => vec![part],
    });
    kinds.collect()
}

/// True if the run has several places of the change's kind that have CPUs of their own, and nothing tells in which one the change was.
pub(super) fn is_ambiguous(run: &RunView, change: &Change) -> bool {
    let Some(place) = change.place.as_deref().filter(|place| path(place).contains(&"vm")) else {
        return false;
    };
    let depth = path(place).iter().filter(|kind| **kind != "container").count();
    let texts = run.series.iter().filter_map(|series| series.setting(setting::PLACE));
    let here = texts.filter(|text| is_felt_in(place, &kinds_of(text)));
    let mut machines: Vec<Vec<&str>> = here.map(|text| text.split(IN_IT).take(depth).collect()).collect();
    machines.sort_unstable();
    machines.dedup();
    let is_then = |(from_ns, to_ns): (u64, u64)| from_ns <= change.at_ns && change.since_ns <= to_ns;
    let of_place = run.watches.iter().filter(|watch| watch.place.as_deref() == Some(place));
    let watches = of_place.filter(|watch| is_then((watch.from_ns, watch.to_ns))).count();
    // Several runs in one guest each see its changes.
    let is_it = |other: &&Change| other.place == change.place && other.is_seen_twice(change);
    machines.len() > 1 || watches > run.changes.iter().filter(is_it).count()
}
