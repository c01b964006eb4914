//! Network interfaces and socket settings as facts.

use crate::fact::Sheet;
use crate::nic::device;
use crate::nic::interface::{self, Interface, InterfaceKind, ROOT};
use crate::reader::Reader;
use model::Fact;

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "network");
    let interfaces = interface::all(reader);
    let names = interfaces
        .as_ref()
        .map_err(Clone::clone)
        .map(|interfaces| match interfaces.len() {
            0 => "none".to_owned(),
            _ => interfaces
                .iter()
                .map(|interface| interface.name.as_str())
                .collect::<Vec<_>>()
                .join(" "),
        });
    sheet.add("interfaces", ROOT, names);
    for interface in interfaces.unwrap_or_default() {
        common(&mut sheet, &interface);
        if interface.kind == InterfaceKind::Device {
            device::facts(&mut sheet, &interface.name);
        }
    }
    sheet.line_or(
        "busy polling of reads (us)",
        "/proc/sys/net/core/busy_read",
        "kernel without busy polling",
    );
    sheet.line_or(
        "busy polling of waits (us)",
        "/proc/sys/net/core/busy_poll",
        "kernel without busy polling",
    );
    sheet.line_or(
        "largest receive buffer",
        "/proc/sys/net/core/rmem_max",
        "only the first network namespace has it",
    );
    sheet.line_or(
        "receive backlog",
        "/proc/sys/net/core/netdev_max_backlog",
        "only the first network namespace has it",
    );
    sheet.finish()
}

/// Facts of every interface.
fn common(sheet: &mut Sheet<'_>, interface: &Interface) {
    let name = &interface.name;
    sheet.add(
        &format!("{name} kind"),
        &format!("{ROOT}/{name}"),
        Ok(interface.kind.word().to_owned()),
    );
    sheet.line(&format!("{name} MAC"), &format!("{ROOT}/{name}/address"));
    sheet.line(&format!("{name} MTU"), &format!("{ROOT}/{name}/mtu"));
    sheet.line(&format!("{name} state"), &format!("{ROOT}/{name}/operstate"));
}
