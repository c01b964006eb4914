//! The same guest as a libvirt domain, for display.

use super::super::CHANNEL;
use super::super::spec::{Accel, Channel, GuestSpec};
use super::line::NAME;
use std::fmt::Write;
use units::CpuList;

/// A port of this machine for the guest, exclusive or shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Nic {
    /// Its name.
    pub(in super::super) name: String,
    /// Its PCI address, such as `0000:01:00.0`; `None` if it has none, and so cannot be passed through.
    pub(in super::super) pci: Option<String>,
}

/// The domain's XML, with the image in the file `image`. Of the emulator's threads only the CPUs are set.
pub(in super::super) fn xml(spec: &GuestSpec, image: &str, emulator: &CpuList, nic: Option<&Nic>) -> String {
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
        interface = nic.map(interfaces).unwrap_or_default(),
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

/// A macvtap on the port, and as a comment its replacement that gives the guest the whole port.
fn interfaces(nic: &Nic) -> String {
    let name = escaped(&nic.name);
    let alone = match nic.pci.as_deref().and_then(address) {
        Some(address) => format!(
            "<!-- or all of {name}, by VFIO, for the guest alone:\n    <hostdev mode='subsystem' type='pci' managed='yes'><source>\
             {address}</source></hostdev> -->"
        ),
        None => format!("<!-- {name} is not a PCI device of this machine: it cannot be passed through by VFIO -->"),
    };
    format!(
        "    <interface type='direct' trustGuestRxFilters='yes'><source dev='{name}' mode='bridge'/><model type='virtio'/>\
         <driver name='vhost'/></interface>\n    {alone}\n"
    )
}

/// A PCI address such as `0000:01:00.0` in libvirt's form.
fn address(pci: &str) -> Option<String> {
    let (domain, rest) = pci.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (slot, function) = rest.split_once('.')?;
    Some(format!(
        "<address domain='0x{domain}' bus='0x{bus}' slot='0x{slot}' function='0x{function}'/>"
    ))
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
    use super::{Nic, xml};
    use crate::guest::spec::{Accel, GuestSpec};
    use units::CpuList;

    #[test]
    fn the_domain_has_the_recommended_settings() {
        let mut spec = GuestSpec::new("/boot/vmlinuz".into(), "/lib/modules/x".into());
        spec.host_cpus = Some(CpuList::from_iter([2, 3]));
        spec.arguments = "note=\"<&>\"".to_owned();
        let mut nic = Nic {
            name: "eth1".to_owned(),
            pci: Some("0000:01:00.1".to_owned()),
        };
        let text = xml(&spec, "/srv/image", &CpuList::from_iter([0, 1]), Some(&nic));
        for wanted in [
            "<vcpupin vcpu='1' cpuset='3'/>",
            "<emulatorpin cpuset='0-1'/>",
            "<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/>",
            "<locked/>",
            "<memballoon model='none'/>",
            "note=&quot;&lt;&amp;&gt;&quot;</cmdline>",
            "<source dev='eth1' mode='bridge'/>",
            "<address domain='0x0000' bus='0x01' slot='0x00' function='0x1'/>",
            "name='triptime'/>",
        ] {
            assert!(text.contains(wanted), "no {wanted} in {text}");
        }
        nic.pci = None;
        let text = xml(&spec, "i", &CpuList::from_iter([]), Some(&nic));
        assert!(
            text.contains("cannot be passed through") && !text.contains("hostdev"),
            "{text}"
        );
        spec.host_cpus = None;
        spec.accel = Accel::Tcg;
        let text = xml(&spec, "i", &CpuList::from_iter([]), None);
        assert!(!text.contains("cputune"));
        // Omits settings that libvirt refuses for an emulated guest, or that need a reservation first.
        assert!(text.contains("type='qemu'") && !text.contains("host-passthrough") && !text.contains("hugepages"));
    }
}
