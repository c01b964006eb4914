//! Describes the assignment of channels for the user.

use super::Options;
use super::mapping::{Feed, Origin, origins};
use super::phases::Phases;
use crate::WaveformError;
use crate::comtrade::ComtradeRecord;
use crate::sample::{Dataset, MemberRole, Quantity};

/// The source of every member's values, and the phase fields that were ignored.
///
/// # Errors
/// A member without channel.
pub fn describe(record: &ComtradeRecord, dataset: &Dataset, options: &Options) -> Result<Vec<String>, WaveformError> {
    let origins = origins(record, dataset, &options.assignments, options.side)?;
    Ok(lines(record, dataset, &origins))
}

/// Same as [`describe`], for known origins.
pub(super) fn lines(record: &ComtradeRecord, dataset: &Dataset, origins: &[Origin]) -> Vec<String> {
    let members = dataset.members().iter().zip(origins);
    let lines = members.map(|(member, origin)| {
        let from = match origin {
            Origin::Feed(Feed { channel, factor }) => {
                let channel = &record.config.analog[*channel];
                format!("{} [{}] times {factor}", channel.name, channel.unit)
            }
            Origin::Invalid(why) => format!("nothing, quality invalid: {why}"),
            Origin::Sum if lacks_a_phase(dataset, origins, member.quantity) => {
                "the sum of the phases, with quality invalid, because theirs is".to_owned()
            }
            Origin::Sum => "the sum of the phases".to_owned(),
            Origin::Zero => "nothing, zero".to_owned(),
        };
        format!("{} from {from}", member.name)
    });
    lines.chain(passed_over(record)).collect()
}

fn lacks_a_phase(dataset: &Dataset, origins: &[Origin], quantity: Quantity) -> bool {
    dataset.members().iter().zip(origins).any(|(member, origin)| {
        let is_phase = matches!(member.place, MemberRole::Phase(_));
        is_phase && member.quantity == quantity && matches!(origin, Origin::Invalid(_))
    })
}

/// A sentence for every quantity whose phase fields were ignored.
fn passed_over(record: &ComtradeRecord) -> impl Iterator<Item = String> {
    let quantities = [(Quantity::Current, "currents"), (Quantity::Voltage, "voltages")];
    let passed_over = quantities
        .into_iter()
        .filter(|(quantity, _)| Phases::of(&record.config.analog, *quantity).by_name);
    passed_over.map(|(_, what)| format!("the phase fields of the {what} do not identify the phases: the names do"))
}
