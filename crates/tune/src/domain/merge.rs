//! Merges a fragment into a whole definition, one small edit after the other until nothing differs.

use roxmltree::Node;
use units::CpuList;

use super::edit::{self, Edit};
use audit::definition::{document, needless_places};

/// Maximum number of edits for one fragment: a domain has some hundreds of elements.
const MOST_EDITS: usize = 2000;

/// Elements that an attribute distinguishes.
const KEYS: [(&str, &str); 7] = [
    ("vcpupin", "vcpu"),
    ("iothreadpin", "iothread"),
    ("timer", "name"),
    ("feature", "name"),
    ("controller", "type"),
    ("hostdev", "type"),
    ("interface", "type"),
];
/// Elements that exist only once.
const ALONE: [&str; 2] = ["vcpusched", "page"];
/// Elements that are all changed in place, and never added.
const WHERE_THERE: [&str; 4] = ["disk", "watchdog", "hostdev", "interface"];
/// Attributes whose existing values are kept.
const KEPT: [(&str, &str); 6] = [
    ("clock", "offset"),
    ("watchdog", "model"),
    ("vcpu", "placement"),
    ("driver", "type"),
    ("driver", "name"),
    ("driver", "iothread"),
];
/// Texts whose existing values are kept.
const KEPT_TEXT: [&str; 1] = ["iothreads"];
/// Elements of the domain that belong after its `<vcpu>`.
const BEHIND_VCPU: [&str; 4] = ["memoryBacking", "iothreads", "cputune", "numatune"];

/// The definition, completed by everything that the fragment contains.
///
/// # Errors
/// One of them is not well-formed XML.
pub(super) fn merged(text: &str, fragment: &str) -> Result<String, String> {
    let fragment = format!("<domain>{fragment}</domain>");
    let wanted = document(&fragment).map_err(|error| format!("the fragment is not well-formed XML: {error}"))?;
    let mut text = text.to_owned();
    for _ in 0..MOST_EDITS {
        let Some(edit) = next(&text, wanted.root_element())? else {
            return Ok(text);
        };
        text = edit.apply(&text);
    }
    Err("it does not fit the definition".to_owned())
}

fn next(text: &str, wanted: Node<'_, '_>) -> Result<Option<Edit>, String> {
    let now = document(text)?;
    let root = now.root_element();
    Ok(within(text, root, wanted)
        .or_else(|| cleared(text, root, wanted))
        .or_else(|| consistent(text, root, wanted))
        .or_else(|| io_pinned(text, root, wanted)))
}

/// First difference between an element and the fragment's element.
fn within(text: &str, now: Node<'_, '_>, wanted: Node<'_, '_>) -> Option<Edit> {
    let name = wanted.tag_name().name();
    if name == "page" && is_gibibyte(now) && is_gibibyte(wanted) {
        return None;
    }
    for attribute in wanted.attributes() {
        let has = now.attribute(attribute.name());
        let kept = has.is_some() && KEPT.contains(&(name, attribute.name()));
        if !kept && has != Some(attribute.value()) {
            return Some(edit::attribute(text, now, attribute.name(), attribute.value()));
        }
    }
    let own = wanted.text().unwrap_or_default().trim();
    let differs = now.text().unwrap_or_default().trim() != own;
    if !own.is_empty() && differs && !KEPT_TEXT.contains(&name) {
        return edit::content(now, own);
    }
    wanted
        .children()
        .filter(Node::is_element)
        .find_map(|child| below(text, now, child))
}

fn below(text: &str, parent: Node<'_, '_>, wanted: Node<'_, '_>) -> Option<Edit> {
    let name = wanted.tag_name().name();
    let mut found = parent.children().filter(|child| is_same(*child, wanted));
    if WHERE_THERE.contains(&name) {
        return found
            .filter(takes_io_threads)
            .find_map(|each| within(text, each, wanted));
    }
    let Some(first) = found.next() else {
        let vcpu = parent.children().find(|child| child.has_tag_name("vcpu"));
        let behind = vcpu.filter(|_| BEHIND_VCPU.contains(&name));
        return Some(match behind {
            Some(vcpu) => edit::behind(text, vcpu, wanted),
            None => edit::inside(text, parent, wanted),
        });
    };
    if ALONE.contains(&name)
        && let Some(more) = found.next()
    {
        return Some(edit::removed(text, more.range()));
    }
    // A device of the model none has no address and no other content.
    let is_none = wanted.attribute("model") == Some("none");
    if is_none && (first.attribute("model") != Some("none") || first.first_element_child().is_some()) {
        return Some(edit::replaced(text, first, wanted));
    }
    within(text, first, wanted)
}

/// True for a page of 1 GiB, in any notation.
fn is_gibibyte(page: Node<'_, '_>) -> bool {
    let written = (page.attribute("size"), page.attribute("unit"));
    [
        ("1", "G"),
        ("1", "GiB"),
        ("1024", "MiB"),
        ("1024", "M"),
        ("1048576", "KiB"),
    ]
    .iter()
    .any(|(size, unit)| written == (Some(size), Some(unit)))
}

fn is_same(one: Node<'_, '_>, wanted: Node<'_, '_>) -> bool {
    let name = wanted.tag_name().name();
    let key = KEYS.iter().find(|(tag, _)| *tag == name).map(|(_, key)| *key);
    one.is_element()
        && one.tag_name().name() == name
        && key.is_none_or(|key| one.attribute(key) == wanted.attribute(key))
}

/// True for elements that may get an I/O thread: excludes CD-ROM and floppy drives, which are not part of a relay.
fn takes_io_threads(device: &Node<'_, '_>) -> bool {
    !device.has_tag_name("disk") || matches!(device.attribute("device"), None | Some("disk"))
}

/// Removals that a fragment implies: unneeded devices if it contains a USB controller; model and vendor of a processor that is passed through.
fn cleared(text: &str, now: Node<'_, '_>, wanted: Node<'_, '_>) -> Option<Edit> {
    let at = |node: Node<'_, '_>, name: &str| {
        node.children()
            .find(|child| child.has_tag_name(name))
            .map(|node| node.id())
    };
    let names_usb = wanted
        .descendants()
        .any(|node| node.has_tag_name("controller") && node.attribute("type") == Some("usb"));
    if names_usb {
        if let Some(serial) = first_console(text, now) {
            return Some(serial);
        }
        let place = needless_places(text).into_iter().next();
        return place.map(|place| edit::removed(text, place));
    }
    let passed = wanted
        .children()
        .any(|node| node.has_tag_name("cpu") && node.attribute("mode") == Some("host-passthrough"));
    let cpu = at(now, "cpu")
        .filter(|_| passed)
        .and_then(|id| now.document().get_node(id))?;
    // libvirt refuses a vendor without its model, and takes neither with a processor that is passed through.
    let named = cpu
        .children()
        .find(|child| child.has_tag_name("model") || child.has_tag_name("vendor"));
    match named {
        Some(named) => Some(edit::removed(text, named.range())),
        None => edit::without_attribute(text, cpu, "match"),
    }
}

/// Adds a serial console if the guest has a screen and no other console: the screen is removed next.
fn first_console(text: &str, domain: Node<'_, '_>) -> Option<Edit> {
    let devices = domain.children().find(|child| child.has_tag_name("devices"))?;
    let has = |names: [&str; 2]| {
        devices
            .children()
            .any(|device| names.contains(&device.tag_name().name()))
    };
    if !has(["graphics", "video"]) || has(["serial", "console"]) {
        return None;
    }
    let added = document("<serial type='pty'/>").ok()?;
    let serial = added.root_element();
    Some(edit::inside(text, devices, serial))
}

/// If a fragment states the number of vCPUs, pins and policies of other vCPUs are removed.
fn consistent(text: &str, now: Node<'_, '_>, wanted: Node<'_, '_>) -> Option<Edit> {
    let vcpu = wanted.children().find(|child| child.has_tag_name("vcpu"))?;
    let count: u32 = vcpu.text()?.trim().parse().ok()?;
    let tuning = now.children().find(|child| child.has_tag_name("cputune"))?;
    tuning.children().find_map(|entry| match entry.tag_name().name() {
        "vcpupin" => {
            let vcpu: u32 = entry.attribute("vcpu")?.trim().parse().ok()?;
            (vcpu >= count).then(|| edit::removed(text, entry.range()))
        }
        "vcpusched" => {
            let all: CpuList = entry.attribute("vcpus")?.parse().ok()?;
            let there: CpuList = all.iter().filter(|vcpu| *vcpu < count).collect();
            match there.len() {
                len if len == all.len() => None,
                0 => Some(edit::removed(text, entry.range())),
                _ => Some(edit::attribute(text, entry, "vcpus", &there.to_string())),
            }
        }
        _ => None,
    })
}

/// Every I/O thread in the definition gets the CPUs that the fragment gives the first one.
fn io_pinned(text: &str, now: Node<'_, '_>, wanted: Node<'_, '_>) -> Option<Edit> {
    let pin = wanted.descendants().find(|node| node.has_tag_name("iothreadpin"))?;
    let cpus = pin.attribute("cpuset")?;
    let child = |name: &str| {
        now.children()
            .find(|child| child.has_tag_name(name))
            .map(|child| child.id())
    };
    let count: u32 = now
        .document()
        .get_node(child("iothreads")?)?
        .text()?
        .trim()
        .parse()
        .ok()?;
    let tuning = now.document().get_node(child("cputune")?)?;
    (1..=count).find_map(|thread| {
        let id = thread.to_string();
        let mut entries = tuning.children().filter(|entry| entry.has_tag_name("iothreadpin"));
        match entries.find(|entry| entry.attribute("iothread") == Some(&id)) {
            Some(entry) if entry.attribute("cpuset") == Some(cpus) => None,
            Some(entry) => Some(edit::attribute(text, entry, "cpuset", cpus)),
            None => {
                let added = format!("<iothreadpin iothread='{id}' cpuset='{cpus}'/>");
                let added = document(&added).ok()?;
                Some(edit::inside(text, tuning, added.root_element()))
            }
        }
    })
}
