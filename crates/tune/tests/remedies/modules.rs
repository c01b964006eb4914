//! Files of modprobe.d(5), applied as each module is loaded at the next boot. tests/readers checks them with the real modprobe.

use std::fs;

use super::{Twin, guests};

/// Built-in parts of the kernel that show parameters (Linux 6.12: drivers/cpuidle/Kconfig): modprobe never loads them.
const BUILT_IN: [&str; 1] = ["haltpoll"];

impl Twin {
    pub(super) fn modules(&self, text: &str) {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["options", module, options @ ..] => self.options(module, options),
                ["softdep", driver, "pre:", "vfio-pci"] => self.before(driver, &ids(text)),
                ["blacklist", driver] => self.never(driver),
                [first, ..] => assert!(first.starts_with('#'), "no line of modprobe.d: {line}"),
                [] => {}
            }
        }
    }

    /// A module shows its parameters, boolean ones as Y or N.
    fn options(&self, module: &str, options: &[&str]) {
        let module = module.replace('-', "_");
        if BUILT_IN.contains(&module.as_str()) {
            return;
        }
        for (name, value) in options.iter().filter_map(|option| option.split_once('=')) {
            let path = format!("/sys/module/{module}/parameters/{name}");
            let shown = fs::read_to_string(self.root().join(&path[1..])).unwrap_or_default();
            let value = match (shown.trim(), value) {
                ("Y" | "N", "0") => "N",
                ("Y" | "N", "1") => "Y",
                _ => value,
            };
            self.set(&path, value);
        }
    }

    /// vfio-pci is loaded before this driver and takes the devices with its numbers.
    fn before(&self, driver: &str, ids: &[String]) {
        let devices = self.root().join("sys/bus/pci/devices");
        for device in fs::read_dir(&devices).expect("devices").flatten() {
            let number = |file: &str| {
                let text = fs::read_to_string(device.path().join(file)).unwrap_or_default();
                text.trim().trim_start_matches("0x").to_owned()
            };
            let id = format!("{}:{}", number("vendor"), number("device"));
            let is_held = fs::read_link(device.path().join("driver")).is_ok_and(|link| link.ends_with(driver));
            if is_held && ids.contains(&id) {
                guests::bind(self, &device.file_name().display().to_string(), "vfio-pci");
            }
        }
    }

    /// Cards of a driver that is not loaded.
    fn never(&self, driver: &str) {
        let cards = fs::read_dir(self.root().join("sys/class/drm"));
        for card in cards.into_iter().flatten().flatten() {
            let link = fs::read_link(card.path().join("device/driver"));
            if link.is_ok_and(|link| link.ends_with(driver)) {
                fs::remove_dir_all(card.path()).expect("a card");
            }
        }
    }
}

/// Numbers that vfio-pci takes.
fn ids(text: &str) -> Vec<String> {
    let options = text.lines().find_map(|line| line.strip_prefix("options vfio-pci ids="));
    options.unwrap_or_default().split(',').map(str::to_owned).collect()
}
