//! Time when the driver took a ping, by the kernel's stamps of sent frames.

use crate::port::Port;
use sys::packet::{TxEvent, TxStage};
use units::Realtime;

/// Takes all stamps of sent frames; returns the time when the driver took frame `id` of this socket, if its stamp is among them.
pub(super) fn driver_stamp(port: &Port, id: Option<u32>) -> Option<Realtime> {
    let mut found = None;
    while let Some(event) = port.next_tx_event() {
        if let TxEvent::Stamp(stamp) = event
            && Some(stamp.id) == id
            && let TxStage::Driver(at) = stamp.stage
        {
            found = Some(at);
        }
    }
    found
}
