//! The same guest as a libvirt domain, for display.

use super::super::CHANNEL;
use super::super::share::{NO_CPU_LEFT, Share, whole_pages};
use super::super::spec::{Accel, Channel, GuestSpec};
use super::line::NAME;
use std::fmt::Write;

/// A port of this machine for the guest, exclusive or shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Nic {
    /// Its name.
    pub(in super::super) name: String,
    /// Its PCI address, such as `0000:01:00.0`; `None` if it has none, and so cannot be passed through.
    pub(in super::super) pci: Option<String>,
    /// True if the guest gets all of it; else it shares it, and the lines that give it all of it follow as a comment.
    pub(in super::super) is_passed: bool,
}

/// Size of the huge pages of a domain, in KiB. Smaller ones fail the guest's set-up less well: see the rule dom-memory-backing.
const PAGE_KIB: u64 = 1 << 20;

/// The domain's XML, with the image in the file `image`. Of the emulator's threads only the CPUs are set.
pub(in super::super) fn xml(spec: &GuestSpec, image: &str, share: &Share, nic: Option<&Nic>) -> String {
    let (kernel, arguments) = (
        escaped(&spec.kernel.display().to_string()),
        escaped(&spec.kernel_arguments()),
    );
    let image = escaped(image);
    let cpus = spec.cpus;
    let (kind, memory, cpu) = match spec.accel {
        Accel::Tcg => (
            "qemu",
            format!("  <memory unit='MiB'>{}</memory>\n", spec.memory >> 20),
            "<cpu mode='maximum'/>",
        ),
        Accel::Auto | Accel::Kvm => (
            "kvm",
            huge(spec.memory),
            "<cpu mode='host-passthrough' migratable='off'><feature policy='require' name='tsc-deadline'/></cpu>",
        ),
    };
    format!(
        "<domain type='{kind}'>
  <name>{NAME}</name>
{memory}  <vcpu placement='static'>{cpus}</vcpu>
{cputune}{numatune}  <os>
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
        cputune = cputune(spec, share),
        numatune = numatune(share),
        channel = channel(spec.channel),
        interface = nic.map(interfaces).unwrap_or_default(),
    )
}

/// Memory of the whole huge pages that it takes, locked.
fn huge(memory: u64) -> String {
    let memory = whole_pages(memory, PAGE_KIB);
    let (mebioctets, pages) = (memory >> 20, memory / (PAGE_KIB << 10));
    format!(
        "  <!-- {pages} huge page(s) of 1 GiB, reserved before the start: hugepagesz=1G hugepages={pages} on the host's command line -->
  <memory unit='MiB'>{mebioctets}</memory>
  <memoryBacking><hugepages><page size='1' unit='G'/></hugepages><nosharepages/><locked/></memoryBacking>\n"
    )
}

fn cputune(spec: &GuestSpec, share: &Share) -> String {
    let Some(host) = &spec.host_cpus else {
        return "  <!-- virtual CPUs run anywhere: the option host-cpus pins them and QEMU's own threads -->\n"
            .to_owned();
    };
    let mut text = "  <cputune>\n".to_owned();
    for (vcpu, cpu) in host.iter().enumerate() {
        let _ = writeln!(text, "    <vcpupin vcpu='{vcpu}' cpuset='{cpu}'/>");
    }
    match share.emulator.is_empty() {
        false => {
            let _ = writeln!(text, "    <emulatorpin cpuset='{}'/>", share.emulator);
        }
        // A comment of XML cannot contain two hyphens.
        true => {
            let why = NO_CPU_LEFT.replace("--", "");
            let _ = writeln!(text, "    <!-- no emulatorpin: QEMU's own threads run {why} -->");
        }
    }
    let last = spec.cpus.saturating_sub(1);
    let _ = writeln!(text, "    <vcpusched vcpus='0-{last}' scheduler='fifo' priority='1'/>");
    text.push_str("  </cputune>\n");
    text
}

/// Memory from the nodes of the CPUs only.
fn numatune(share: &Share) -> String {
    match share.nodes.is_empty() {
        true => String::new(),
        false => format!(
            "  <numatune><memory mode='strict' nodeset='{}'/></numatune>\n",
            share.nodes
        ),
    }
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

/// The whole port; or a macvtap on it, and as a comment its replacement that gives the guest the whole port.
fn interfaces(nic: &Nic) -> String {
    let name = escaped(&nic.name);
    let whole = nic.pci.as_deref().and_then(address).map(|address| {
        format!("<hostdev mode='subsystem' type='pci' managed='yes'><source>{address}</source></hostdev>")
    });
    let alone = match whole {
        Some(whole) if nic.is_passed => {
            return format!(
                "    <!-- all of {name}, by VFIO: it is gone from this machine while the guest runs -->\n    {whole}\n"
            );
        }
        Some(whole) => format!("<!-- or all of {name}, by VFIO, for the guest alone:\n    {whole} -->"),
        None => format!("<!-- {name} is not a PCI device of this machine: it cannot be passed through by VFIO -->"),
    };
    format!(
        "    <interface type='direct' trustGuestRxFilters='yes'><source dev='{name}' mode='bridge'/><model type='virtio'/>\
         <driver name='vhost' rx_queue_size='1024'/></interface>\n    {alone}\n"
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
mod tests;
