//! Turns on a NIC's time stamps while a measurement uses them.
//!
//! All users of an interface share the setting. A setting of another program is kept; stamps are turned on only if they are off.

use crate::error::ProbeError;
use std::sync::{Mutex, PoisonError};
use sys::hwtstamp::{NicStampControl, NicStamping};

/// Interfaces whose settings this process holds.
static HELD: Mutex<Vec<HeldSetting>> = Mutex::new(Vec::new());

/// An interface whose setting several probes of this process may need.
#[derive(Debug)]
struct HeldSetting {
    phc: u32,
    interface: String,
    users: usize,
    before: NicStamping,
    now: NicStamping,
    control: NicStampControl,
}

/// A NIC with the required stamps; the earlier setting is restored when the last one of an interface is dropped.
#[derive(Debug)]
pub(super) struct Stamping {
    phc: u32,
    interface: String,
    /// Description of the change; `None` if no change was needed.
    pub(super) changed: Option<String>,
}

impl Stamping {
    /// Turns on the required stamps of the NIC `interface`, whose clock has number `phc`.
    ///
    /// # Errors
    /// Another program has chosen other frames, or the driver cannot stamp the required ones.
    pub(super) fn hold(interface: &str, phc: u32, received: bool, sent: bool) -> Result<Self, ProbeError> {
        let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let position = all
            .iter()
            .position(|held| held.phc == phc && held.interface == interface);
        let mut held = match position {
            Some(position) => all.swap_remove(position),
            None => {
                let control = NicStampControl::open(interface)?;
                let before = control.read()?;
                HeldSetting {
                    phc,
                    interface: interface.to_owned(),
                    users: 0,
                    before,
                    now: before,
                    control,
                }
            }
        };
        let outcome = held.widen(received, sent);
        held.users += usize::from(outcome.is_ok());
        if held.users > 0 {
            all.push(held);
        }
        outcome.map(|changed| Self {
            phc,
            interface: interface.to_owned(),
            changed,
        })
    }
}

impl HeldSetting {
    fn widen(&mut self, received: bool, sent: bool) -> Result<Option<String>, ProbeError> {
        let interface = self.interface.clone();
        let found = self.control.read()?;
        if received && found.stamps_received() && !found.stamps_all_received() {
            return Err(ProbeError::Usage(narrow(&interface, found.filter_word())));
        }
        let wanted = found.with(received, sent);
        if wanted == found {
            return Ok(None);
        }
        self.now = self.control.set(wanted)?;
        if (received && !self.now.stamps_all_received()) || (sent && !self.now.stamps_sent()) {
            let made = self.now.filter_word();
            // Other probes of this process may measure with the setting as found.
            let _ = self.control.set(found);
            self.now = found;
            return Err(ProbeError::Usage(format!(
                "{interface}: asked to stamp every frame, its driver stamps {made} only: use --stamps software"
            )));
        }
        let what = match (received && !found.stamps_received(), sent && !found.stamps_sent()) {
            (true, true) => "received and sent frames",
            (true, false) => "received frames",
            _ => "sent frames",
        };
        Ok(Some(format!(
            "{interface}: NIC time stamping of {what} was off; it is on during this run and will be restored (`hwstamp_ctl -i {interface}` \
             shows it)"
        )))
    }

    /// Restores the earlier setting, unless another program has changed it meanwhile.
    fn put_back(&mut self) {
        if self.now != self.before && self.control.read().is_ok_and(|found| found == self.now) {
            // The interface may have been removed together with its setting.
            let _ = self.control.set(self.before);
        }
        self.now = self.before;
    }
}

/// Text about a NIC that stamps fewer frames than are measured, with advice.
fn narrow(interface: &str, filter: &str) -> String {
    format!(
        "{interface}: its NIC stamps only {filter} frames, as set by another program (ptp4l?); that setting is not changed: let it stamp \
         all (`hwts_filter full` in ptp4l.conf, linuxptp 3.1; or `hwstamp_ctl -i {interface} -r 1` if no program needs the other setting), or use \
         --stamps software"
    )
}

impl Drop for Stamping {
    fn drop(&mut self) {
        let mut all = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = |held: &HeldSetting| held.phc == self.phc && held.interface == self.interface;
        let Some(position) = all.iter().position(ours) else {
            return;
        };
        all[position].users -= 1;
        if all[position].users == 0 {
            all.swap_remove(position).put_back();
        }
    }
}
