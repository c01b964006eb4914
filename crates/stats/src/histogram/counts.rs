//! The counts of a histogram: HdrHistogram's buckets, with memory only for those in use.

/// Number of sub-buckets for each factor of two, as a power of two: HdrHistogram takes 2^10 for three significant digits.
const HALF_BITS: u32 = 10;

/// Number of counts that are allocated together: 512 bytes. A stream's latencies are in some tens of such blocks.
const BLOCK: usize = 64;

type Block = [u64; BLOCK];

/// Number of samples in each bucket. Blocks of empty buckets take no memory, so a series takes 10 to 100 KB, while an array of all
/// counts takes 216 KB.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    blocks: Vec<Option<Box<Block>>>,
    total: u64,
}

/// The number of the bucket for `value`, in HdrHistogram's order.
pub(super) fn index_of(value: u64) -> usize {
    // Below 2048 each value has its own bucket; then each factor of two has 1024.
    let octave = (u64::BITS - (value >> (HALF_BITS + 1)).leading_zeros()) as usize;
    (octave << HALF_BITS) + (value >> octave) as usize
}

/// Lowest and highest value of a bucket.
pub(super) fn bounds_of(index: usize) -> (u64, u64) {
    let octave = (index >> HALF_BITS).saturating_sub(1);
    let low = ((index - (octave << HALF_BITS)) as u64) << octave;
    (low, low + ((1 << octave) - 1))
}

impl Counts {
    /// Sum of all counts, at most 2^64 - 1.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Adds to a bucket. Allocates at the first count in its block.
    #[inline]
    pub(super) fn add(&mut self, index: usize, count: u64) {
        let (block, place) = (index / BLOCK, index % BLOCK);
        let counts = match self.blocks.get_mut(block) {
            Some(Some(counts)) => counts,
            _ => self.begin(block),
        };
        counts[place] = counts[place].saturating_add(count);
        self.total = self.total.saturating_add(count);
    }

    #[cold]
    fn begin(&mut self, block: usize) -> &mut [u64; BLOCK] {
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        self.blocks[block].get_or_insert_with(|| Box::new([0; BLOCK]))
    }

    /// Adds every count of another.
    pub(super) fn merge(&mut self, other: &Self) {
        for (index, count) in other.in_use() {
            self.add(index, count);
        }
    }

    /// Sets every count to 0. Blocks used since the last reset are kept for the next samples, which are mostly in the same range;
    /// the others are freed, so that rare values do not fill the whole range over days.
    pub(super) fn reset(&mut self) {
        for block in &mut self.blocks {
            match block {
                Some(counts) if counts.iter().any(|count| *count > 0) => counts.fill(0),
                _ => *block = None,
            }
        }
        self.total = 0;
    }

    /// The buckets in use, in ascending order, with their counts.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let blocks = self.blocks.iter().enumerate();
        let allocated = blocks.filter_map(|(block, counts)| Some((block * BLOCK, counts.as_deref()?)));
        let all = allocated.flat_map(|(first, counts)| (first..).zip(counts.iter().copied()));
        all.filter(|(_, count)| *count > 0)
    }

    /// Number of allocated bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let blocks = self.blocks.iter().flatten().count() * size_of::<Block>();
        blocks + self.blocks.capacity() * size_of::<Option<Box<Block>>>()
    }
}

/// Compares the counts, whatever is allocated for them.
impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total && self.in_use().eq(other.in_use())
    }
}
