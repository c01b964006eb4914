//! The command line of QEMU: a machine with the devices that a protection application needs, and no others. Each setting corresponds to a rule of the
//! audit for domains (`triptime audit --domain`).

use super::super::CHANNEL;
use super::super::share::{Share, whole_pages};
use super::super::spec::{Channel, GuestSpec};
use std::path::Path;
use units::shell;

/// The name of the guest.
pub(in super::super) const NAME: &str = "triptime";

/// Settings of one start of a guest: its image, and the targets of its devices.
#[derive(Debug, Clone)]
pub(in super::super) struct Ways {
    /// Name of the guest.
    pub(in super::super) name: String,
    /// True if KVM runs it, false if it is emulated.
    pub(in super::super) kvm: bool,
    /// True if its memory may be locked.
    pub(in super::super) locked: bool,
    /// The part of this machine that it gets.
    pub(in super::super) share: Share,
    /// File of the image.
    pub(in super::super) image: String,
    /// Target of the console, as in `-chardev`, without an id.
    pub(in super::super) console: String,
    /// Target of the channel to the agent, in the same form.
    pub(in super::super) channel: String,
    /// Its network cards.
    pub(in super::super) cards: Vec<Card>,
}

/// Target of a network card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Way {
    /// The tap of this name.
    Tap(String),
    /// An inherited file by its number, for a macvtap.
    File(i32),
}

/// A network card of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Card {
    /// Its tap or file.
    pub(in super::super) way: Way,
    /// The card's address.
    pub(in super::super) mac: [u8; 6],
    /// True if a kernel thread moves its frames.
    pub(in super::super) vhost: bool,
}

/// An address in its usual notation.
pub(in super::super) fn written(mac: [u8; 6]) -> String {
    mac.map(|octet| format!("{octet:02x}")).join(":")
}

/// The words after the program's name.
pub(in super::super) fn words(spec: &GuestSpec, ways: &Ways) -> Vec<String> {
    let mut line = CommandLine::default();
    line.add("-name", format!("guest={},debug-threads=on", ways.name));
    line.flags(&["-nodefaults", "-no-user-config", "-no-reboot"]);
    line.add("-display", "none");
    processor(&mut line, spec, ways.kvm);
    memory(&mut line, spec, ways);
    line.add("-kernel", spec.kernel.display().to_string());
    line.add("-initrd", ways.image.clone());
    line.add("-append", spec.kernel_arguments());
    line.add("-chardev", format!("{},id=console", ways.console));
    line.add("-serial", "chardev:console");
    line.add("-chardev", format!("{},id=channel", ways.channel));
    match spec.channel {
        Channel::Serial => line.add("-serial", "chardev:channel"),
        Channel::Virtio => {
            line.add("-device", "virtio-serial-pci,id=ports");
            line.add(
                "-device",
                format!("virtserialport,bus=ports.0,chardev=channel,name={CHANNEL}"),
            );
        }
    }
    for (number, card) in ways.cards.iter().enumerate() {
        network_card(&mut line, number, card);
    }
    line.0
}

/// Card number `number`, from 0.
fn network_card(line: &mut CommandLine, number: usize, card: &Card) {
    let vhost = if card.vhost { ",vhost=on" } else { "" };
    let way = match &card.way {
        Way::Tap(name) => format!("ifname={name},script=no,downscript=no"),
        Way::File(number) => format!("fd={number}"),
    };
    line.add("-netdev", format!("tap,id=net{number},{way}{vhost}"));
    // Without a boot ROM, which is in a separate package.
    let mac = written(card.mac);
    line.add(
        "-device",
        format!("virtio-net-pci,netdev=net{number},mac={mac},romfile="),
    );
}

fn processor(line: &mut CommandLine, spec: &GuestSpec, kvm: bool) {
    let memory = if kvm { ",memory-backend=ram" } else { "" };
    line.add("-machine", format!("q35,vmport=off,hpet=off{memory}"));
    line.add("-smp", spec.cpus.to_string());
    match (kvm, spec.icount) {
        (true, _) => {
            line.add("-accel", "kvm");
            line.add("-cpu", "host,migratable=off,pmu=off,+tsc-deadline");
            line.add("-global", "kvm-pit.lost_tick_policy=delay");
        }
        (false, None) => {
            // Several threads would race when the kernel patches its own code while another CPU executes it.
            let threads = if spec.cpus > 1 { ",thread=single" } else { "" };
            line.add("-accel", format!("tcg{threads}"));
            line.add("-cpu", "max");
        }
        (false, Some(shift)) => {
            line.add("-accel", "tcg");
            line.add("-icount", format!("shift={shift},sleep=off"));
            line.add("-cpu", "max,-rdrand,-rdseed");
            line.add("-rtc", "base=2026-01-01,clock=vm");
        }
    }
}

/// With KVM the memory is allocated at the start and locked, in huge pages and on the node of its CPUs where there are any; an emulated guest gains
/// nothing from this.
fn memory(line: &mut CommandLine, spec: &GuestSpec, ways: &Ways) {
    let mebioctets = ways.memory(spec) >> 20;
    line.add("-m", format!("{mebioctets}M"));
    if !ways.kvm {
        return;
    }
    let backend = match ways.share.page_kib {
        Some(kib) => format!("memory-backend-memfd,id=ram,size={mebioctets}M,hugetlb=on,hugetlbsize={kib}K"),
        None => format!("memory-backend-ram,id=ram,size={mebioctets}M"),
    };
    let nodes = &ways.share.nodes;
    // QEMU may be built without this, and one node needs no binding.
    let bound: String = match nodes.is_empty() || !ways.share.has_other_nodes {
        true => String::new(),
        false => {
            let each = nodes.iter().map(|node| format!(",host-nodes={node}"));
            each.chain([",policy=bind".to_owned()]).collect()
        }
    };
    line.add("-object", format!("{backend},prealloc=on,merge=off{bound}"));
    if ways.locked {
        line.add("-overcommit", "mem-lock=on");
    }
}

impl Ways {
    /// Memory of a guest in bytes: whole huge pages if it consists of such.
    pub(in super::super) fn memory(&self, spec: &GuestSpec) -> u64 {
        match self.share.page_kib {
            Some(kib) if self.kvm => whole_pages(spec.memory, kib),
            _ => spec.memory,
        }
    }
}

#[derive(Default)]
struct CommandLine(Vec<String>);

impl CommandLine {
    fn add(&mut self, option: &str, value: impl Into<String>) {
        self.0.extend([option.to_owned(), value.into()]);
    }

    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(|flag| (*flag).to_owned()));
    }
}

/// QEMU's command line as a shell reads it.
pub(in super::super) fn shown(program: &Path, words: &[String]) -> String {
    let program = program.to_string_lossy();
    shell::line(std::iter::once(&*program).chain(words.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::{Card, Share, Way, Ways, words};
    use crate::guest::spec::{Channel, GuestSpec};
    use units::CpuList;

    fn line(kvm: bool, change: impl FnOnce(&mut GuestSpec)) -> String {
        with(kvm, Share::default(), change)
    }

    fn with(kvm: bool, share: Share, change: impl FnOnce(&mut GuestSpec)) -> String {
        let mut spec = GuestSpec::new("vmlinuz".into(), "modules".into());
        change(&mut spec);
        let ways = Ways {
            name: "relay".to_owned(),
            kvm,
            locked: true,
            share,
            image: "image".to_owned(),
            console: "stdio".to_owned(),
            channel: "socket,fd=0".to_owned(),
            cards: vec![
                Card {
                    way: match kvm {
                        true => Way::Tap("p-dut".to_owned()),
                        false => Way::File(7),
                    },
                    mac: [2, 0, 0, 0, 0, 0xab],
                    vhost: kvm,
                },
                Card {
                    way: Way::File(8),
                    mac: [2, 0, 0, 0, 0, 0xcd],
                    vhost: kvm,
                },
            ],
        };
        words(&spec, &ways).join(" ")
    }

    #[test]
    fn under_kvm_it_has_the_settings_of_a_real_time_guest() {
        let line = line(true, |_| {});
        for wanted in [
            "-name guest=relay,debug-threads=on",
            "-accel kvm",
            "-cpu host,migratable=off,pmu=off",
            "prealloc=on",
            "-overcommit mem-lock=on",
            "vmport=off,hpet=off,memory-backend=ram",
            "tap,id=net0,ifname=p-dut,script=no,downscript=no,vhost=on",
            "tap,id=net1,fd=8,vhost=on -device virtio-net-pci,netdev=net1,mac=02:00:00:00:00:cd",
            "mac=02:00:00:00:00:ab",
            "virtserialport,bus=ports.0,chardev=channel,name=triptime",
            "isolcpus=managed_irq,domain,1",
        ] {
            assert!(line.contains(wanted), "no {wanted} in {line}");
        }
        assert!(!line.contains("balloon") && !line.contains("usb"), "{line}");
    }

    #[test]
    fn its_memory_is_in_free_huge_pages_and_near_its_cpus() {
        let mut share = Share {
            nodes: CpuList::from_iter([1]),
            has_other_nodes: true,
            page_kib: Some(1 << 20),
            ..Share::default()
        };
        let giant = with(true, share.clone(), |_| {});
        let wanted = "-m 1024M -object memory-backend-memfd,id=ram,size=1024M,hugetlb=on,hugetlbsize=1048576K,prealloc=on,merge=off,\
                      host-nodes=1,policy=bind";
        assert!(giant.contains(wanted), "{giant}");
        share.page_kib = None;
        share.has_other_nodes = false;
        let small = with(true, share.clone(), |_| {});
        assert!(
            small.contains("-m 768M -object memory-backend-ram") && !small.contains("policy=bind"),
            "{small}"
        );
        share.page_kib = Some(2048);
        assert!(
            !with(false, share, |_| {}).contains("hugetlb"),
            "an emulated guest takes none"
        );
    }

    #[test]
    fn emulated_it_runs_in_one_thread_and_locks_nothing() {
        let two = line(false, |_| {});
        assert!(two.contains("-accel tcg,thread=single -cpu max"), "{two}");
        assert!(two.contains("-netdev tap,id=net0,fd=7 -device"), "{two}");
        assert!(!two.contains("mem-lock") && !two.contains("vhost=on"), "{two}");
        let one = line(false, |spec| spec.cpus = 1);
        assert!(one.contains("-accel tcg -cpu max"), "{one}");
        let counted = line(false, |spec| spec.icount = Some(2));
        assert!(
            counted.contains("-icount shift=2,sleep=off") && counted.contains("clock=vm"),
            "{counted}"
        );
    }

    #[test]
    fn the_channel_can_be_the_second_serial_port() {
        let line = line(false, |spec| spec.channel = Channel::Serial);
        assert!(line.contains("-serial chardev:console"), "{line}");
        assert!(
            line.ends_with("romfile=") && line.contains("-serial chardev:channel"),
            "{line}"
        );
        assert!(!line.contains("virtio-serial"), "{line}");
    }
}
