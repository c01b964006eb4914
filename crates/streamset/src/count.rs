//! A number of streams that differ only in their numbers.

use crate::spec::StreamSpec;

/// `count` streams like `first`: each svID gets a number of two or more digits from 01, and destinations count up.
pub fn counted(first: &StreamSpec, count: u16) -> Vec<StreamSpec> {
    (0..count)
        .map(|number| StreamSpec {
            sv_id: format!("{}{:02}", first.sv_id, u32::from(number) + 1),
            destination: StreamSpec::counted_up(first.destination, number),
            ..first.clone()
        })
        .collect()
}
