//! Qualities that forbid the use of a value.

use serde::Deserialize;
use wire::quality::SvQuality;

use crate::measure::Channels;

/// Treatment of a value with validity "questionable".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Questionable {
    /// It blocks like an invalid value.
    #[default]
    Block,
    /// It is used.
    Use,
}

/// Channels whose quality forbids their use. Validity 1 and 2 both count as invalid (IEC 61850-7-3 defines only one of them, publishers send both). A
/// test value is usable only if the relay is in test; a value with "operator blocked" is never usable.
#[must_use]
pub fn bad_channels(qualities: &[SvQuality; 8], questionable: Questionable, in_test: bool) -> Channels {
    let mut bad = 0;
    for (channel, quality) in qualities.iter().enumerate() {
        let validity = quality.0 & 3;
        let unusable = matches!(validity, 1 | 2)
            || validity == 3 && questionable == Questionable::Block
            || quality.0 & SvQuality::TEST != 0 && !in_test
            || quality.0 & SvQuality::OPERATOR_BLOCKED != 0;
        bad |= u8::from(unusable) << channel;
    }
    Channels(bad)
}

#[cfg(test)]
mod tests {
    use super::{Questionable, bad_channels};
    use crate::measure::Channels;
    use wire::quality::SvQuality;

    #[test]
    fn what_may_be_used() {
        let qualities = [0, 1, 2, 3, 0x0800, 0x1000, 0x2000, 0].map(SvQuality);
        assert_eq!(
            bad_channels(&qualities, Questionable::Block, false),
            Channels(0b0011_1110)
        );
        assert_eq!(
            bad_channels(&qualities, Questionable::Use, false),
            Channels(0b0011_0110)
        );
        assert_eq!(bad_channels(&qualities, Questionable::Use, true), Channels(0b0010_0110));
    }
}
