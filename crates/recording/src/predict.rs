//! Predicts the next record. Writer and reader run the same predictor, and only the differences are kept.
//!
//! Publishers send their streams in bursts, one frame each at every sampling instant. So the next stream is the one that followed last time, its
//! number is the next one, and within a burst a stamp is a little later than the one before, even if the whole burst was delayed. The first stamp of
//! a burst is compared with the stream's own grid. For a later point, such as the application that takes the frames one after the other, the best
//! prediction comes either from the record before (a queue is being emptied) or from the point before (the application waits).

use crate::block::Block;
use crate::stream::MAX_STREAMS;

/// Method of predicting the stamps of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// From the stream's grid, which follows the stamps by a part of `1 / 2^shift`.
    Grid(u8),
    /// The same at the start of a burst; within it, from the previous record.
    Burst(u8),
    /// From the stamp of the previous point in the same record.
    Below,
    /// From the later of two stamps: of the previous point in the same record (the point was waiting for frames), or of the same point in the
    /// previous record (it was emptying a queue).
    Queue,
}

/// Shifts for the speed with which a grid follows its stamps.
const SHIFTS: [u8; 3] = [0, 3, 6];

/// Distance from the grid in ns at which a stamp restarts the grid.
const LOST_GRID_NS: i64 = 100_000_000;

/// Largest movement of the grid by one stamp in ns, before it is divided, because a stall says nothing about the grid.
const MOST_PULL_NS: i64 = 50_000;

impl Model {
    /// All models to try for a point.
    pub(crate) fn candidates(point: usize) -> Vec<Self> {
        let grids = SHIFTS
            .into_iter()
            .flat_map(|shift| [Self::Grid(shift), Self::Burst(shift)]);
        let queues = [Self::Below, Self::Queue].into_iter().filter(|_| point > 0);
        grids.chain(queues).collect()
    }

    /// Its code in a segment.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Grid(shift) => shift,
            Self::Burst(shift) => 0x10 | shift,
            Self::Below => 0x20,
            Self::Queue => 0x30,
        }
    }

    /// The model with this code, for that point.
    pub(crate) fn of_code(code: u8, point: usize) -> Option<Self> {
        let shift = code & 0x0F;
        match code >> 4 {
            0 => Some(Self::Grid(shift)),
            1 => Some(Self::Burst(shift)),
            2 if point > 0 => Some(Self::Below),
            3 if point > 0 => Some(Self::Queue),
            _ => None,
        }
    }
}

/// Streams and numbers of records.
pub(crate) struct Order {
    /// The stream that followed each one last time.
    after: Vec<u16>,
    before: u16,
    /// Next number and usual samples of each stream.
    next: Vec<(u64, u16)>,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self {
            after: (1..=MAX_STREAMS as u16).collect(),
            before: MAX_STREAMS as u16 - 1,
            next: vec![(0, 1); MAX_STREAMS],
        }
    }

    /// The expected next stream.
    pub(crate) fn stream(&self) -> u16 {
        self.after[usize::from(self.before)]
    }

    /// The expected number and samples of a stream.
    pub(crate) fn next(&self, stream: u16) -> (u64, u16) {
        self.next[usize::from(stream)]
    }

    /// Learns the actual stream, its number and its samples.
    pub(crate) fn observe(&mut self, stream: u16, number: u64, samples: u16) {
        self.after[usize::from(self.before)] = stream;
        self.before = stream;
        self.next[usize::from(stream)] = (number.wrapping_add(u64::from(samples)), samples);
    }
}

/// Grid of a stream: the due instant of its latest number, in 2^-32 ns, and that number.
#[derive(Clone, Copy, Default)]
struct Grid {
    due: i128,
    number: u64,
    known: bool,
}

/// An expected stamp, and the column for the difference from it: differences within a burst have another distribution than at its start, and those
/// from a queue another than those from waiting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) stamp: i64,
    pub(crate) column: usize,
}

/// Columns of a point.
pub(crate) const COLUMNS: usize = 2;

/// The stamps of one point.
pub(crate) struct Stamps<'a> {
    model: Model,
    /// Time between two samples of each stream in 2^-32 ns.
    periods: &'a [i64],
    grids: Vec<Grid>,
    last: i64,
    last_stream: u16,
}

impl<'a> Stamps<'a> {
    pub(crate) fn new(model: Model, base: i64, periods: &'a [i64]) -> Self {
        Self {
            model,
            periods,
            grids: vec![Grid::default(); periods.len()],
            last: base,
            last_stream: u16::MAX,
        }
    }

    /// The expected stamp of a record; `below` is its stamp at the point before.
    #[inline]
    pub(crate) fn expected(&self, stream: u16, number: u64, below: i64) -> Expected {
        let (stamp, column) = match self.model {
            Model::Grid(_) => (self.on_grid(stream, number), 0),
            Model::Burst(_) if stream <= self.last_stream => (self.on_grid(stream, number), 1),
            Model::Below if below != Block::NO_STAMP => (below, 0),
            Model::Queue if below != Block::NO_STAMP && below >= self.last => (below, 1),
            Model::Burst(_) | Model::Below | Model::Queue => (self.last, 0),
        };
        Expected { stamp, column }
    }

    /// Learns the actual stamp of the record.
    #[inline]
    pub(crate) fn observe(&mut self, stream: u16, number: u64, stamp: i64) {
        if let Model::Grid(shift) | Model::Burst(shift) = self.model {
            self.follow(stream, number, stamp, shift);
        }
        self.last = stamp;
        self.last_stream = stream;
    }

    #[inline]
    fn due(&self, stream: u16, number: u64) -> Option<i128> {
        let grid = self.grids[usize::from(stream)];
        let steps = number.wrapping_sub(grid.number) as i64;
        let ahead = i128::from(steps) * i128::from(self.periods[usize::from(stream)]);
        grid.known.then_some(grid.due.wrapping_add(ahead))
    }

    #[inline]
    fn on_grid(&self, stream: u16, number: u64) -> i64 {
        self.due(stream, number).map_or(self.last, |due| (due >> 32) as i64)
    }

    #[inline]
    fn follow(&mut self, stream: u16, number: u64, stamp: i64, shift: u8) {
        let exact = i128::from(stamp) << 32;
        let due = self.due(stream, number).unwrap_or(exact);
        let off = stamp.wrapping_sub((due >> 32) as i64);
        let due = if shift == 0 || off.unsigned_abs() > LOST_GRID_NS as u64 {
            exact
        } else {
            let pull = off.clamp(-MOST_PULL_NS, MOST_PULL_NS);
            due + ((i128::from(pull) << 32) >> shift)
        };
        self.grids[usize::from(stream)] = Grid {
            due,
            number,
            known: true,
        };
    }
}
