//! Counts of a capture as it was decoded.

use std::io::{self, Write};

/// Counts of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeCounts {
    /// Frames of the capture.
    pub frames: u64,
    /// Frames with EtherType 88BA.
    pub sv_frames: u64,
    /// ASDUs in those SV frames that keep every rule.
    pub asdus: u64,
    /// Frames with EtherType 88B8.
    pub goose: u64,
    /// SV and GOOSE frames that break a rule.
    pub errors: u64,
    /// Encrypted datagrams of R-GOOSE and R-SV.
    pub encrypted: u64,
    /// Frames that are not Ethernet, which are not decoded.
    pub not_ethernet: u64,
}

impl DecodeCounts {
    /// Writes the counts in words, in one or two lines.
    ///
    /// # Errors
    /// Returns the errors of `messages`.
    pub fn report(&self, messages: &mut dyn Write) -> io::Result<()> {
        let Self {
            frames,
            sv_frames,
            asdus,
            goose,
            errors,
            encrypted,
            not_ethernet,
        } = self;
        writeln!(
            messages,
            "frames: {frames}, sampled-value frames: {sv_frames} (ASDUs: {asdus}), GOOSE messages: {goose}, breaking a rule: \
             {errors}"
        )?;
        if *encrypted > 0 {
            writeln!(messages, "encrypted datagrams, so not decoded: {encrypted}")?;
        }
        if *not_ethernet > 0 {
            writeln!(
                messages,
                "not Ethernet, so not decoded: {not_ethernet} (capture on one interface, not on `any`)"
            )?;
        }
        Ok(())
    }
}
