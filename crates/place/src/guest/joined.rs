//! A guest started by another program, such as libvirt, whose channel is a socket of this machine.

use super::super::{Away, ClockOffset, Job, Place, PlaceError, PlaceKind, Vcpu};
use super::away::Errand;
use super::channel::{Call, CallError, Channel, Incoming};
use super::message::{Greeting, GuestAnswer, Request};
use super::peer::Peer;
use super::qemu::threads;
use super::{CHANNEL, fact};
use model::Fact;
use roxmltree::{Document, Node};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use units::{CpuList, format_ns};

/// Folder where libvirt keeps the definitions of running domains.
const RUNNING: &str = "/run/libvirt/qemu";
/// Time that its agent may take to greet: the guest may be booting, and emulated.
const PATIENCE: Duration = Duration::from_secs(180);

/// The connection to such a guest. Dropping it powers the guest off, because its agent serves one host only.
#[derive(Debug)]
struct JoinedLine {
    channel: Arc<Channel>,
    socket: PathBuf,
}

impl Peer for JoinedLine {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn name(&self) -> &'static str {
        "guest"
    }

    fn last_words(&self, _: &CallError) -> Option<String> {
        let socket = self.socket.display();
        Some(format!(
            "Its console may say why; the channel is {socket}, and serves one host at a time"
        ))
    }
}

impl Drop for JoinedLine {
    fn drop(&mut self) {
        // If the guest is already gone, there is nothing to power off.
        let _ = Call::open(&self.channel).send(&Request::PowerOff);
    }
}

/// A guest started by another program.
#[derive(Debug)]
pub struct Joined {
    line: Arc<JoinedLine>,
    greeting: Greeting,
    what: String,
    card: Option<String>,
    /// The hypervisor's process, whose threads run its virtual CPUs.
    process: Option<u32>,
}

impl Joined {
    /// The running domain of this name, or the guest with the socket at this path if the text has a `/`. Waits until its agent is up.
    ///
    /// # Errors
    /// There is no such domain or socket, it has no channel for triptime, its agent does not greet, or its version differs.
    pub fn new(domain: &str) -> Result<Self, PlaceError> {
        let running = Path::new(RUNNING);
        let is_socket = domain.contains('/');
        let (socket, card) = match is_socket {
            true => (PathBuf::from(domain), None),
            false => {
                let socket = socket_of(running, domain).map_err(PlaceError::NotAvailable)?;
                (socket, card_of(running, domain))
            }
        };
        let io = |error| PlaceError::Io {
            path: socket.clone(),
            error,
        };
        let stream = UnixStream::connect(&socket).map_err(io)?;
        let process = match is_socket {
            true => listener(&stream),
            false => process_of(running, domain),
        };
        let (channel, greeting) = Channel::new(stream).map_err(io)?;
        let line = Arc::new(JoinedLine {
            channel,
            socket: socket.clone(),
        });
        let greeting = match greeting.receive(PATIENCE).map_err(|error| line.failed(&error))? {
            Incoming::Answer {
                answer: GuestAnswer::Up(greeting),
                ..
            } => greeting,
            other => return Err(line.refused(&format!("its greeting is unexpected: {other:?}"))),
        };
        let own = crate::build()?;
        if greeting.version != own {
            let other = &greeting.version;
            return Err(line.refused(&format!(
                "triptime {other} is in its image and {own} here, and both must be the same: write its image again with this \
                 program (`triptime emit guest`), and start the guest with it"
            )));
        }
        Ok(Self {
            what: match &card {
                Some(card) => format!(
                    "vm: {domain}; kernel {}, CPUs {}; network card: {card}",
                    greeting.release, greeting.cpus
                ),
                None => format!("vm: {domain}; kernel {}, CPUs {}", greeting.release, greeting.cpus),
            },
            card,
            process,
            line,
            greeting,
        })
    }

    /// Problems that the guest reports from its boot.
    pub fn complaints(&self) -> &[String] {
        &self.greeting.complaints
    }
}

impl Place for Joined {
    fn kind(&self) -> PlaceKind {
        PlaceKind::Vm
    }

    fn describe(&self) -> &str {
        &self.what
    }

    fn interface(&self) -> &str {
        self.greeting.interface.as_ref().map_or("none", |(name, _)| name)
    }

    fn mac(&self) -> [u8; 6] {
        self.greeting.interface.as_ref().map_or([0; 6], |(_, mac)| *mac)
    }

    fn cpus(&self) -> Option<CpuList> {
        self.greeting.cpus.parse().ok()
    }

    fn card(&self) -> Option<String> {
        self.card.clone()
    }

    fn vcpu(&self, cpu: u32) -> Option<Vcpu> {
        threads::vcpu(self.process?, cpu)
    }

    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        self.line.clock()
    }

    fn facts(&self) -> Vec<Fact> {
        let clock = self.clock().map_err(|error| error.to_string()).map(|clock| {
            let (offset, uncertainty) = (clock.offset_ns as f64, clock.uncertainty_ns as f64);
            format!("ahead by {} ± {}", format_ns(offset), format_ns(uncertainty))
        });
        vec![
            fact("machine", Ok(self.what.clone()), "reported over the channel"),
            fact("clock when it was joined", clock, "asked over the channel"),
        ]
    }

    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        Ok(Box::new(Errand::start(self.line.clone(), job)?))
    }
}

/// The socket of triptime's channel in the running domain of this name.
fn socket_of(running: &Path, name: &str) -> Result<PathBuf, String> {
    let path = running.join(format!("{name}.xml"));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!(
            "{}: {error}: no domain {name} of libvirt runs here (`virsh list`)",
            path.display()
        )
    })?;
    let found = socket_in(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    found.ok_or_else(|| {
        format!(
            "the domain {name} has no channel to us; give it <channel type='unix'><target type='virtio' name='{CHANNEL}'/></channel>, \
             as the domain.xml of `triptime emit guest` has it"
        )
    })
}

/// The process that runs the domain of this name, by libvirt's account.
fn process_of(running: &Path, name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(running.join(format!("{name}.xml"))).ok()?;
    let document = Document::parse(&text).ok()?;
    document.root_element().attribute("pid")?.parse().ok()
}

/// The process that listens at the other end. It is the hypervisor, unless another program opened the socket for it; then no thread of it runs a
/// virtual CPU.
fn listener(stream: &UnixStream) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

/// The first network card of the running domain of this name; `None` if it has none, or its definition cannot be read.
fn card_of(running: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(running.join(format!("{name}.xml"))).ok()?;
    let document = Document::parse(&text).ok()?;
    document.descendants().find_map(|device| card_in(device))
}

/// The network card that a device of a domain is, in words.
fn card_in(device: Node<'_, '_>) -> Option<String> {
    let child = |tag: &str| device.children().find(|child| child.has_tag_name(tag));
    let kind = device.attribute("type").unwrap_or_default();
    let source = child("source");
    let address = source.and_then(|source| source.children().find(|child| child.has_tag_name("address")));
    let passed = || match address.map(|address| ["domain", "bus", "slot", "function"].map(|part| number(address, part)))
    {
        Some([Some(domain), Some(bus), Some(slot), Some(function)]) => {
            format!("passed-through port or virtual function {domain:04x}:{bus:02x}:{slot:02x}.{function}")
        }
        _ => "passed-through port or virtual function".to_owned(),
    };
    match (device.tag_name().name(), kind) {
        ("hostdev", "pci") | ("interface", "hostdev") => Some(passed()),
        ("interface", _) => {
            let model = child("model")
                .and_then(|model| model.attribute("type"))
                .unwrap_or("emulated");
            let of = |name| source.and_then(|source| source.attribute(name));
            let to = ["dev", "bridge", "network"]
                .into_iter()
                .find_map(of)
                .unwrap_or("nothing named");
            Some(match kind {
                "direct" => format!("{model} over a macvtap on {to}"),
                _ => format!("{model} over a tap on {to}"),
            })
        }
        _ => None,
    }
}

/// A number of an address in a definition: `0x1f`, or `31`.
fn number(address: Node<'_, '_>, part: &str) -> Option<u32> {
    let text = address.attribute(part)?;
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The socket in the text of the domain's definition.
fn socket_in(text: &str) -> Result<Option<PathBuf>, roxmltree::Error> {
    let document = Document::parse(text)?;
    let child = |node: Node<'_, '_>, tag: &str, attribute: &str| {
        let mut children = node.children().filter(|child| child.has_tag_name(tag));
        children.find_map(|child| child.attribute(attribute).map(str::to_owned))
    };
    let mut channels = document.descendants().filter(|node| node.has_tag_name("channel"));
    let ours = channels.find(|channel| child(*channel, "target", "name").as_deref() == Some(CHANNEL));
    Ok(ours
        .and_then(|channel| child(channel, "source", "path"))
        .map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::{card_of, listener, process_of, socket_of};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;

    #[test]
    fn the_card_of_a_running_domain_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let card = |devices: &str| {
            let text = format!("<domstatus><domain type='kvm'><devices>{devices}</devices></domain></domstatus>");
            std::fs::write(folder.path().join("probe.xml"), text).expect("written");
            card_of(folder.path(), "probe")
        };
        let address = "<source><address domain='0x0000' bus='0x1f' slot='0x02' function='0x3'/></source>";
        let passed = Some("passed-through port or virtual function 0000:1f:02.3".to_owned());
        assert_eq!(
            card(&format!(
                "<hostdev mode='subsystem' type='pci' managed='yes'>{address}</hostdev>"
            )),
            passed
        );
        let function = address.replace("<address", "<address type='pci'");
        assert_eq!(
            card(&format!(
                "<interface type='hostdev' managed='yes'>{function}</interface>"
            )),
            passed
        );
        let direct = "<interface type='direct'><source dev='eth1' mode='bridge'/><model type='virtio'/></interface>";
        assert_eq!(card(direct).as_deref(), Some("virtio over a macvtap on eth1"));
        let bridge = "<interface type='bridge'><source bridge='br0'/></interface>";
        assert_eq!(card(bridge).as_deref(), Some("emulated over a tap on br0"));
        assert_eq!(card("<memballoon model='none'/>"), None);
    }

    #[test]
    fn the_process_of_a_guest_is_known_by_its_definition_or_its_socket() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "<domstatus state='running' reason='booted' pid='4711'><domain type='kvm'/></domstatus>";
        std::fs::write(folder.path().join("probe.xml"), text).expect("written");
        assert_eq!(process_of(folder.path(), "probe"), Some(4711));
        assert_eq!(process_of(folder.path(), "gone"), None);
        let path = folder.path().join("socket");
        let _listens = UnixListener::bind(&path).expect("a socket");
        let stream = UnixStream::connect(&path).expect("connected");
        assert_eq!(listener(&stream), Some(std::process::id()));
    }

    #[test]
    fn the_socket_of_a_running_domain_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, devices: &str| {
            let text = format!("<domstatus><domain type='kvm'><devices>{devices}</devices></domain></domstatus>");
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        let agent = "<channel type='unix'><source mode='bind' path='/a'/><target type='virtio' name='org.qemu.guest_agent.0'/></channel>";
        let ours = "<channel type='unix'><source mode='bind' path='/run/c/triptime'/><target type='virtio' name='triptime' \
                    state='connected'/></channel>";
        write("probe.xml", &format!("{agent}{ours}"));
        write("relay.xml", agent);
        write("broken.xml", "<");
        let said = |name: &str| socket_of(folder.path(), name).expect_err("none");
        assert_eq!(
            socket_of(folder.path(), "probe").as_deref(),
            Ok(Path::new("/run/c/triptime"))
        );
        assert!(said("relay").contains("has no channel"));
        assert!(said("broken").contains("broken.xml"));
        assert!(said("gone").contains("virsh list"));
    }
}
