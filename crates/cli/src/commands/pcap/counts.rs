//! What a capture held, as it was decoded.

use std::io::{self, Write};

/// What a capture held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DecodeCounts {
    /// Frames of the capture.
    pub(crate) frames: u64,
    /// Frames with EtherType 88BA.
    pub(crate) sv_frames: u64,
    /// ASDUs in those of them that keep every rule.
    pub(crate) asdus: u64,
    /// Frames with EtherType 88B8.
    pub(crate) goose: u64,
    /// SV and GOOSE frames that break a rule.
    pub(crate) errors: u64,
    /// Frames that are not Ethernet, which are not decoded.
    pub(crate) not_ethernet: u64,
}

impl DecodeCounts {
    /// The counts in words.
    pub(super) fn report(&self, messages: &mut dyn Write) -> io::Result<()> {
        let Self {
            frames,
            sv_frames,
            asdus,
            goose,
            errors,
            not_ethernet,
        } = self;
        writeln!(
            messages,
            "frames: {frames}, sampled-value frames: {sv_frames} (ASDUs: {asdus}), GOOSE messages: {goose}, breaking a rule: \
             {errors}"
        )?;
        if *not_ethernet > 0 {
            writeln!(
                messages,
                "not Ethernet, so not decoded: {not_ethernet} (capture on one interface, not on `any`)"
            )?;
        }
        Ok(())
    }
}
