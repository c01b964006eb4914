//! The time stamps of interfaces.

use crate::failure::Failure;
use sys::ethtool::{self, TimeStamping};

/// The stamps of one interface.
pub(super) struct Stamped {
    /// Its name.
    pub(super) interface: String,
    /// True if its NIC stamps sent and received frames; the reason if it is not known.
    pub(super) in_hardware: Result<bool, String>,
}

impl Stamped {
    /// Asks the driver.
    pub(super) fn of(interface: &str) -> Result<Self, Failure> {
        let can = |able: &TimeStamping, name: &str| able.capabilities.iter().any(|known| known == name);
        let in_hardware = |able: TimeStamping| {
            ["hardware-transmit", "hardware-receive", "hardware-raw-clock"]
                .iter()
                .all(|name| can(&able, name))
        };
        let stamping = |name| ethtool::stamping(name).map_err(|error| Failure::Usage(format!("--interfaces: {error}")));
        Ok(Self {
            interface: interface.to_owned(),
            in_hardware: stamping(interface)?
                .map(in_hardware)
                .map_err(|silence| silence.to_string()),
        })
    }

    /// True if nothing lies between the stamp and the definition of the series.
    pub(super) fn is_known(&self) -> bool {
        self.in_hardware == Ok(false)
    }

    /// Knowledge of the time between wire and stamp, in words.
    pub(super) fn text(&self) -> String {
        match &self.in_hardware {
            Ok(false) => "stamps in software: the kernel's stamp is the definition, nothing is added".to_owned(),
            Ok(true) => "stamps in hardware: stamp to wire is not measured; state it in the limit profile ([decision] stamp_to_wire)".to_owned(),
            Err(why) => format!("not known: {why}"),
        }
    }
}
