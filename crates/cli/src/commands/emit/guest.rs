//! `triptime emit guest`.

use super::{CommandArgs, unwritten, write};
use crate::failure::{Failure, say};
use crate::guest::MachineArgs;
use lab::place::guest::{VCPUS, image_for_any};
use std::fs;
use std::path::PathBuf;

/// Writes a guest that measures by itself, for any boot loader: kernel, initramfs with this binary, kernel arguments
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The guest measures, writes its run file as a tar archive onto the first disk that is blank or has an earlier result, says its verdict \
on the console, and powers off.

Example: triptime emit guest probe --kernel vmlinuz --modules lib/modules/6.12 -- qualify vm-wakeup --duration 1h")]
pub(super) struct GuestArgs {
    /// Folder to write vmlinuz, initramfs.img and arguments into
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    command: CommandArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

pub(super) fn run(args: &GuestArgs) -> Result<(), Failure> {
    let spec = args.machine.spec(VCPUS)?;
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
    let image = image_for_any(&spec.modules)?;
    let kernel = fs::read(&spec.kernel).map_err(|error| unwritten(&spec.kernel, &error))?;
    let run = args.command.words.join(" ");
    let arguments = format!("{} triptime.run=\"{run}\"\n", spec.kernel_arguments());
    fs::create_dir_all(&args.folder).map_err(|error| unwritten(&args.folder, &error))?;
    for (name, octets) in [
        ("vmlinuz", kernel.as_slice()),
        ("initramfs.img", &image),
        ("arguments", arguments.as_bytes()),
    ] {
        write(&args.folder.join(name), octets)?;
    }
    let path = args.folder.display();
    say(&format!(
        "{path}: boot {path}/vmlinuz with {path}/initramfs.img and the text of {path}/arguments"
    ));
    Ok(())
}
