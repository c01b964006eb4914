//! A number of streams that differ only in their numbers.

use crate::spec::StreamSpec;

/// `count` streams like `first`: see [`StreamSpec::numbered`].
pub fn counted(first: &StreamSpec, count: u16) -> Vec<StreamSpec> {
    (0..count).map(|number| first.numbered(number)).collect()
}
