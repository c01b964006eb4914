//! Writes formats that readers of cyclictest's files accept.

mod json;
mod text;

pub use json::write_json;
pub use text::write_text;

/// Variant of the histogram text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Up to 2.6: a row for every bucket, and `# Total:`.
    AllRows,
    /// Since 2.7: without rows of zeros, and without `# Total:`.
    SparseRows,
}
