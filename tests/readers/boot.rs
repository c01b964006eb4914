//! Settings that are read at boot: kernel arguments by GRUB, options of modules by modprobe, settings of the kernel by systemd-sysctl and sysctl.

use super::{apart, can_read, copied, emitted, folder, host, said, text, written};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const SYSTEMD_SYSCTL: &str = "/lib/systemd/systemd-sysctl";

/// Answers of grub-probe(8) for a disk with one file system: a container has no disk.
const PROBE: &str = "#!/bin/sh\ncase \"$*\" in\n*target=device*) echo /dev/sda1 ;;\n*target=fs_uuid*) echo 11111111-2222-3333-4444-555555555555 ;;\n\
*target=partuuid*) echo 11111111-01 ;;\n*target=fs*) echo ext2 ;;\n*target=drive*) echo '(hd0,msdos1)' ;;\n*target=partmap*) echo msdos ;;\nesac\n";
const DEFAULTS: &str = "GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\nGRUB_DISTRIBUTOR=Debian\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"console=ttyS0\"\n";

/// GRUB's menu with these settings of the machine, made as by Debian's update-grub(8).
fn menu(folder: &Path, grub: &str) -> Result<String, String> {
    written(folder, "boot/grub/unicode.pf2", "");
    written(folder, "boot/vmlinuz-6.1.0-1-amd64", "");
    written(folder, "default/grub", DEFAULTS);
    written(folder, "default/grub.d/90-triptime.cfg", grub);
    written(folder, "probe", PROBE);
    let output = apart(&format!(
        "chmod +x {own}/probe; mount --bind {own}/probe /usr/sbin/grub-probe; mount --bind {own}/boot /boot; \
         mount --bind {own}/default /etc/default; exec grub-mkconfig -o {own}/grub.cfg",
        own = folder.display()
    ));
    match output.status.success() {
        true => Ok(fs::read_to_string(folder.join("grub.cfg")).expect("the menu")),
        false => Err(said(&output)),
    }
}

/// True if GRUB's own parser accepts the menu.
fn is_script(folder: &Path, menu: &str) -> bool {
    let path = written(folder, "menu.cfg", menu);
    let status = Command::new("grub-script-check").arg(path).output();
    status.expect("grub-script-check starts").status.success()
}

#[test]
fn grub_starts_the_kernel_with_every_argument() {
    let test = "grub_starts_the_kernel_with_every_argument";
    if !can_read(test, "grub-mkconfig", "grub-common") {
        return;
    }
    for tree in ["debian-untuned", "preempt-rt-bare-metal", "kvm-guest", "vmware-guest"] {
        let arguments = emitted(&host(tree), &[], "kernel-args");
        let arguments = arguments.lines().next().expect("a line");
        // The file that the playbook writes for Debian, without JSON's quotes.
        let playbook = emitted(&host(tree), &[], "ansible");
        let content = playbook.lines().find_map(|line| line.trim().strip_prefix("content: "));
        let content: String = serde_json::from_str(content.expect("GRUB's file")).expect("a quoted text");
        let own = folder();
        let made = menu(own.path(), &content).unwrap_or_else(|why| panic!("{tree}: {why}\n{content}"));
        let entries: Vec<&str> = made
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("linux"))
            .collect();
        assert!(!entries.is_empty(), "{made}");
        for entry in entries.iter().filter(|entry| !entry.contains(" single ")) {
            let given = entry.split_once(" ro ").expect("a root").1.split_whitespace();
            let wanted = ["console=ttyS0"].into_iter().chain(arguments.split_whitespace());
            assert_eq!(
                given.collect::<Vec<_>>(),
                wanted.chain(["quiet"]).collect::<Vec<_>>(),
                "{tree}"
            );
        }
        assert!(is_script(own.path(), &made), "{made}");
        assert!(
            !is_script(own.path(), &made.replacen('}', "", 1)),
            "a menu with a bracket too few is taken"
        );
        assert!(
            menu(own.path(), content.trim_end().trim_end_matches('"')).is_err(),
            "an open quote is taken"
        );
    }
}

/// Files of a host whose guest gets a card, with default settings of KVM and of the processor's graphics.
const GUESTS: [(&str, &str); 11] = [
    ("proc/consoles", "ttyS0                -W- (EC   a)    4:64\n"),
    (
        "proc/net/route",
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n",
    ),
    ("sys/module/kvm/parameters/halt_poll_ns", "200000\n"),
    ("sys/module/kvm/parameters/kvmclock_periodic_sync", "Y\n"),
    ("sys/module/kvm_intel/parameters/ple_gap", "128\n"),
    ("sys/class/drm/card7-DP-1/status", "connected\n"),
    ("sys/class/drm/card7/device/x", ""),
    ("sys/bus/pci/drivers/igb/x", ""),
    ("sys/bus/pci/drivers/xe/x", ""),
    ("sys/bus/pci/devices/0000:f3:00.0/vendor", "0x8086\n"),
    ("sys/bus/pci/devices/0000:f3:00.0/device", "0x1533\n"),
];
const DOMAIN: &str = "<domain type='kvm'><name>relay</name><memory unit='GiB'>1</memory><vcpu>1</vcpu><devices><hostdev mode='subsystem' \
    type='pci' managed='no'><source><address domain='0x0000' bus='0xf3' slot='0x00' function='0x0'/></source></hostdev></devices></domain>";

/// Lines for modprobe of a host with guests.
fn module_options() -> String {
    let tree = copied(&host("debian-untuned"));
    for (path, text) in GUESTS {
        written(tree.path(), path, text);
    }
    for (device, driver) in [
        ("bus/pci/devices/0000:f3:00.0", "../../drivers/igb"),
        ("class/drm/card7/device", "../../../../bus/pci/drivers/xe"),
    ] {
        symlink(driver, tree.path().join("sys").join(device).join("driver")).expect("a link");
    }
    let domain = written(tree.path(), "relay.xml", DOMAIN);
    emitted(tree.path(), &["--domain", text(&domain)], "modprobe")
}

/// The output of modprobe, with these settings in place of the machine's.
fn modprobe(folder: &Path, settings: &str, words: &[&str]) -> String {
    written(folder, "conf/90-triptime.conf", settings);
    let mut command = Command::new("modprobe");
    said(
        &command
            .current_dir(folder)
            .args(["-C", "conf"])
            .args(words)
            .output()
            .expect("modprobe starts"),
    )
}

#[test]
fn modprobe_keeps_every_line() {
    let test = "modprobe_keeps_every_line";
    if !can_read(test, "modprobe", "kmod") {
        return;
    }
    let (own, lines) = (folder(), module_options());
    let said = modprobe(own.path(), &lines, &["--showconfig"]);
    assert!(!said.contains("ERROR"), "{said}");
    let settings: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).collect();
    for wanted in ["options kvm ", "options vfio-pci ", "softdep igb ", "blacklist xe"] {
        assert!(
            settings.iter().any(|line| line.starts_with(wanted)),
            "{wanted}: {lines}"
        );
    }
    for line in settings {
        // modprobe treats `-` and `_` in a module's name as the same character.
        let is_it = |shown: &str| shown.replace('-', "_") == line.replace('-', "_");
        assert!(said.lines().any(is_it), "{line}: {said}");
    }
    let wrong = lines.replace("options ", "option ");
    assert!(modprobe(own.path(), &wrong, &["--showconfig"]).contains("ignoring bad line"));
}

/// Empty modules, in the order and with the options given by modprobe.
#[test]
fn modprobe_loads_what_takes_a_card_before_its_driver_and_no_graphics() {
    let test = "modprobe_loads_what_takes_a_card_before_its_driver_and_no_graphics";
    if !can_read(test, "depmod", "kmod") || !can_read(test, "gcc", "gcc") {
        return;
    }
    let (own, lines) = (folder(), module_options());
    let make = "mkdir -p lib/modules/6.12.0; for m in igb vfio-pci kvm xe; do gcc -c -x c /dev/null -o lib/modules/6.12.0/$m.ko; done; \
                depmod -b . 6.12.0";
    let made = Command::new("sh")
        .args(["-ec", make])
        .current_dir(own.path())
        .output()
        .expect("sh starts");
    assert!(made.status.success(), "{}", said(&made));
    let loads = |module: &str| {
        let words = ["-d", ".", "-S", "6.12.0", "--use-blacklist", "--show-depends", module];
        let said = modprobe(own.path(), &lines, &words);
        let names = said
            .lines()
            .map(|line| line.rsplit('/').next().unwrap_or(line).trim().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(loads("igb"), ["vfio-pci.ko ids=8086:1533", "igb.ko"]);
    assert_eq!(loads("xe"), Vec::<String>::new());
    let kvm = loads("kvm").concat();
    assert!(kvm.starts_with("kvm.ko ") && kvm.contains("halt_poll_ns=0"), "{kvm}");
}

/// Applies settings to a copy of a tree that is mounted in place of the kernel's settings.
fn set(tree: &Path, reader: &str, settings: &str) -> (bool, String) {
    let file = written(tree, "triptime.conf", settings);
    let script = format!(
        "mount --bind {}/proc/sys /proc/sys; exec {reader} {}",
        tree.display(),
        file.display()
    );
    let output = apart(&script);
    (output.status.success(), said(&output))
}

/// Names, files in the tree and values of settings. Every kernel has these files, but trees made by hand lack some of them.
fn files<'a>(tree: &Path, settings: &'a str) -> Vec<(&'a str, PathBuf, &'a str)> {
    let lines = settings.lines().filter(|line| !line.starts_with('#'));
    let all = lines.map(|line| {
        let (name, value) = line.split_once(" = ").expect("a setting");
        let path = format!("proc/sys/{}", name.replace('.', "/"));
        let kept = fs::read_to_string(tree.join(&path)).unwrap_or_default();
        (name, written(tree, &path, &kept), value)
    });
    all.collect()
}

#[test]
fn both_readers_of_sysctl_d_set_every_value() {
    let test = "both_readers_of_sysctl_d_set_every_value";
    if !can_read(test, "sysctl", "procps") || !can_read(test, SYSTEMD_SYSCTL, "systemd") {
        return;
    }
    for tree in ["debian-untuned", "kvm-guest"] {
        let settings = emitted(&host(tree), &[], "sysctl");
        for reader in [&format!("{SYSTEMD_SYSCTL} --strict"), "sysctl --load"] {
            let copy = copied(&host(tree));
            let files = files(copy.path(), &settings);
            assert!(!files.is_empty(), "{tree}");
            let (is_set, said) = set(copy.path(), reader, &settings);
            assert!(
                is_set && !said.contains("ignoring") && !said.contains("invalid"),
                "{reader}: {said}"
            );
            for (name, path, value) in files {
                let now = fs::read_to_string(path).expect("a file");
                assert_eq!(now.trim(), value, "{reader}: {name}");
            }
            let (is_set, _) = set(copy.path(), reader, "kernel.no_such_setting = 1\n");
            assert!(!is_set, "{reader} takes a setting that is not there");
        }
    }
}
