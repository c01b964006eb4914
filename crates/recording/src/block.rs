//! Records: one alone, and many of them side by side.

/// Most observation points of a recording.
pub const MAX_POINTS: usize = 12;

/// An instant for each point, in ns; `None` where there is none.
pub type Instants = [Option<i64>; MAX_POINTS];

/// The instants at the first points; there are none at the others.
///
/// # Panics
/// With more than [`MAX_POINTS`].
pub fn instants<const N: usize>(at: [Option<i64>; N]) -> Instants {
    let mut all = [None; MAX_POINTS];
    all[..N].copy_from_slice(&at);
    all
}

/// Most samples of one record: a frame with more is recorded as several.
pub const MAX_SAMPLES: u16 = 255;

/// Most records of a segment: no damaged number makes a reader take more memory than these need.
pub const MAX_RECORDS: usize = 1 << 20;

/// Special marks of a record.
pub mod flag {
    /// The stream's numbering starts anew: the distance to the number before is no loss.
    pub const RESTART: u8 = 1;
    /// The count is at or beyond the stream's rate: `number` is the count as it came, and has no place among the others.
    pub const OUT_OF_RANGE: u8 = 2;
    /// The stream's rate was not known yet: the count was taken to turn at 65536.
    pub const UNRATED: u8 = 4;
    /// Bits that say something.
    pub const KNOWN: u8 = RESTART | OUT_OF_RANGE | UNRATED;
}

/// Samples that came in one frame of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Number of its stream in the recording.
    pub stream: u16,
    /// How many samples, with numbers one after the other; 1 to [`MAX_SAMPLES`].
    pub samples: u16,
    /// [`flag`]s.
    pub flags: u8,
    /// Number of the first sample: its count plus whole turns of the counter.
    pub number: u64,
    /// Instant at each point in ns; `None` where there is none.
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
    /// Stamps of each record, for each point; [`Block::NO_STAMP`] where there is none.
    pub stamps: Vec<Vec<i64>>,
}

impl Block {
    /// Stands for a stamp that is not there.
    pub const NO_STAMP: i64 = i64::MIN;

    /// An empty block for `points` points.
    pub fn new(points: usize) -> Self {
        Self {
            stamps: vec![Vec::new(); points],
            ..Self::default()
        }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.stream.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }

    /// Forgets the records and keeps the memory; sets the number of points.
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

    /// Record number `index`, which must be there.
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
