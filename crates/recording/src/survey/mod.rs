//! Survey of a recording of any length, in constant memory.

mod bands;
mod histogram;
mod sequence;
mod stream;

pub use bands::{BAND_PIXELS, Band};
pub use histogram::LogHistogram;
pub use sequence::Counts;
pub use stream::{PacingSurvey, StreamSurvey};

use crate::block::{Block, flag};
use crate::reader::Segment;
use crate::stream::StreamInfo;
use bands::Bands;

/// Number of listed latencies.
pub const WORST_LISTED: usize = 20;

/// A large latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    /// The latency in ns.
    pub value_ns: i64,
    /// Index of its stream in the survey.
    pub stream: usize,
    /// Number of the sample.
    pub number: u64,
    /// Instant at which it reached the later point, in ns of that point's clock.
    pub at_ns: i64,
}

/// Largest number of reasons kept for unreadable segments; all segments are counted.
const REASONS_KEPT: usize = 8;

/// The way between two points, over all streams.
#[derive(Debug, Clone)]
pub struct LatencySurvey {
    /// Index of the first point.
    pub from: usize,
    /// Index of the second point.
    pub to: usize,
    bands: Bands,
    worst: stats::Worst<Worst>,
}

impl LatencySurvey {
    /// Latency over time: [`BAND_PIXELS`] parts of the recording, those without a sample `None`.
    pub fn bands(&self) -> Vec<Option<Band>> {
        self.bands.finished()
    }

    /// The largest latencies, worst first.
    pub fn worst(&self) -> Vec<&Worst> {
        self.worst.listed()
    }
}

/// Survey of segments.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Names of the points.
    pub points: Vec<String>,
    /// The ways between them: from each point to the next, and from the first to the last.
    pub latencies: Vec<LatencySurvey>,
    /// The streams, in the order of their first records.
    pub streams: Vec<StreamSurvey>,
    /// First and last instant of the recording in ns, as given.
    pub span_ns: (i64, i64),
    /// Number of segments that were read.
    pub segments: u64,
    /// Number of unreadable segments, whose samples are not in the figures.
    pub unreadable: u64,
    /// Number of segments with other points than the first one, which are not in the figures.
    pub foreign: u64,
    /// Reasons for the first unreadable segments.
    pub reasons: Vec<String>,
    known: Vec<StreamInfo>,
    places: Vec<Option<usize>>,
    wanted: Option<Vec<(String, String)>>,
}

impl Survey {
    /// A survey of a recording that spans these instants, in ns of the stamps' clock.
    pub fn new(span_ns: (i64, i64)) -> Self {
        Self {
            points: Vec::new(),
            latencies: Vec::new(),
            streams: Vec::new(),
            span_ns,
            segments: 0,
            unreadable: 0,
            foreign: 0,
            reasons: Vec::new(),
            known: Vec::new(),
            places: Vec::new(),
            wanted: None,
        }
    }

    /// The same with only these ways, by the names of their points: for a recording whose points are not in one row, or whose stamps are not all on
    /// one clock.
    #[must_use]
    pub fn with_ways(mut self, ways: Vec<(String, String)>) -> Self {
        self.wanted = Some(ways);
        self
    }

    /// True for a recording of hops: then a number without a record was either lost or only not measured, which the counters of the hops show.
    pub fn is_of_hops(&self) -> bool {
        self.wanted.is_some()
    }

    /// Notes a segment that could not be read.
    pub fn unreadable(&mut self, why: String) {
        self.unreadable += 1;
        if self.reasons.len() < REASONS_KEPT {
            self.reasons.push(why);
        }
    }

    /// Takes a segment.
    pub fn take(&mut self, segment: &Segment) {
        if self.points.is_empty() {
            self.begin(segment);
        }
        if segment.points != self.points {
            self.foreign += 1;
            return;
        }
        self.segments += 1;
        self.place(segment);
        for index in 0..segment.block.len() {
            self.record(&segment.block, index);
        }
    }

    /// Number of received samples of all streams.
    pub fn received(&self) -> u64 {
        self.streams.iter().map(|stream| stream.counts.received).sum()
    }

    /// Number of samples of all streams that never came.
    pub fn lost(&self) -> u64 {
        self.streams.iter().map(|stream| stream.counts.lost).sum()
    }

    /// Latencies of all streams together on the way number `way`.
    pub fn histogram(&self, way: usize) -> LogHistogram {
        let mut all = LogHistogram::default();
        for stream in &self.streams {
            if let Some(histogram) = stream.latencies.get(way) {
                all.add(histogram);
            }
        }
        all
    }

    fn begin(&mut self, segment: &Segment) {
        self.points.clone_from(&segment.points);
        let points = self.points.len();
        let mut ways: Vec<(usize, usize)> = (1..points).map(|to| (to - 1, to)).collect();
        if points > 2 {
            ways.push((0, points - 1));
        }
        if let Some(wanted) = &self.wanted {
            let place = |name: &String| self.points.iter().position(|point| point == name);
            ways = wanted
                .iter()
                .filter_map(|(from, to)| place(from).zip(place(to)))
                .collect();
            // In the order of the way, with the longest way last.
            ways.sort_by_key(|(from, to)| (to.saturating_sub(*from), *from));
        }
        let span_ns = self.span_ns;
        let way = |(from, to)| LatencySurvey {
            from,
            to,
            bands: Bands::new(span_ns),
            worst: stats::Worst::new(WORST_LISTED),
        };
        self.latencies = ways.into_iter().map(way).collect();
    }

    /// Finds the segment's streams among the known ones.
    fn place(&mut self, segment: &Segment) {
        if segment.streams == self.known {
            return;
        }
        self.known.clone_from(&segment.streams);
        self.places.clear();
        for info in &segment.streams {
            let found = self.streams.iter().position(|stream| stream.info.is_same(info));
            let place = found.unwrap_or(self.streams.len());
            match found {
                Some(place) => self.streams[place].info.rate = info.rate.or(self.streams[place].info.rate),
                None => {
                    let stream = StreamSurvey::new(info.clone(), self.points.len(), self.latencies.len());
                    self.streams.push(stream);
                }
            }
            let index = usize::from(info.number);
            if self.places.len() <= index {
                self.places.resize(index + 1, None);
            }
            self.places[index] = Some(place);
        }
    }

    #[inline]
    fn record(&mut self, block: &Block, index: usize) {
        let Some(Some(place)) = self.places.get(usize::from(block.stream[index])) else {
            return;
        };
        let place = *place;
        let stream = &mut self.streams[place];
        let (number, samples, flags) = (block.number[index], block.samples[index], block.flags[index]);
        if flags & flag::OUT_OF_RANGE != 0 {
            stream.counts.out_of_range += u64::from(samples);
            return;
        }
        let fresh = stream.number(number, samples, flags & flag::RESTART != 0);
        if fresh == 0 {
            return;
        }
        for (point, column) in block.stamps.iter().enumerate() {
            stream.pace(point, column[index]);
        }
        for (way, latency) in self.latencies.iter_mut().enumerate() {
            let (before, after) = (block.stamps[latency.from][index], block.stamps[latency.to][index]);
            if before == Block::NO_STAMP || after == Block::NO_STAMP {
                continue;
            }
            let value_ns = after.saturating_sub(before);
            stream.latencies[way].record_n(value_ns, u64::from(fresh));
            latency.bands.sample(after, value_ns, fresh);
            if latency.worst.takes(value_ns) {
                let worst = Worst {
                    value_ns,
                    stream: place,
                    number,
                    at_ns: after,
                };
                latency.worst.offer(value_ns, worst);
            }
        }
    }
}
