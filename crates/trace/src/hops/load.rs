//! What is checked and set before the programs are loaded.

use super::layout::{BUCKETS, PLACES, POINTS, TABLE_WORDS};
use super::{HopOptions, Place, Point, PointKind};
use crate::bpf::memory_hint;
use crate::error::{TraceError, with_sources};
use aya::{Btf, Ebpf, EbpfLoader};
use std::collections::BTreeSet;

/// `bpf/hops.bpf.c`, built by `bpf/build.sh`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/hops.o"));

/// Octets of the ring of single durations, each of which takes 40: with long ones only, what comes before the floors have
/// risen; with all of them, some seconds of 144,000 frames over a hop.
const RING_FOR_LONG: u32 = 1 << 20;
const RING_FOR_ALL: u32 = 1 << 24;

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
pub(super) fn load(btf: &Btf, options: &HopOptions) -> Result<Ebpf, TraceError> {
    let (points, streams) = (POINTS as u32, options.max_streams);
    let ring_octets = if options.tell_all { RING_FOR_ALL } else { RING_FOR_LONG };
    let wanted = wanted(&options.points);
    let (places, place_count) = places(&options.points);
    let loaded = EbpfLoader::new()
        .btf(Some(btf))
        .override_global("wanted", &wanted, true)
        .override_global("places", &places, true)
        .override_global("place_count", &place_count, true)
        .map_max_entries("prefixes", streams * points)
        .map_max_entries("streams", streams)
        .map_max_entries("infos", streams)
        .map_max_entries("tables", streams)
        .map_max_entries("newest", streams)
        .map_max_entries("cells", streams * points)
        .map_max_entries("extremes", 2 * streams * points)
        .map_max_entries("histograms", 2 * streams * points)
        .map_max_entries("floors", 2 * streams * points)
        .map_max_entries("durations", ring_octets)
        .load(OBJECT);
    loaded.map_err(|error| {
        let reason = with_sources(&error);
        match error {
            aya::EbpfError::MapError(_) => TraceError::Memory {
                megabytes: (streams as usize * (TABLE_WORDS * 8 + 2 * POINTS * BUCKETS * 4)) >> 20,
                reason: format!("{reason}{}", memory_hint()),
            },
            _ => TraceError::Object(reason),
        }
    })
}

/// Interface, namespace, kind, point and the point before it, of each place.
type Places = [[u32; 5]; PLACES];

fn places(points: &[Point]) -> (Places, u32) {
    let mut places = Places::default();
    let all = points.iter().enumerate().flat_map(|(number, point)| {
        let of = move |place: &Place| {
            let kind = kind_number(place.kind);
            [place.ifindex, place.netns, kind, number as u32, point.parent as u32]
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

/// By kind, a bit for each interface number modulo 64 that has a point.
fn wanted(points: &[Point]) -> [u64; PointKind::ALL.len()] {
    let mut wanted = [0; PointKind::ALL.len()];
    for place in points.iter().flat_map(|point| &point.places) {
        wanted[kind_number(place.kind) as usize] |= 1 << (place.ifindex % 64);
    }
    wanted
}

/// What happens at these points.
pub(super) fn kinds(points: &[Point]) -> BTreeSet<PointKind> {
    let places = points.iter().flat_map(|point| &point.places);
    places.map(|place| place.kind).collect()
}

fn kind_number(kind: PointKind) -> u32 {
    PointKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u32
}
