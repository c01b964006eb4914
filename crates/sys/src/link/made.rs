//! Interfaces that the kernel makes on request, if it supports their kind.

use super::request::change;
use crate::error::SysError;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::LinkMessage;
use rustix::io::Errno;

/// A kind of interface that a kernel may lack, or have as a module.
pub(super) struct Made {
    /// The operation, for errors.
    operation: &'static str,
    /// The missing requirement, for errors.
    needs: &'static str,
}

pub(super) const VETH: Made = Made {
    operation: "create veth",
    needs: "CONFIG_VETH, or its module veth, is missing",
};
pub(super) const MACVLAN: Made = Made {
    operation: "create macvlan",
    needs: "CONFIG_MACVLAN, or its module macvlan, is missing",
};
pub(super) const BRIDGE: Made = Made {
    operation: "create bridge",
    needs: "CONFIG_BRIDGE, or its module bridge, is missing",
};
pub(super) const MACVTAP: Made = Made {
    operation: "create macvtap",
    needs: "CONFIG_MACVTAP, or its module macvtap, is missing",
};

impl Made {
    /// Asks the kernel to make one.
    pub(super) fn ask(&self, name: &str, message: LinkMessage) -> Result<(), SysError> {
        let message = RouteNetlinkMessage::NewLink(message);
        let made = change(self.operation, name, message, NLM_F_CREATE | NLM_F_EXCL);
        made.map_err(|error| match error {
            // The answer of rtnetlink to an unknown kind.
            SysError::Refused {
                errno: Errno::OPNOTSUPP,
                ..
            } => SysError::MissingFeature {
                what: format!("{} {name}", self.operation),
                needs: self.needs,
            },
            other => other,
        })
    }
}
