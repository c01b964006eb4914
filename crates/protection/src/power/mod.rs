//! Measurement: currents, voltages, power (MMXU), symmetrical components (MSQI).

mod mmxu;
mod msqi;

pub use mmxu::{Mmxu, MmxuSettings, MmxuValues};
pub use msqi::Msqi;
