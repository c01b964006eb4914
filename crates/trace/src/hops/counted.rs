//! Counts of the programs since the last reading, read from the maps such that all figures of a series cover the same frames.

use super::layout::{BUCKETS, Cell, Extremes};
use super::load::{cells, cells_of, histogram_of, histograms, own_histograms};
use super::maps::Maps;
use super::reading::{Distribution, HopCounts, Reading, StreamInfo};
use super::{HopOptions, HopSeries};
use crate::bpf::possible_cpus;
use aya::maps::MapError;
use std::collections::{BTreeMap, BTreeSet};

/// How often cells and histograms are read until they cover the same frames. They are values of several maps, read one after the
/// other in some 10 µs, while frames of one stream come every 200 µs: the second attempt is usually enough.
const TRIES: usize = 8;

type Buckets = Box<[u32; BUCKETS]>;

/// Counts that have been passed on so far.
#[derive(Default)]
pub(super) struct Counted {
    /// The CPUs that have counted anything.
    cpus: BTreeSet<u32>,
    counts: BTreeMap<(u32, usize), HopCounts>,
    histograms: BTreeMap<HopSeries, HandedOver>,
}

/// Counts of a histogram that have been passed on.
struct HandedOver {
    buckets: Buckets,
    /// Number of durations, including those in no bucket.
    durations: u64,
}

impl Default for HandedOver {
    fn default() -> Self {
        Self {
            buckets: Box::new([0; BUCKETS]),
            durations: 0,
        }
    }
}

/// The maps to read, and the state of the tracer.
pub(super) struct Asked<'a> {
    pub(super) maps: &'a Maps,
    pub(super) options: &'a HopOptions,
    /// Number of the current span.
    pub(super) span: u64,
    /// True once no program runs any more: a duration that is in no bucket by then never will be.
    pub(super) is_over: bool,
}

/// Cells and histograms of a stream at a point at one instant.
struct Taken {
    cells: Vec<Cell>,
    counts: HopCounts,
    hop: Option<Buckets>,
    total: Option<Buckets>,
}

impl Counted {
    /// Finds CPUs that have counted anything since.
    pub(super) fn find_cpus(&mut self, maps: &Maps) -> Result<(), MapError> {
        for cpu in 0..possible_cpus() {
            if !self.cpus.contains(&cpu) && maps.sites(cpu)?.used != 0 {
                self.cpus.insert(cpu);
            }
        }
        Ok(())
    }

    /// Counts of a stream at a point since the last reading; `None`: no change. Within one reading there are never more durations
    /// over the threshold than durations: a frame that was counted while the maps were read belongs to the next reading.
    pub(super) fn read(
        &mut self,
        asked: &Asked,
        stream: &StreamInfo,
        point: usize,
    ) -> Result<Option<Reading>, MapError> {
        let number = stream.number;
        let series = |total| HopSeries {
            stream: number,
            point,
            total,
        };
        let Taken {
            cells,
            counts: mut now,
            hop,
            total,
        } = self.take(asked, number, point)?;
        // It is not known yet if the stream comes to this point: once it does, its missing frames count as lost.
        if !stream.has_reached(point) {
            now.lost = 0;
        }
        let counted = now.paired;
        let of_both = |cell: &Cell| [asked.span - 1, asked.span].map(|span| cell.extremes(span));
        let kept: Vec<Extremes> = cells.iter().flat_map(of_both).flatten().collect();
        let of = |which: fn(&Extremes) -> (u64, u64)| kept.iter().map(which).collect::<Vec<_>>();
        let mut hand_over = |series, buckets: Option<Buckets>, extremes: Vec<(u64, u64)>| {
            let found = buckets.map(|buckets| self.distribution(series, buckets, asked.is_over.then_some(counted)));
            found.unwrap_or_default().with_extremes(&extremes)
        };
        let hop = hand_over(series(false), hop, of(|extremes| extremes.hop));
        let total = hand_over(series(true), total, of(|extremes| extremes.total));
        let before = self.counts.entry((number, point)).or_default();
        let mut counts = now.since(before);
        counts.over = counts.over.min(hop.durations());
        now.over = before.over + counts.over;
        *before = now;
        let is_empty = counts == HopCounts::default() && hop.durations() == 0 && total.durations() == 0;
        Ok((!is_empty).then_some(Reading {
            stream: number,
            point,
            until: cells.iter().filter_map(Cell::last).max(),
            counts,
            hop,
            total,
        }))
    }

    /// Reads until cells and histograms cover the same frames, or the attempts are used up. The cells are read last: counts that
    /// the histograms do not have yet are carried over, and come with the histograms next time.
    fn take(&mut self, asked: &Asked, stream: u32, point: usize) -> Result<Taken, MapError> {
        let mut taken = self.cells(asked, stream, point)?;
        if !asked.is_over && self.is_whole(asked, &taken, stream, point) {
            return Ok(taken);
        }
        for _ in 0..TRIES {
            let of = |total| self.histogram(asked, HopSeries { stream, point, total });
            let (hop, total) = (of(false)?, of(true)?);
            taken = Taken {
                hop,
                total,
                ..self.cells(asked, stream, point)?
            };
            if self.is_whole(asked, &taken, stream, point) {
                break;
            }
            // All CPUs may count in the same histograms, so a CPU without counts before has counted there, too.
            self.find_cpus(asked.maps)?;
        }
        Ok(taken)
    }

    /// True if the histograms, together with the durations passed on earlier, have as many durations as the cells.
    fn is_whole(&self, asked: &Asked, taken: &Taken, stream: u32, point: usize) -> bool {
        let both = [(false, &taken.hop), (true, &taken.total)].into_iter();
        let mut there = both.filter(|(total, _)| histogram_of(&asked.options.points, point, *total).is_some());
        there.all(|(total, buckets)| {
            let series = HopSeries { stream, point, total };
            let new = buckets
                .as_ref()
                .map_or(0, |buckets| self.since(series, buckets).count());
            self.durations_of(series) + new == taken.counts.paired
        })
    }

    fn durations_of(&self, series: HopSeries) -> u64 {
        self.histograms
            .get(&series)
            .map_or(0, |handed_over| handed_over.durations)
    }

    fn since(&self, series: HopSeries, buckets: &Buckets) -> Distribution {
        match self.histograms.get(&series) {
            Some(before) => Distribution::between(&before.buckets, buckets),
            None => Distribution::between(&[0; BUCKETS], buckets),
        }
    }

    /// Passes on the new counts in these buckets. `counted` is the number of all durations, including those in no bucket.
    fn distribution(&mut self, series: HopSeries, buckets: Buckets, counted: Option<u64>) -> Distribution {
        let mut found = self.since(series, &buckets);
        let handed_over = self.histograms.entry(series).or_default();
        handed_over.durations += found.count();
        found.clipped = counted.map_or(0, |counted| counted.saturating_sub(handed_over.durations));
        handed_over.durations += found.clipped;
        handed_over.buckets = buckets;
        found
    }

    /// Counts of each CPU for a stream at a point, by kind of event.
    fn cells(&self, asked: &Asked, stream: u32, point: usize) -> Result<Taken, MapError> {
        let all = cells(&asked.options.points);
        let of_point: Vec<u32> = cells_of(&all, point).collect();
        let keys = self.cpus.iter().flat_map(|cpu| {
            let first = (cpu * asked.options.max_streams + stream) * all.len() as u32;
            of_point.iter().map(move |number| first + number)
        });
        let cells: Vec<Cell> = keys.map(|key| asked.maps.cell(key)).collect::<Result<_, _>>()?;
        Ok(Taken {
            counts: HopCounts::of(cells.iter(), point),
            cells,
            hop: None,
            total: None,
        })
    }

    /// The histogram summed over all CPUs; `None` for a series that equals that of the hop.
    fn histogram(&self, asked: &Asked, series: HopSeries) -> Result<Option<Buckets>, MapError> {
        let points = &asked.options.points;
        let Some(of_stream) = histogram_of(points, series.point, series.total) else {
            return Ok(None);
        };
        let (streams, of_each) = (asked.options.max_streams, histograms(points).count() as u32);
        let mut sums = Box::new([0u32; BUCKETS]);
        // Without separate histograms, all CPUs use that of the first.
        let own = own_histograms(asked.options);
        for cpu in if own { self.cpus.clone() } else { BTreeSet::from([0]) } {
            let number = (cpu * streams + series.stream) * of_each + of_stream;
            asked.maps.add_histogram(number, &mut sums)?;
        }
        Ok(Some(sums))
    }
}
