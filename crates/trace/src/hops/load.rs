//! Checks and settings before the programs are loaded.

use super::layout;
use super::layout::{Cell, Globals, Histogram, KINDS, PLACES, POINTS, Table, kind_number};
use super::{Hook, HopOptions, Point, PointKind};
use crate::bpf::{memory_hint, possible_cpus};
use crate::error::{TraceError, with_sources};
use crate::layout::Layout;
use aya::{Ebpf, EbpfLoader};
use std::collections::BTreeSet;

/// `bpf/hops.bpf.c`, built by `bpf/build.sh`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/hops.o"));

/// Bytes of the ring for single durations, each of which takes 40: for long ones only, enough until the floors have risen; for all
/// of them, some seconds of 144,000 frames over a hop.
const RING_FOR_LONG: u32 = 1 << 20;
const RING_FOR_ALL: u32 = 1 << 24;

/// Maximum size in bytes of all histograms together for which each CPU gets its own copy.
const OWN_HISTOGRAMS: usize = 64 << 20;

/// Errors for options that cannot be traced.
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
                "point {}: the point before it must be named first",
                point.name
            )));
        }
    }
    let places: usize = options.points.iter().map(|point| point.hooks.len()).sum();
    if places > PLACES {
        return Err(TraceError::Points(format!(
            "{places} places of observation: there is room for {PLACES}"
        )));
    }
    if options.max_streams == 0 {
        return Err(TraceError::Points("no room for a stream".to_owned()));
    }
    Ok(())
}

/// Loads the object with maps of the requested sizes, and with the points in it.
pub(super) fn load(options: &HopOptions, reads_in_place: bool) -> Result<Ebpf, TraceError> {
    let streams = options.max_streams;
    let ring_octets = if options.tell_all { RING_FOR_ALL } else { RING_FOR_LONG };
    let globals = globals(options, reads_in_place);
    let mut loader = EbpfLoader::new();
    for (name, octets) in globals.each() {
        loader.override_global(name, octets, true);
    }
    let loaded = loader
        .map_max_entries("streams", streams)
        .map_max_entries("infos", streams)
        .map_max_entries("progresses", streams)
        .map_max_entries("tables", streams)
        .map_max_entries("sites", possible_cpus())
        .map_max_entries("cells", possible_cpus() * streams * globals.cell_count)
        .map_max_entries(
            "histograms",
            histogram_cpus(options) * streams * globals.histogram_count,
        )
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

fn globals(options: &HopOptions, reads_in_place: bool) -> Globals {
    let points = &options.points;
    let (places, place_count) = places(points);
    Globals {
        places,
        place_count,
        wanted: wanted(points),
        parents: std::array::from_fn(|at| points.get(at).map_or(0, |point| point.parent as u32)),
        point_count: points.len() as u32,
        always_there: always_there(points),
        cell_count: cells(points).len() as u32,
        histogram_count: histograms(points).count() as u32,
        own_histograms: own_histograms(options).into(),
        reads_in_place: reads_in_place.into(),
        most_streams: options.max_streams,
        threshold_ns: options.threshold_ns.unwrap_or(u64::MAX),
        all_events: options.tell_all.into(),
        first_by_nic: options.first_by_nic.into(),
    }
}

fn places(points: &[Point]) -> ([layout::Place; PLACES], u32) {
    let mut places = [layout::Place::default(); PLACES];
    let cells = &cells(points);
    let all = points.iter().enumerate().flat_map(|(number, point)| {
        let histogram = histogram_of(points, number, false).unwrap_or(0);
        let is_shared = u32::from(cells_of(cells, number).count() > 1);
        let of = move |place: &Hook| {
            let cell = cells.iter().position(|cell| *cell == (number, Some(place.kind)));
            layout::Place {
                ifindex: place.ifindex,
                netns: place.netns,
                kind: kind_number(place.kind),
                number: number as u32,
                parent: point.parent as u32,
                histogram,
                cell: cell.unwrap_or(number) as u32,
                is_shared,
            }
        };
        point.hooks.iter().map(of)
    });
    let mut count = 0;
    for (place, of_point) in places.iter_mut().zip(all) {
        *place = of_point;
        count += 1;
    }
    (places, count)
}

/// The events that a cell counts: those of one kind at a point; of no kind, if the point has no places.
pub(super) type CellOf = (usize, Option<PointKind>);

/// The cells of a stream on one CPU. A program may interrupt one of another kind, so each kind of a point counts in its own cell.
/// The cells of the points' first kinds come first, in the order of the points, because the programs look for them there.
pub(super) fn cells(points: &[Point]) -> Vec<CellOf> {
    let kinds = |point: &Point| point.hooks.iter().map(|hook| hook.kind).collect::<Vec<_>>();
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

/// The histograms of a stream: for each later point since the one before, and since the first, if that is another.
pub(super) fn histograms(points: &[Point]) -> impl Iterator<Item = (usize, bool)> + '_ {
    points.iter().enumerate().skip(1).flat_map(|(number, point)| {
        let total = (point.parent != 0).then_some((number, true));
        std::iter::once((number, false)).chain(total)
    })
}

/// True if each CPU counts in its own histograms. That is faster, but takes memory for each CPU.
pub(super) fn own_histograms(options: &HopOptions) -> bool {
    let octets = Histogram::OCTETS * histograms(&options.points).count() * options.max_streams as usize;
    octets * possible_cpus() as usize <= OWN_HISTOGRAMS
}

/// Number of CPUs with their own histograms; 1: all share one.
fn histogram_cpus(options: &HopOptions) -> u32 {
    if own_histograms(options) { possible_cpus() } else { 1 }
}

/// Memory of the largest maps, in MiB.
fn megabytes(options: &HopOptions) -> usize {
    let histograms = histograms(&options.points).count() * histogram_cpus(options) as usize * Histogram::OCTETS;
    let cells = cells(&options.points).len() * possible_cpus() as usize * Cell::OCTETS;
    (options.max_streams as usize * (Table::OCTETS + histograms + cells)) >> 20
}

/// Number of a stream's histogram of the durations to this point, since the first one or since the one before.
pub(super) fn histogram_of(points: &[Point], point: usize, total: bool) -> Option<u32> {
    let position = histograms(points).position(|histogram| histogram == (point, total));
    position.and_then(|position| u32::try_from(position).ok())
}

/// By kind, one bit for each interface number modulo 64 that has a point.
fn wanted(points: &[Point]) -> [u64; KINDS as usize] {
    let mut wanted = [0; KINDS as usize];
    for place in points.iter().flat_map(|point| &point.hooks) {
        wanted[kind_number(place.kind) as usize] |= 1 << (place.ifindex % 64);
    }
    wanted
}

/// One bit for each point that frames reach even if no program listens.
fn always_there(points: &[Point]) -> u32 {
    let numbered = points.iter().enumerate().skip(1);
    let there = numbered.filter(|(_, point)| !point.hooks.iter().any(|hook| hook.kind.is_reader()));
    there.fold(0, |bits, (number, _)| bits | 1 << number)
}

/// Kinds of events at these points.
pub(super) fn kinds(points: &[Point]) -> BTreeSet<PointKind> {
    let places = points.iter().flat_map(|point| &point.hooks);
    places.map(|hook| hook.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::{OBJECT, cells, cells_of, globals, places};
    use crate::hops::layout::{Cell, Histogram, Progress, Settings, Sites, StreamInfo, Table};
    use crate::hops::{Hook, HopOptions, Point, PointKind};
    use crate::layout::{Layout, assert_object_has};

    #[test]
    fn the_object_has_what_is_taken_from_it() {
        let values = [
            (".bss", Settings::OCTETS),
            ("infos", StreamInfo::OCTETS),
            ("progresses", Progress::OCTETS),
            ("stream_count", size_of::<u32>()),
            ("tables", Table::OCTETS),
            ("sites", Sites::OCTETS),
            ("cells", Cell::OCTETS),
            ("histograms", Histogram::OCTETS),
            ("floors", size_of::<u64>()),
            ("troubles", size_of::<u64>()),
        ];
        assert_object_has(OBJECT, &values, &PointKind::ALL.map(|kind| kind.program().to_owned()));
    }

    #[test]
    fn every_variable_of_the_object_is_set() {
        let options = HopOptions {
            points: Vec::new(),
            max_streams: 1,
            threshold_ns: None,
            tell_all: false,
            first_by_nic: false,
        };
        crate::layout::assert_variables(OBJECT, &globals(&options, false).each());
    }

    #[test]
    fn kinds_of_one_point_count_apart() {
        let point = |kinds: &[PointKind]| Point {
            name: "a".to_owned(),
            hooks: kinds
                .iter()
                .map(|kind| Hook {
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
            .map(|place| [place.cell, place.is_shared])
            .collect();
        // Cell number, and 1 if the histograms are shared.
        assert_eq!(of_places, [[0, 0], [1, 1], [3, 1], [1, 1], [2, 0]]);
    }
}
