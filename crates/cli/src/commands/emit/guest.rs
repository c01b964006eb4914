//! `triptime emit guest`.

use super::disk::DiskArgs;
use super::{CommandArgs, absolute, unwritten, write};
use crate::failure::{Failure, say};
use crate::guest::{MachineArgs, told};
use place::guest::asked::RUN;
use place::guest::{GuestSpec, VCPUS, domain, image_for_any};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a guest that measures without further help: kernel, initramfs with this binary and kernel arguments, or a bootable disk
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The guest measures, writes its run file as a tar archive onto the first disk that is blank or has an earlier result, prints its \
verdict on the console, and powers off. From a disk of its own (--disk) it leaves the run file in a folder of that disk.

Examples: triptime emit guest probe --kernel vmlinuz --modules lib/modules/6.12 -- qualify vm-wakeup --duration 1h
          triptime emit guest --disk probe.vmdk --kernel vmlinuz --modules lib/modules/6.12 --file plan.toml -- qualify plan.toml")]
pub(super) struct GuestArgs {
    /// Folder to write vmlinuz, initramfs.img, arguments and domain.xml into
    #[arg(value_name = "DIR", required_unless_present = "disk", conflicts_with = "disk")]
    folder: Option<PathBuf>,
    /// Give the guest of domain.xml all of this port by VFIO, such as a virtual function; a port that is no PCI device gets a macvtap
    #[arg(long, value_name = "IF", conflicts_with = "disk")]
    nic: Option<String>,
    #[command(flatten)]
    disk: DiskArgs,
    #[command(flatten)]
    command: CommandArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

pub(super) fn run(args: &GuestArgs) -> Result<(), Failure> {
    let spec = told(args.machine.spec(VCPUS)?.for_loader());
    if let Some(word) = args
        .command
        .words
        .iter()
        .find(|word| word.contains(['"', ' ', '\t', '\n']))
    {
        return Err(Failure::Usage(format!(
            "\"{word}\": a word on a kernel's command line has neither spaces nor quotes"
        )));
    }
    spec.check()?;
    let words = args.command.words.join(" ");
    match (&args.disk.disk, &args.folder) {
        (Some(disk), _) => args.disk.write(disk, &spec, &words),
        (None, Some(folder)) => write_folder(folder, &spec, args.nic.as_deref(), &words),
        (None, None) => Err(Failure::Usage("name a folder, or a disk with --disk FILE".to_owned())),
    }
}

/// Writes the files for a boot loader.
fn write_folder(folder: &Path, spec: &GuestSpec, nic: Option<&str>, words: &str) -> Result<(), Failure> {
    let image = image_for_any(&spec.modules)?;
    let kernel = fs::read(&spec.kernel).map_err(|error| unwritten(&spec.kernel, &error))?;
    let arguments = format!("{} {RUN}\"{words}\"\n", spec.kernel_arguments());
    fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    let whole = absolute(folder)?;
    let domain = domain(spec, &whole.join("vmlinuz"), &whole.join("initramfs.img"), nic)?;
    for (name, octets) in [
        ("vmlinuz", kernel.as_slice()),
        ("initramfs.img", &image),
        ("arguments", arguments.as_bytes()),
        ("domain.xml", domain.as_bytes()),
    ] {
        write(&folder.join(name), octets)?;
    }
    let path = folder.display();
    say(&format!(
        "{path}: boot {path}/vmlinuz with {path}/initramfs.img and the text of {path}/arguments; or `virsh create {path}/domain.xml`, \
         and then `triptime lab guest --domain triptime {words}`"
    ));
    Ok(())
}
