//! What an injector did.

/// What one rule did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleCounts {
    /// Frames it looked at.
    pub looked_at: u64,
    /// Frames it was done to. Of [`super::Fault::Reorder`], pairs that changed places.
    pub done: u64,
}

/// What became of the frames of one direction. At any time, `came + doubled` is
/// `passed + dropped + refused + held`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineCounts {
    /// Frames that came in.
    pub came: u64,
    /// Frames that went on, copies among them.
    pub passed: u64,
    /// Copies made.
    pub doubled: u64,
    /// Frames dropped by a rule.
    pub dropped: u64,
    /// Frames that went on behind one that had come in later.
    pub overtaken: u64,
    /// Frames the interface at the far end did not take, because it was down.
    pub refused: u64,
    /// Frames that are held back now.
    pub held: u64,
    /// Frames that should have been held back, and went on at once because too many were held already.
    pub not_held: u64,
    /// What each rule did, in the order the rules were given; those of the other direction stay at 0.
    pub rules: Vec<RuleCounts>,
}
