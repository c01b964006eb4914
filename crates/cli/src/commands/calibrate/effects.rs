//! The effect of this program on wake-ups.

use session::effect::OwnEffect;

/// Pairs of blocks.
const PAIRS: usize = 8;

/// The measured effect, or the reason why it is not known.
pub(super) struct Effects(pub(super) Result<OwnEffect, String>);

impl Effects {
    /// Measures on one CPU, with run files in a folder for temporary files.
    pub(super) fn measure(cpu: u32, block: u64) -> Self {
        let folder = std::env::temp_dir().join(format!("triptime-calibrate-{}", std::process::id()));
        // Somebody else's folder of this name is left alone.
        if let Err(error) = std::fs::create_dir(&folder) {
            return Self(Err(format!("{}: {error}", folder.display())));
        }
        let measured = OwnEffect::measure(cpu, PAIRS, block, &folder);
        // A folder that stays is no reason to lose the figures.
        let _ = std::fs::remove_dir_all(&folder);
        Self(measured)
    }
}
