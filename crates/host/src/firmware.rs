//! Machine and firmware, by their DMI names. Serial numbers, UUIDs and asset tags are not read.

use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "machine");
    let absent = match reader.exists("/sys/class/dmi/id") {
        Ok(true) => "not stated by the firmware",
        Ok(false) | Err(_) => "no DMI: small virtual machine, or not a PC",
    };
    for (name, file) in [
        ("vendor", "sys_vendor"),
        ("product", "product_name"),
        ("board", "board_name"),
        ("BIOS vendor", "bios_vendor"),
        ("BIOS version", "bios_version"),
        ("BIOS date", "bios_date"),
    ] {
        sheet.line_or(name, &format!("/sys/class/dmi/id/{file}"), absent);
    }
    sheet.finish()
}
