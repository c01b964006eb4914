//! The values of a record, for analysis instead of publishing.

use super::Options;
use super::mapping::{Feed, Origin, origins};
use super::render::Columns;
use crate::WaveformError;
use crate::comtrade::ComtradeRecord;
use crate::sample::{Dataset, Member, MemberRole, Quantity};

/// The values of every member, in A or V; NaN if the record has none. Without a `rate` these are the record's own samples, without correction for the
/// skew of channels. Otherwise they are resampled at `rate` samples per second, starting at the first sample.
///
/// # Errors
/// A member without channel, or too many samples for the memory limit.
pub fn values(
    record: &ComtradeRecord,
    rate: Option<f64>,
    dataset: &Dataset,
    options: &Options,
) -> Result<Vec<Vec<f64>>, WaveformError> {
    let origins = origins(record, dataset, &options.assignments, options.side)?;
    let mut columns = match rate {
        Some(rate) => Columns::new(record, rate, dataset, options, &origins)?.values,
        None => origins.iter().map(|origin| own(record, origin)).collect(),
    };
    for (index, member) in dataset.members().iter().enumerate() {
        if origins[index] == Origin::Sum {
            columns[index] = sum_of_phases(dataset, member.quantity, &columns);
        }
    }
    Ok(columns)
}

fn own(record: &ComtradeRecord, origin: &Origin) -> Vec<f64> {
    let samples = record.times_s().len();
    match origin {
        Origin::Feed(Feed { channel, factor }) => record.analog(*channel).iter().map(|value| factor * value).collect(),
        Origin::Invalid(_) => vec![f64::NAN; samples],
        Origin::Sum | Origin::Zero => vec![0.0; samples],
    }
}

fn sum_of_phases(dataset: &Dataset, quantity: Quantity, columns: &[Vec<f64>]) -> Vec<f64> {
    let is_phase = |member: &Member| member.quantity == quantity && matches!(member.place, MemberRole::Phase(_));
    let phases = dataset.members().iter().zip(columns);
    let mut phases = phases.filter(|(member, _)| is_phase(member)).map(|(_, values)| values);
    let mut sum = phases.next().cloned().unwrap_or_default();
    for phase in phases {
        for (total, value) in sum.iter_mut().zip(phase) {
            *total += value;
        }
    }
    sum
}
