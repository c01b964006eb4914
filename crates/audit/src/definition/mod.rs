//! Definitions that users pass as files: of containers; of virtual machines, which are libvirt's XML, VMware's `.vmx` and OVF; and the
//! output of an ESXi host's commands. A setting that a file lacks is `None`: the rules know the defaults.

pub(crate) mod bundle;
pub(crate) mod container;
pub(crate) mod devices;
pub(crate) mod domain;
pub(crate) mod drop_ins;
pub(crate) mod element;
mod ovf;
mod tuning;
pub(crate) mod vmx;

pub use element::document;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::parameters::Parameters;
use bundle::Bundle;
use domain::Domain;
use vmx::Vmx;

/// Maximum size of a definition in bytes: a domain with hundreds of devices is far smaller.
const MOST: u64 = 4 << 20;

/// Reads every definition that is named as a file, before anything else. A domain that is named by its name is looked up in the audited
/// tree, and its findings report errors.
///
/// # Errors
/// Returns the file, the position if known, and the error.
pub fn check_definitions(parameters: &Parameters) -> Result<(), String> {
    for named in parameters.domains.iter().filter(|named| is_file(named)) {
        Domain::parse(&text(Path::new(named))?).map_err(|error| format!("{named}: {error}"))?;
    }
    for named in parameters.containers.iter().filter(|named| is_container_file(named)) {
        let problem = |error| format!("{named}: {error}");
        let path = Path::new(named);
        let whole = drop_ins::joined(path, text(path)?)?;
        container::read(named, &whole, &|name| beside(path, name)).map_err(problem)?;
    }
    for path in &parameters.vmx {
        Vmx::read(path)?;
    }
    if let Some(path) = &parameters.esxi {
        Bundle::read(path)?;
    }
    Ok(())
}

/// True if the argument for a domain is a file, not a domain's name. A name contains no slash (libvirt refuses it).
pub fn is_file(named: &str) -> bool {
    named.contains('/') || named.ends_with(".xml")
}

/// True if the argument for a container is a file, not an id or name: these contain no slash.
fn is_container_file(named: &str) -> bool {
    named.contains('/') || Path::new(named).is_file()
}

/// Text of a file that the user named: always of this machine, even when a recorded tree is audited.
pub(super) fn text(path: &Path) -> Result<String, String> {
    let failed = |what: String| format!("{}: {what}", path.display());
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    opened.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(failed("too long for a definition".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is not text in UTF-8".to_owned()))
}

/// Text of a file in the folder of a definition.
///
/// # Errors
/// The name is not that of a file there, or the file cannot be read.
pub(super) fn beside(definition: &Path, name: &str) -> Result<String, String> {
    match name.contains('/') {
        true => Err(format!("{name} is not a file next to {}", definition.display())),
        false => {
            let path = definition.with_file_name(name);
            drop_ins::joined(&path, text(&path)?)
        }
    }
}

/// Text of a definition that the user named.
pub fn definition_text(path: &str) -> Result<String, String> {
    text(Path::new(path))
}

/// Name of the libvirt domain that a text defines.
pub fn domain_name(text: &str) -> Result<String, String> {
    Domain::parse(text).map(|domain| domain.name)
}

/// Positions of the devices that a relay does not need; a USB controller is replaced by one of the model none.
pub fn needless_places(text: &str) -> Vec<std::ops::Range<usize>> {
    let Ok(tree) = document(text) else { return Vec::new() };
    devices::needless_places(element::Element::root(&tree))
}
