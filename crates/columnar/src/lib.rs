//! Parquet export.

#![forbid(unsafe_code)]
