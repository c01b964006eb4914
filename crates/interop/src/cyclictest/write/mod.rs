//! Writing what readers of cyclictest's files accept.

mod json;
mod text;

pub use json::write_json;
pub use text::write_text;

/// Form of the histogram text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// As up to 2.6: a row for every bucket, and `# Total:`.
    AllRows,
    /// As since 2.7: rows of zeros are left out, no `# Total:`.
    SparseRows,
}
