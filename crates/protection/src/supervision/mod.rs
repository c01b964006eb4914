//! s
mod synch;
pub use synch::Synch;
