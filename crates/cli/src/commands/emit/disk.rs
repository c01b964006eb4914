//! `triptime emit guest --disk`: writes a disk that boots without a boot loader.

use super::unwritten;
use crate::failure::{Failure, say};
use deploy::disk::{DiskError, DiskSpec, Identity, LABEL, Parts, WORDS, disk, unified, vhd_footer, vmdk};
use place::guest::asked::PARTITION;
use place::guest::{GuestSpec, image_for_any, reads_files};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Paths where packages install the stub.
const STUB: &str = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub";

/// Options of a bootable disk.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DiskArgs {
    /// Disk to write instead, bootable under UEFI: FILE.img (raw), FILE.vmdk (VMware) or FILE.vhd (Hyper-V)
    #[arg(long, value_name = "FILE")]
    pub(super) disk: Option<PathBuf>,
    /// File to put on that disk, which the command can name: a plan, limits; may be given several times
    #[arg(long = "file", value_name = "FILE", requires = "disk")]
    files: Vec<PathBuf>,
    /// Room on that disk for files and results
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = crate::arguments::size, requires = "disk")]
    room: u64,
    /// EFI program that starts the kernel: systemd's linuxx64.efi.stub [default: the one that is installed]
    #[arg(long, value_name = "FILE", requires = "disk")]
    stub: Option<PathBuf>,
}

/// Format of the disk file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Raw,
    Vmdk,
    Vhd,
}

impl DiskArgs {
    pub(super) fn write(&self, path: &Path, spec: &GuestSpec, words: &str) -> Result<(), Failure> {
        let form = form(path)?;
        let stub = self.stub()?;
        let files = self.files(words)?;
        let image = image_for_any(&spec.modules)?;
        let reads_files = reads_files(&spec.modules)?;
        if !reads_files {
            say(&format!(
                "{}: no module vfat, and no list that shows it is built in; without vfat the guest does not find its command",
                spec.modules.display()
            ));
        }
        let kernel = read(&spec.kernel)?;
        let arguments = format!("{} console=tty0", spec.kernel_arguments());
        let contents = [stub.as_slice(), &kernel, &image, arguments.as_bytes()];
        let named = files.iter().flat_map(|(name, content)| [name.as_bytes(), content]);
        let identity = Identity::of(contents.into_iter().chain(named));
        let program = unified(&Parts {
            stub: &stub,
            kernel: &kernel,
            arguments: &format!("{arguments} {PARTITION}{}", identity.partition()),
            initramfs: &image,
        });
        let program = program.map_err(|error| refused(&error))?;
        let made = disk(&DiskSpec {
            identity,
            program: &program,
            files: &files,
            room: self.room,
        });
        let made = made.map_err(|error| refused(&error))?;
        let flat = flat(path, form);
        store(&flat, &made.pieces, made.size).map_err(|error| unwritten(&flat, &error))?;
        finish(path, form, &identity, made.size).map_err(|error| unwritten(path, &error))?;
        say(&format!(
            "{}: boots under UEFI without Secure Boot{}, runs `triptime {}`, and leaves the result in a folder of its \
             partition {LABEL}",
            path.display(),
            if reads_files {
                ""
            } else {
                " and, if its kernel has vfat"
            },
            words
        ));
        Ok(())
    }

    fn stub(&self) -> Result<Vec<u8>, Failure> {
        let path = self.stub.clone().unwrap_or_else(|| PathBuf::from(STUB));
        fs::read(&path).map_err(|error| {
            Failure::CouldNotMeasure(format!(
                "{}: {error}: the kernel starts under UEFI through systemd's linuxx64.efi.stub (Debian: systemd-boot-efi; \
                 Fedora: systemd-boot-unsigned); name one with --stub FILE",
                path.display()
            ))
        })
    }

    /// Names and contents of the files of the partition.
    fn files(&self, words: &str) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let text = format!(
            "# What `triptime` does when this disk boots: the words of its command. Files next to this one can be named.\n{words}\n"
        );
        let mut files = vec![(WORDS.to_owned(), text.into_bytes())];
        for path in &self.files {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, read(path)?));
        }
        Ok(files)
    }
}

fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(OsStr::to_str) {
        Some("img" | "raw") => Ok(Form::Raw),
        Some("vmdk") => Ok(Form::Vmdk),
        Some("vhd") => Ok(Form::Vhd),
        _ => Err(Failure::Usage(format!(
            "{}: a disk's file ends in .img (raw), .vmdk (VMware) or .vhd (Hyper-V)",
            path.display()
        ))),
    }
}

/// File with the bytes of the disk: for VMware a file next to the text that describes them.
fn flat(path: &Path, form: Form) -> PathBuf {
    match form {
        Form::Vmdk => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}-flat.vmdk"))
        }
        Form::Raw | Form::Vhd => path.to_owned(),
    }
}

/// Writes the bytes; zeros take no room on this machine's disk.
fn store(path: &Path, pieces: &[(u64, Vec<u8>)], size: u64) -> std::io::Result<()> {
    let file = File::create(path)?;
    file.set_len(size)?;
    for (at, octets) in pieces {
        file.write_all_at(octets, *at)?;
    }
    Ok(())
}

fn finish(path: &Path, form: Form, identity: &Identity, size: u64) -> std::io::Result<()> {
    match form {
        Form::Raw => Ok(()),
        Form::Vmdk => {
            let flat = flat(path, form);
            let name = flat.file_name().unwrap_or_default().to_string_lossy();
            fs::write(path, vmdk(identity, size, &name))
        }
        Form::Vhd => File::options()
            .write(true)
            .open(path)?
            .write_all_at(&vhd_footer(identity, size), size),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| unwritten(path, &error))
}

fn refused(error: &DiskError) -> Failure {
    Failure::Usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{finish, flat, form, store};
    use deploy::disk::Identity;
    use std::path::Path;

    #[test]
    fn the_ending_says_how_a_disk_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let identity = Identity::of([b"x".as_slice()]);
        let length = |path: &Path| std::fs::metadata(path).map(|file| file.len()).expect("a file");
        for (name, octets) in [
            ("d.img", 4096),
            ("d.raw", 4096),
            ("d-flat.vmdk", 4096),
            ("d.vhd", 4096 + 512),
        ] {
            let path = folder.path().join(name.replace("-flat", ""));
            let form = form(&path).expect("a form");
            store(&flat(&path, form), &[(1024, vec![7])], 4096).expect("written");
            finish(&path, form, &identity, 4096).expect("written");
            assert_eq!(length(&folder.path().join(name)), octets, "{name}");
        }
        let text = std::fs::read_to_string(folder.path().join("d.vmdk")).expect("text");
        assert!(text.contains("RW 8 FLAT \"d-flat.vmdk\" 0"), "{text}");
        for name in ["d.qcow2", "d", "d.vhdx"] {
            assert!(form(Path::new(name)).is_err(), "{name}");
        }
    }
}
