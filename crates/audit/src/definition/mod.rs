//! Definitions that users hand over as files: of containers; of virtual machines, which are libvirt's XML, VMware's `.vmx` and
//! OVF; and the output of an ESXi host's commands. A setting that a file does not have is `None`: what then holds is the rules' matter.

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

/// Most bytes of a definition: a domain with hundreds of devices is far below.
const MOST: u64 = 4 << 20;

/// Reads every definition that is named as a file, before anything is asked of it. A domain that is named by its name is looked
/// up in the tree that is audited, and its findings say what is wrong there.
///
/// # Errors
/// The file, the place in it where that is known, and what is wrong.
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

/// True if the argument for a domain is a file, and no domain's name. A name has no slash (libvirt refuses it).
pub fn is_file(named: &str) -> bool {
    named.contains('/') || named.ends_with(".xml")
}

/// True where the argument for a container is a file, and no id or name: these have no slash.
fn is_container_file(named: &str) -> bool {
    named.contains('/') || Path::new(named).is_file()
}

/// The text of a file that the user named: of this machine, also when a recorded tree is audited.
pub(super) fn text(path: &Path) -> Result<String, String> {
    let failed = |what: String| format!("{}: {what}", path.display());
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    opened.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(failed("too long for a definition".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is no text in UTF-8".to_owned()))
}

/// The text of a file in the folder of a definition.
///
/// # Errors
/// It is no name of a file there, or cannot be read.
pub(super) fn beside(definition: &Path, name: &str) -> Result<String, String> {
    match name.contains('/') {
        true => Err(format!("{name} is no file beside {}", definition.display())),
        false => {
            let path = definition.with_file_name(name);
            drop_ins::joined(&path, text(&path)?)
        }
    }
}

/// The text of a definition that the user named.
pub fn definition_text(path: &str) -> Result<String, String> {
    text(Path::new(path))
}

/// The name of the libvirt domain that a text defines.
pub fn domain_name(text: &str) -> Result<String, String> {
    Domain::parse(text).map(|domain| domain.name)
}

/// Where the devices stand that a relay does not need; a USB controller becomes one of the model none instead.
pub fn needless_places(text: &str) -> Vec<std::ops::Range<usize>> {
    let Ok(tree) = document(text) else { return Vec::new() };
    devices::needless_places(element::Element::root(&tree))
}
