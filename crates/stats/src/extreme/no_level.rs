//! Reasons for giving no return level.

use units::format_ns;

/// Why the data do not support a return level. Its text gives the reason and a remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoLevel {
    /// Not enough blocks for three parameters and a tail.
    #[error("not supported by the data: {have} of the {need} blocks needed; measure longer")]
    TooFewBlocks {
        /// Present number of blocks.
        have: usize,
        /// Number of blocks needed.
        need: usize,
    },
    /// A trend or a shift: the blocks are not of one kind. Contains the text of the check.
    #[error("not supported by the data: {0}; measure under constant load, or evaluate the steady part alone")]
    NotSteady(String),
    /// Neighbouring blocks depend on each other, however many are joined.
    #[error(
        "not supported by the data: neighbouring blocks are alike (rank correlation {autocorrelation:.2}) even when joined; \
         measure longer"
    )]
    Dependent {
        /// Rank correlation of neighbouring blocks.
        autocorrelation: f64,
    },
    /// Two kinds of block: most are up to one value, the others start at a larger one.
    #[error(
        "not supported by the data: {upper} of {blocks} values lie apart, from {}, the others end at {}: two causes, \
         which no single distribution describes; remove the rarer cause, or give each its own count",
        format_ns(*upper_from_ns),
        format_ns(*lower_to_ns)
    )]
    Bimodal {
        /// Largest value of the lower group, in ns.
        lower_to_ns: f64,
        /// Smallest value of the upper group, in ns.
        upper_from_ns: f64,
        /// Values in the upper group.
        upper: usize,
        /// Number of all values.
        blocks: usize,
    },
    /// The largest few values do not belong to the tail of the others.
    #[error(
        "not supported by the data: the largest {largest} of {blocks} values, from {}, do not belong to the tail of the others, which end at \
         {} (p = {p:.3}): a rare second cause, which no fit to the others describes; look for it{}",
        format_ns(*from_ns),
        format_ns(*others_to_ns),
        held_back.as_ref().map(|text| format!("; {text}")).unwrap_or_default()
    )]
    Outside {
        /// Number of values outside.
        largest: usize,
        /// Number of all values.
        blocks: usize,
        /// Smallest of the values outside, in ns.
        from_ns: f64,
        /// Largest of the others, in ns.
        others_to_ns: f64,
        /// Probability of such values by chance.
        p: f64,
        /// Check of the last part of the run, in words; `None` if it is too short.
        held_back: Option<String>,
    },
    /// The return period is too long for the test.
    #[error(
        "not supported by the data: once in {asked:.0} blocks was asked, the test supports up to {supported:.0} (ten times \
         its own length); measure longer, or ask for a shorter period"
    )]
    TooFar {
        /// The requested return period, in blocks.
        asked: f64,
        /// Longest return period supported, in blocks.
        supported: f64,
    },
    /// The fitted distribution does not describe the data.
    #[error(
        "not supported by the data: the extreme-value distribution does not fit (Anderson-Darling p = {p:.3}); several causes may \
         be mixed: examine them one by one"
    )]
    BadFit {
        /// Bootstrap p-value of the Anderson-Darling statistic.
        p: f64,
    },
    /// The fitted tail is outside the range of the theory.
    #[error(
        "not supported by the data: the fitted shape is {shape:.2}, outside -0.9 to 1, where a return level is meaningful; \
         measure longer, or look for rare separate causes"
    )]
    Shape {
        /// Fitted shape xi.
        shape: f64,
    },
    /// The last part of the run contradicts a fit to its first part.
    #[error(
        "not supported by the data: {over} of the last {tested} blocks are over the level; a fit to the first ones \
         expected {expected:.0}; measure longer"
    )]
    HeldBack {
        /// Blocks held back that are over the level.
        over: usize,
        /// Number of blocks held back.
        tested: usize,
        /// Number of blocks that the fit expects.
        expected: f64,
    },
    /// All values are the same.
    #[error("not supported by the data: all values are equal; there is no tail to extrapolate")]
    Constant,
    /// The clock or the format was too coarse for the spread of the values.
    #[error(
        "not supported by the data: only {distinct} different values, at least {need} are needed; measure with finer \
         resolution"
    )]
    Coarse {
        /// Present number of different values.
        distinct: usize,
        /// Number of different values needed.
        need: usize,
    },
    /// The question makes no sense; the text names the mistake.
    #[error("no return level: {0}")]
    BadQuestion(&'static str),
}
