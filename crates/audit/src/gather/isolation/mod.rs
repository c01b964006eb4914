//! CPU isolation and placement.

pub(super) mod cpusets;
mod slices;
mod topology;

use crate::facts::Facts;
use crate::parameters::Parameters;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    slices::gather(reader, facts);
    topology::gather(reader, parameters, facts);
}
