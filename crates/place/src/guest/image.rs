//! The guest's root file system: this program as the first process, the kernel modules that it loads, a container runtime if containers are to run in
//! it, and nothing else.

use super::super::PlaceError;
use super::super::container::RuntimeName;
use super::archive::Archive;
use super::carried;
use super::modules::Module;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of the modules in the image, with a list of their names.
pub(super) const MODULES: &str = "/modules";
/// The file with the names of the modules' files, in the order in which they are loaded.
pub(super) const ORDER: &str = "/modules/order";

/// The running program's file.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// An archive with `program` as `/init`, with these modules in the given order, and with this machine's runtime for containers in the guest. The
/// program must be a static triptime; the running one is [`OWN_PROGRAM`].
///
/// Compressed modules are decompressed, those of xz and zstd by programs of this machine: only kernels since 5.17 with `CONFIG_MODULE_DECOMPRESS` do
/// it themselves. Without such a program it is left to the kernel.
///
/// # Errors
/// A file that cannot be read; a runtime that is not installed.
pub fn make(program: &Path, modules: &[Module], runtime: Option<RuntimeName>) -> Result<Vec<u8>, PlaceError> {
    let mut archive = Archive::default();
    archive.add("/init", &read(program)?)?;
    let mut order = String::new();
    for module in modules {
        let (name, content) = packed(module)?;
        archive.add(&format!("{MODULES}/{name}"), &content)?;
        order.push_str(&name);
        order.push('\n');
    }
    archive.add(ORDER, order.as_bytes())?;
    for file in runtime.map(carried::files).transpose()?.unwrap_or_default() {
        archive.add(&file.to, &read(&file.from)?)?;
    }
    archive.finish()
}

/// The same, compressed with gzip: a third of the size, but a few seconds more for the boot of an emulated guest.
///
/// # Errors
/// Never, except when memory is exhausted.
pub fn pack(image: &[u8]) -> Result<Vec<u8>, PlaceError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(image).and_then(|()| encoder.finish());
    packed.map_err(|error| PlaceError::Io {
        path: PathBuf::from("the image"),
        error,
    })
}

/// Name of a module's file in the image, and its content.
fn packed(module: &Module) -> Result<(String, Vec<u8>), PlaceError> {
    let content = read(&module.file)?;
    let ending = module.file.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("gz") => {
            let mut unpacked = Vec::new();
            let read = GzDecoder::new(content.as_slice()).read_to_end(&mut unpacked);
            read.map_err(|error| io(&module.file, error))?;
            Ok((format!("{}.ko", module.name), unpacked))
        }
        Some(packed @ ("xz" | "zst")) => Ok(match unpacked(packed, &module.file) {
            Some(unpacked) => (format!("{}.ko", module.name), unpacked),
            None => (format!("{}.ko.{packed}", module.name), content),
        }),
        _ => Ok((format!("{}.ko", module.name), content)),
    }
}

/// Decompresses a file of xz or zstd; `None` if the file is neither, or the program is missing.
fn unpacked(ending: &str, file: &Path) -> Option<Vec<u8>> {
    let program = if ending == "xz" { "xz" } else { "zstd" };
    let unpacking = Command::new(program)
        .args(["--decompress", "--stdout", "--quiet"])
        .arg(file)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let output = unpacking.ok()?;
    output.status.success().then_some(output.stdout)
}

fn read(path: &Path) -> Result<Vec<u8>, PlaceError> {
    std::fs::read(path).map_err(|error| io(path, error))
}

fn io(path: &Path, error: std::io::Error) -> PlaceError {
    PlaceError::Io {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::{OWN_PROGRAM, make, pack, packed};
    use crate::guest::modules::Module;
    use std::io::Read;
    use std::path::Path;

    fn contains(octets: &[u8], text: &[u8]) -> bool {
        octets.windows(text.len()).any(|window| window == text)
    }

    #[test]
    fn modules_stand_in_their_order_and_gzip_is_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("b-c.ko");
        std::fs::write(&plain, b"module b").expect("written");
        let other = folder.path().join("a.ko.gz");
        std::fs::write(&other, pack(b"module a").expect("packed")).expect("written");
        let last = folder.path().join("d.ko.xz");
        std::fs::write(&last, b"as it is").expect("written");
        let module = |name: &str, file| Module {
            name: name.to_owned(),
            file,
        };
        let modules = [module("b_c", plain), module("a", other), module("d", last)];
        let found: Vec<(String, Vec<u8>)> = modules.iter().map(|one| packed(one).expect("read")).collect();
        assert_eq!(found[1], ("a.ko".to_owned(), b"module a".to_vec()));
        assert_eq!(found[2], ("d.ko.xz".to_owned(), b"as it is".to_vec()));
        let image = make(Path::new(OWN_PROGRAM), &modules, None).expect("an image");
        // The last file of the image.
        let end = &image[image.len() - 1000..];
        assert!(contains(end, b"modules/order"));
        assert!(contains(end, b"b_c.ko\na.ko\nd.ko.xz\n"));
        let mut unpacked = Vec::new();
        let small = pack(&image).expect("packed");
        flate2::read::GzDecoder::new(small.as_slice())
            .read_to_end(&mut unpacked)
            .expect("unpacked");
        assert_eq!(unpacked, image);
    }

    #[test]
    fn a_module_that_is_gone_is_named() {
        let gone = Module {
            name: "a".to_owned(),
            file: "/nowhere/a.ko".into(),
        };
        let error = make(Path::new(OWN_PROGRAM), &[gone], None).expect_err("no file");
        assert!(error.to_string().contains("/nowhere/a.ko"), "{error}");
    }
}
