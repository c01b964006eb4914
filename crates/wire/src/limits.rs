//! Bounds of frames that errors name.

/// Most ASDUs accepted in a frame. The profiles in use carry up to 8.
pub const MAX_ASDUS: usize = 16;
/// Deepest nesting of arrays and structures.
pub const MAX_NESTING: usize = 16;
