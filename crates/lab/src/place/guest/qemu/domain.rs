//! The same guest as a domain of libvirt, to be shown.

use super::super::CHANNEL;
use super::super::spec::{Accel, Channel, GuestSpec};
use super::line::{Card, NAME, written};
use std::fmt::Write;
use units::CpuList;

/// The domain's XML, with the image in the file `image`. Of the emulator's threads it says nothing but their CPUs.
pub(in super::super) fn xml(spec: &GuestSpec, image: &str, emulator: &CpuList, card: Option<&Card>) -> String {
    let (kernel, arguments) = (
        escaped(&spec.kernel.display().to_string()),
        escaped(&spec.kernel_arguments()),
    );
    let image = escaped(image);
    let (cpus, memory) = (spec.cpus, spec.memory >> 20);
    let [kind, backing, cpu] = match spec.accel {
        Accel::Tcg => ["qemu", "", "<cpu mode='maximum'/>"],
        Accel::Auto | Accel::Kvm => [
            "kvm",
            "  <memoryBacking><hugepages/><nosharepages/><locked/></memoryBacking>\n",
            "<cpu mode='host-passthrough' migratable='off'><feature policy='require' name='tsc-deadline'/></cpu>",
        ],
    };
    format!(
        "<domain type='{kind}'>
  <name>{NAME}</name>
  <memory unit='MiB'>{memory}</memory>
{backing}  <vcpu placement='static'>{cpus}</vcpu>
{cputune}  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{image}</initrd>
    <cmdline>{arguments}</cmdline>
  </os>
  <features><acpi/><pmu state='off'/><vmport state='off'/></features>
  {cpu}
  <clock offset='utc'><timer name='hpet' present='no'/><timer name='pit' tickpolicy='delay'/></clock>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>destroy</on_reboot>
  <on_crash>destroy</on_crash>
  <pm><suspend-to-mem enabled='no'/><suspend-to-disk enabled='no'/></pm>
  <devices>
    <serial type='pty'><target port='0'/></serial>
{channel}{interface}    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
",
        cputune = cputune(spec, emulator),
        channel = channel(spec.channel),
        interface = card.map(interface).unwrap_or_default(),
    )
}

fn cputune(spec: &GuestSpec, emulator: &CpuList) -> String {
    let Some(host) = &spec.host_cpus else {
        return String::new();
    };
    let mut text = "  <cputune>\n".to_owned();
    for (vcpu, cpu) in host.iter().enumerate() {
        let _ = writeln!(text, "    <vcpupin vcpu='{vcpu}' cpuset='{cpu}'/>");
    }
    if !emulator.is_empty() {
        let _ = writeln!(text, "    <emulatorpin cpuset='{emulator}'/>");
    }
    let last = spec.cpus.saturating_sub(1);
    let _ = writeln!(text, "    <vcpusched vcpus='0-{last}' scheduler='fifo' priority='1'/>");
    text.push_str("  </cputune>\n");
    text
}

fn channel(channel: Channel) -> String {
    match channel {
        Channel::Virtio => {
            format!("    <channel type='unix'><target type='virtio' name='{CHANNEL}'/></channel>\n")
        }
        Channel::Serial => {
            "    <serial type='unix'><source mode='bind' path='/run/triptime-guest'/><target port='1'/></serial>\n"
                .to_owned()
        }
    }
}

fn interface(card: &Card) -> String {
    let (tap, mac) = (escaped(&card.tap), written(card.mac));
    format!(
        "    <interface type='ethernet'><mac address='{mac}'/><target dev='{tap}' managed='no'/><model type='virtio'/>\
         <driver name='vhost'/></interface>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::xml;
    use crate::place::guest::qemu::line::Card;
    use crate::place::guest::spec::{Accel, GuestSpec};
    use units::CpuList;

    #[test]
    fn the_domain_has_the_recommended_settings() {
        let mut spec = GuestSpec::new("/boot/vmlinuz".into(), "/lib/modules/x".into());
        spec.host_cpus = Some(CpuList::from_iter([2, 3]));
        spec.arguments = "note=\"<&>\"".to_owned();
        let card = Card {
            tap: "vnet0".to_owned(),
            mac: [2, 0, 0, 0, 0, 1],
            vhost: true,
        };
        let text = xml(&spec, "/srv/image", &CpuList::from_iter([0, 1]), Some(&card));
        for wanted in [
            "<vcpupin vcpu='1' cpuset='3'/>",
            "<emulatorpin cpuset='0-1'/>",
            "<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/>",
            "<locked/>",
            "<memballoon model='none'/>",
            "note=&quot;&lt;&amp;&gt;&quot;</cmdline>",
            "<mac address='02:00:00:00:00:01'/>",
            "name='triptime'/>",
        ] {
            assert!(text.contains(wanted), "no {wanted} in {text}");
        }
        spec.host_cpus = None;
        spec.accel = Accel::Tcg;
        let text = xml(&spec, "i", &CpuList::from_iter([]), None);
        assert!(!text.contains("cputune"));
        // What libvirt refuses of an emulated guest, or has to be reserved first.
        assert!(text.contains("type='qemu'") && !text.contains("host-passthrough") && !text.contains("hugepages"));
    }
}
