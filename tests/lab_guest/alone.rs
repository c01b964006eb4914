//! A guest without a connection to a host: its command is on the kernel command line, and its result on a disk.

use crate::kernel;
use crate::machine::{start, until_off};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use store::RunFile;
use support::{run, stderr};

/// Text on the console of a guest with this image, disk and command, after it has powered off.
fn console(kernel: &Path, image: &Path, disk: &Path, command: &str) -> String {
    let shown = disk.with_extension("console");
    let append = format!("console=ttyS0 quiet panic=-1 cryptomgr.notests triptime.run=\"{command}\"");
    let drive = format!("file={},format=raw,if=virtio", disk.display());
    let (kernel, image) = (
        kernel.join("vmlinux").display().to_string(),
        image.display().to_string(),
    );
    let devices = [
        "-kernel", &kernel, "-initrd", &image, "-append", &append, "-drive", &drive,
    ];
    until_off(start(&shown, &devices), &shown)
}

#[test]
fn a_command_of_the_kernel_command_line_leaves_its_result_on_a_blank_disk() {
    let test = "a_command_of_the_kernel_command_line_leaves_its_result_on_a_blank_disk";
    let Some(kernel) = kernel(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (image, disk) = (path("guest/initramfs.img"), path("disk"));
    let words = |path: &Path| path.display().to_string();
    let arguments = [
        "emit",
        "guest",
        &words(&path("guest")),
        "--kernel",
        &words(&kernel.join("vmlinux")),
        "--modules",
        &words(&kernel),
    ];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    File::create(&disk)
        .and_then(|file| file.set_len(32 << 20))
        .expect("a disk");

    let shown = console(
        &kernel,
        &image,
        &disk,
        "wakeup --cpus 0 --duration 1s --limits substation",
    );
    assert!(
        shown.contains("INCONCLUSIVE") || shown.contains("inconclusive"),
        "{shown}"
    );
    assert!(shown.contains("/dev/vda (which was blank)"), "{shown}");
    let unpacked = Command::new("tar")
        .arg("-xf")
        .arg(&disk)
        .arg("-C")
        .arg(folder.path())
        .status();
    assert!(unpacked.expect("tar").success(), "{shown}");
    let run = RunFile::open(&path("triptime/run.triptime")).expect("a run file");
    assert_eq!(run.series().expect("series").len(), 1);
}
