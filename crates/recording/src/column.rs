//! One column of a segment: packs the difference of each value from its prediction.
//!
//! A column that holds only zeros takes five octets. Others are packed by Pcodec (<https://github.com/pcodec/pcodec>, standalone format): it cuts the values into ranges,
//! codes the range by tANS and the place in the range in plain bits, which is close to the entropy of noise.

use crate::bytes::Bytes;
use crate::error::SegmentError;
use pco::data_types::Number;
use pco::standalone::{simple_compress, simple_decompress_into};
use pco::{ChunkConfig, DeltaSpec, ModeSpec};

const ZEROS: u8 = 0;
const PACKED: u8 = 1;

/// Effort of the packer in finding ranges, 0 to 12. Other levels were not compared.
const LEVEL: usize = 5;

fn config() -> ChunkConfig {
    // The prediction has already removed differences and multiples.
    ChunkConfig::default()
        .with_compression_level(LEVEL)
        .with_mode_spec(ModeSpec::Classic)
        .with_delta_spec(DeltaSpec::NoOp)
}

/// Appends a column.
pub(crate) fn write<T: Number + Default + PartialEq>(out: &mut Vec<u8>, values: &[T]) -> Result<(), SegmentError> {
    if values.iter().all(|value| *value == T::default()) {
        out.push(ZEROS);
        out.extend_from_slice(&0_u32.to_le_bytes());
        return Ok(());
    }
    let packed = simple_compress(values, &config()).map_err(|error| SegmentError::NotPacked(error.to_string()))?;
    let length = u32::try_from(packed.len()).map_err(|_| SegmentError::NotPacked("longer than 4 GiB".into()))?;
    out.push(PACKED);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&packed);
    Ok(())
}

/// Reads a column of `count` values into `values`.
pub(crate) fn read<T: Number + Default>(
    bytes: &mut Bytes<'_>,
    count: usize,
    values: &mut Vec<T>,
) -> Result<(), SegmentError> {
    let kind = bytes.u8()?;
    let length = bytes.u32()? as usize;
    let packed = bytes.take(length)?;
    values.clear();
    values.resize(count, T::default());
    match kind {
        ZEROS => Ok(()),
        PACKED => {
            let progress = simple_decompress_into(packed, values)
                .map_err(|_| SegmentError::Contradiction("a column cannot be unpacked"))?;
            if progress.n_processed == count && progress.finished {
                Ok(())
            } else {
                Err(SegmentError::Contradiction("a column has the wrong number of values"))
            }
        }
        _ => Err(SegmentError::Contradiction("a column of an unknown kind")),
    }
}
