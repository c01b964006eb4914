//! Records: a single one, and blocks of many in columns.

/// Largest number of observation points of a recording.
pub const MAX_POINTS: usize = 12;

/// An instant for each point, in ns; `None` if it is missing.
pub type Instants = [Option<i64>; MAX_POINTS];

/// Sets the instants at the first points; the others have none.
///
/// # Panics
/// With more than [`MAX_POINTS`].
pub fn instants<const N: usize>(at: [Option<i64>; N]) -> Instants {
    let mut all = [None; MAX_POINTS];
    all[..N].copy_from_slice(&at);
    all
}

/// Largest number of samples of one record: a frame with more is recorded as several.
pub const MAX_SAMPLES: u16 = 255;

/// Largest number of records of a segment: so a damaged number cannot make a reader allocate more memory than these need.
pub const MAX_RECORDS: usize = 1 << 20;

/// Special marks of a record.
pub mod flag {
    /// The stream's numbering restarts: the distance to the number before is not a loss.
    pub const RESTART: u8 = 1;
    /// The count is at or beyond the stream's rate: `number` is the received count, and has no place in the numbering.
    pub const OUT_OF_RANGE: u8 = 2;
    /// The stream's rate was not known yet: the count was assumed to wrap at 65536.
    pub const UNRATED: u8 = 4;
    /// All bits with a meaning.
    pub const KNOWN: u8 = RESTART | OUT_OF_RANGE | UNRATED;
}

/// Samples that came in one frame of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Number of its stream in the recording.
    pub stream: u16,
    /// Number of samples, which have consecutive numbers; 1 to [`MAX_SAMPLES`].
    pub samples: u16,
    /// [`flag`]s.
    pub flags: u8,
    /// Number of the first sample: its count plus whole turns of the counter.
    pub number: u64,
    /// Instant at each point in ns; `None` if it is missing.
    pub stamps: Instants,
}

/// Many records, column by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Stream of each record.
    pub stream: Vec<u16>,
    /// Samples of each record.
    pub samples: Vec<u16>,
    /// Flags of each record.
    pub flags: Vec<u8>,
    /// First number of each record.
    pub number: Vec<u64>,
    /// Stamps of each record, for each point; [`Block::NO_STAMP`] if it is missing.
    pub stamps: Vec<Vec<i64>>,
}

impl Block {
    /// Value for a missing stamp.
    pub const NO_STAMP: i64 = i64::MIN;

    /// An empty block for `points` points.
    pub fn new(points: usize) -> Self {
        Self {
            stamps: vec![Vec::new(); points],
            ..Self::default()
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.stream.len()
    }

    /// True if there are no records.
    pub fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }

    /// Removes the records but keeps the memory; sets the number of points.
    pub fn reset(&mut self, points: usize) {
        self.stream.clear();
        self.samples.clear();
        self.flags.clear();
        self.number.clear();
        self.stamps.resize(points, Vec::new());
        self.stamps.iter_mut().for_each(Vec::clear);
    }

    /// Appends a record. Stamps of points that the block does not have are left out.
    pub fn push(&mut self, record: &Record) {
        self.stream.push(record.stream);
        self.samples.push(record.samples);
        self.flags.push(record.flags);
        self.number.push(record.number);
        for (column, stamp) in self.stamps.iter_mut().zip(record.stamps) {
            column.push(stamp.unwrap_or(Self::NO_STAMP));
        }
    }

    /// Record number `index`, which must exist.
    pub fn get(&self, index: usize) -> Record {
        let mut stamps = [None; MAX_POINTS];
        for (stamp, column) in stamps.iter_mut().zip(&self.stamps) {
            *stamp = Some(column[index]).filter(|ns| *ns != Self::NO_STAMP);
        }
        Record {
            stream: self.stream[index],
            samples: self.samples[index],
            flags: self.flags[index],
            number: self.number[index],
            stamps,
        }
    }
}
