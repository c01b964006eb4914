//! Runs in the background: started as a unit of the service manager, or in a separate session, and started again after a
//! reboot.

mod detached;
mod notify;
mod unit;

pub use detached::{Detached, log_of};
pub use notify::Notify;
pub use unit::{ENDING as UNIT_ENDING, FOLDER as UNIT_FOLDER, Unit, service_text, unit_name};

use std::path::Path;

/// True if systemd is the service manager of this machine (sd_booted(3)).
pub fn has_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}
