//! When the driver took a ping, by the kernel's stamps of what was sent.

use crate::port::Port;
use sys::packet::{TxEvent, TxStage};
use units::Realtime;

/// Takes what the kernel has told of sent frames; when the driver took frame number `id` of this socket, if that is among it.
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
