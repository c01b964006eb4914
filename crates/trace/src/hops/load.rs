//! What is checked and set before the programs are loaded.

use super::layout::{BUCKETS, CELL_WORDS, PLACES, POINTS, TABLE_WORDS};
use super::{HopOptions, Place, Point, PointKind};
use crate::bpf::{memory_hint, possible_cpus};
use crate::error::{TraceError, with_sources};
use aya::{Btf, Ebpf, EbpfLoader};
use std::collections::BTreeSet;

/// `bpf/hops.bpf.c`, built by `bpf/build.sh`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/hops.o"));

/// Octets of the ring of single durations, each of which takes 40: with long ones only, what comes before the floors have
/// risen; with all of them, some seconds of 144,000 frames over a hop.
const RING_FOR_LONG: u32 = 1 << 20;
const RING_FOR_ALL: u32 = 1 << 24;

/// Octets that histograms may take for each CPU to have its own.
const OWN_HISTOGRAMS: usize = 64 << 20;

/// What cannot be traced.
pub(super) fn check(options: &HopOptions) -> Result<(), TraceError> {
    let count = options.points.len();
    if !(2..=POINTS).contains(&count) {
        return Err(TraceError::Points(format!(
            "{count} observation points: there must be 2 to {POINTS}"
        )));
    }
    for (number, point) in options.points.iter().enumerate() {
        if number > 0 && point.parent >= number {
            return Err(TraceError::Points(format!(
                "point {}: the one before it must be named before it",
                point.name
            )));
        }
    }
    let places: usize = options.points.iter().map(|point| point.places.len()).sum();
    if places > PLACES {
        return Err(TraceError::Points(format!(
            "{places} places of observation: there is room for {PLACES}"
        )));
    }
    if options.max_streams == 0 {
        return Err(TraceError::Points("room for no stream".to_owned()));
    }
    Ok(())
}

/// Loads the object with room for what is asked for, and with the points in it.
pub(super) fn load(btf: &Btf, options: &HopOptions, reads_in_place: bool) -> Result<Ebpf, TraceError> {
    let (points, streams) = (options.points.len() as u32, options.max_streams);
    let ring_octets = if options.tell_all { RING_FOR_ALL } else { RING_FOR_LONG };
    let (places, place_count) = places(&options.points);
    let cell_count = cells(&options.points).len() as u32;
    let parents: [u32; POINTS] =
        std::array::from_fn(|at| options.points.get(at).map_or(0, |point| point.parent as u32));
    let histogram_count = histograms(&options.points).count() as u32;
    let loaded = EbpfLoader::new()
        .btf(Some(btf))
        .override_global("wanted", &wanted(&options.points), true)
        .override_global("places", &places, true)
        .override_global("place_count", &place_count, true)
        .override_global("parents", &parents, true)
        .override_global("point_count", &points, true)
        .override_global("always_there", &always_there(&options.points), true)
        .override_global("cell_count", &cell_count, true)
        .override_global("histogram_count", &histogram_count, true)
        .override_global("own_histograms", &u32::from(own_histograms(options)), true)
        .override_global("reads_in_place", &u32::from(reads_in_place), true)
        .override_global("most_streams", &streams, true)
        .override_global("threshold_ns", &options.threshold_ns.unwrap_or(u64::MAX), true)
        .override_global("all_events", &u32::from(options.tell_all), true)
        .map_max_entries("streams", streams)
        .map_max_entries("infos", streams)
        .map_max_entries("progresses", streams)
        .map_max_entries("tables", streams)
        .map_max_entries("sites", possible_cpus())
        .map_max_entries("cells", possible_cpus() * streams * cell_count)
        .map_max_entries("histograms", histogram_cpus(options) * streams * histogram_count)
        .map_max_entries("floors", 2 * streams * POINTS as u32)
        .map_max_entries("durations", ring_octets)
        .load(OBJECT);
    loaded.map_err(|error| {
        let reason = with_sources(&error);
        match error {
            aya::EbpfError::MapError(_) => TraceError::Memory {
                megabytes: megabytes(options),
                reason: format!("{reason}{}", memory_hint()),
            },
            _ => TraceError::Object(reason),
        }
    })
}

/// Of each place: interface, namespace, kind, point, the point before it, the first of its histograms, its cell, and whether
/// programs of other kinds count in the same histograms.
type Places = [[u32; 8]; PLACES];

fn places(points: &[Point]) -> (Places, u32) {
    let mut places = Places::default();
    let cells = &cells(points);
    let all = points.iter().enumerate().flat_map(|(number, point)| {
        let histogram = histogram_of(points, number, false).unwrap_or(0);
        let is_shared = u32::from(cells_of(cells, number).count() > 1);
        let of = move |place: &Place| {
            let cell = cells.iter().position(|cell| *cell == (number, Some(place.kind)));
            let (kind, cell) = (kind_number(place.kind), cell.unwrap_or(number) as u32);
            let (number, parent) = (number as u32, point.parent as u32);
            [
                place.ifindex,
                place.netns,
                kind,
                number,
                parent,
                histogram,
                cell,
                is_shared,
            ]
        };
        point.places.iter().map(of)
    });
    let mut count = 0;
    for (place, words) in places.iter_mut().zip(all) {
        *place = words;
        count += 1;
    }
    (places, count)
}

/// What a cell counts: the events of one kind at a point; of no kind, at a point without places.
pub(super) type CellOf = (usize, Option<PointKind>);

/// The cells of a stream on one CPU. A program may interrupt that of another kind, so each kind of a point counts in a cell of its
/// own. Those of the points' first kinds come first, in the order of the points: the programs look for them there.
pub(super) fn cells(points: &[Point]) -> Vec<CellOf> {
    let kinds = |point: &Point| point.places.iter().map(|place| place.kind).collect::<Vec<_>>();
    let first = points
        .iter()
        .enumerate()
        .map(|(number, point)| (number, kinds(point).first().copied()));
    let mut cells: Vec<CellOf> = first.collect();
    for (number, point) in points.iter().enumerate() {
        for kind in kinds(point) {
            if !cells.contains(&(number, Some(kind))) {
                cells.push((number, Some(kind)));
            }
        }
    }
    cells
}

/// The numbers of a point's cells.
pub(super) fn cells_of(cells: &[CellOf], point: usize) -> impl Iterator<Item = u32> + '_ {
    let numbered = (0..).zip(cells);
    numbered
        .filter(move |(_, (of, _))| *of == point)
        .map(|(number, _)| number)
}

/// The histograms of a stream: of each later point since the one before, and since the first where that is another.
pub(super) fn histograms(points: &[Point]) -> impl Iterator<Item = (usize, bool)> + '_ {
    points.iter().enumerate().skip(1).flat_map(|(number, point)| {
        let total = (point.parent != 0).then_some((number, true));
        std::iter::once((number, false)).chain(total)
    })
}

/// Whether each CPU counts in histograms of its own. It is faster, and takes as much memory as often.
pub(super) fn own_histograms(options: &HopOptions) -> bool {
    let octets = BUCKETS * 4 * histograms(&options.points).count() * options.max_streams as usize;
    octets * possible_cpus() as usize <= OWN_HISTOGRAMS
}

/// How many CPUs have histograms of their own; 1: all have the same.
fn histogram_cpus(options: &HopOptions) -> u32 {
    if own_histograms(options) { possible_cpus() } else { 1 }
}

/// What the largest maps take.
fn megabytes(options: &HopOptions) -> usize {
    let histograms = histograms(&options.points).count() * histogram_cpus(options) as usize * BUCKETS * 4;
    let cells = cells(&options.points).len() * possible_cpus() as usize * CELL_WORDS * 8;
    (options.max_streams as usize * (TABLE_WORDS * 8 + histograms + cells)) >> 20
}

/// Which of a stream's histograms is that of the durations to this point, since the first one or since the one before.
pub(super) fn histogram_of(points: &[Point], point: usize, total: bool) -> Option<u32> {
    let position = histograms(points).position(|histogram| histogram == (point, total));
    position.and_then(|position| u32::try_from(position).ok())
}

/// By kind, a bit for each interface number modulo 64 that has a point.
fn wanted(points: &[Point]) -> [u64; PointKind::ALL.len()] {
    let mut wanted = [0; PointKind::ALL.len()];
    for place in points.iter().flat_map(|point| &point.places) {
        wanted[kind_number(place.kind) as usize] |= 1 << (place.ifindex % 64);
    }
    wanted
}

/// A bit for each point that frames come to whoever listens.
fn always_there(points: &[Point]) -> u32 {
    let numbered = points.iter().enumerate().skip(1);
    let there = numbered.filter(|(_, point)| !point.places.iter().any(|place| place.kind.is_reader()));
    there.fold(0, |bits, (number, _)| bits | 1 << number)
}

/// What happens at these points.
pub(super) fn kinds(points: &[Point]) -> BTreeSet<PointKind> {
    let places = points.iter().flat_map(|point| &point.places);
    places.map(|place| place.kind).collect()
}

fn kind_number(kind: PointKind) -> u32 {
    PointKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::{cells, cells_of, places};
    use crate::hops::{Place, Point, PointKind};

    #[test]
    fn kinds_of_one_point_count_apart() {
        let point = |kinds: &[PointKind]| Point {
            name: "a".to_owned(),
            places: kinds
                .iter()
                .map(|kind| Place {
                    ifindex: 7,
                    netns: 1,
                    kind: *kind,
                })
                .collect(),
            parent: 0,
        };
        let points = [
            point(&[PointKind::Receive]),
            point(&[PointKind::Read, PointKind::Consume, PointKind::Read]),
            point(&[PointKind::Transmit]),
        ];
        let found = cells(&points);
        assert_eq!(found.len(), 4);
        let numbers = [0, 1, 2].map(|point| cells_of(&found, point).collect::<Vec<_>>());
        assert_eq!(numbers, [vec![0], vec![1, 3], vec![2]]);
        let (places, count) = places(&points);
        let of_places: Vec<[u32; 2]> = places[..count as usize]
            .iter()
            .map(|place| [place[6], place[7]])
            .collect();
        // Cell, and whether the histograms are shared.
        assert_eq!(of_places, [[0, 0], [1, 1], [3, 1], [1, 1], [2, 0]]);
    }
}
