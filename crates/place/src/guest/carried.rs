//! A container runtime for a guest's image: this machine's program and its shared libraries.

use super::super::PlaceError;
use super::super::container::RuntimeName;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of the program in the image. It is found there without `PATH`, which the kernel does not set.
const BIN: &str = "/usr/bin";

/// Folders to search in addition to `PATH`.
const MORE_PATHS: [&str; 2] = ["/usr/bin", "/usr/sbin"];

/// Makes the dynamic loader print a program's libraries instead of running it (ld.so(8)).
const TELL: &str = "LD_TRACE_LOADED_OBJECTS";

/// Usable runtimes that need no other program, the smaller one first.
const USABLE: [RuntimeName; 2] = [RuntimeName::Crun, RuntimeName::Runc];

/// A file of this machine, and its path in the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) from: PathBuf,
    pub(super) to: String,
}

/// The named runtime, or the first that is installed here.
///
/// # Errors
/// The runtime cannot be used in a guest, or none is installed.
pub fn runtime_for_guest(named: Option<RuntimeName>) -> Result<RuntimeName, PlaceError> {
    let missing = |text: String| Err(PlaceError::NotAvailable(text));
    match named {
        Some(name) if !USABLE.contains(&name) => missing(format!(
            "{} is not a single program, but a guest's image can contain only one: --runtime crun or --runtime runc",
            name.name()
        )),
        Some(name) if program(name).is_none() => missing(format!(
            "{} is not installed here; the guest's image needs a copy of it",
            name.name()
        )),
        Some(name) => Ok(name),
        None => USABLE.into_iter().find(|name| program(*name).is_some()).map_or_else(
            || {
                missing(
                    "a container in a guest needs a runtime, which is copied from this machine: install crun or runc"
                        .to_owned(),
                )
            },
            Ok,
        ),
    }
}

/// Lists the files of this machine that the image needs for the runtime.
///
/// # Errors
/// It is not installed, or a library is missing.
pub(super) fn files(name: RuntimeName) -> Result<Vec<Carried>, PlaceError> {
    let failed = |why: String| PlaceError::NotAvailable(format!("{}: {why}", name.name()));
    let program = program(name).ok_or_else(|| failed("it is not installed here".to_owned()))?;
    let libraries = libraries_of(&program)?;
    let mut all = vec![Carried {
        from: program,
        to: format!("{BIN}/{}", name.name()),
    }];
    all.extend(libraries.into_iter().map(|path| Carried {
        from: PathBuf::from(&path),
        to: path,
    }));
    Ok(all)
}

/// The paths of the libraries that a program of this machine needs, including the loader.
///
/// # Errors
/// The program cannot be run, or a library is missing.
pub fn libraries_of(program: &Path) -> Result<Vec<String>, PlaceError> {
    let failed = |why: String| PlaceError::NotAvailable(format!("{}: {why}", program.display()));
    let told = Command::new(program)
        .env(TELL, "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    libraries(&String::from_utf8_lossy(&told.stdout)).map_err(failed)
}

fn program(name: RuntimeName) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_PATHS.map(PathBuf::from));
    let mut files = folders.map(|folder| folder.join(OsStr::new(name.name())));
    files.find(|file| Path::is_file(file))
}

/// Parses the output of the loader: `libc.so.6 => /lib/libc.so.6 (0x7f…)`. For a program without libraries the output has no such line.
///
/// # Errors
/// A library that is missing.
fn libraries(told: &str) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    for line in told.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" => not found") {
            return Err(format!("the library {name}, which it needs, is not installed"));
        }
        let Some((object, _address)) = line.split_once(" (0x") else {
            continue;
        };
        let path = object.split_once(" => ").map_or(object, |(_, path)| path);
        if path.starts_with('/') {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::{libraries, runtime_for_guest};
    use crate::container::RuntimeName;

    #[test]
    fn a_program_takes_its_libraries_and_its_loader() {
        let told = "\tlinux-vdso.so.1 (0x00007f1d1c850000)\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1d1c4dc000)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f1d1c852000)\n";
        let known = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(libraries(told).expect("all there"), known);
        assert_eq!(
            libraries("NAME:\n   runc - Open Container Initiative").expect("static"),
            [""; 0]
        );
        let why = libraries("\tlibyajl.so.2 => not found\n").expect_err("not there");
        assert!(why.contains("libyajl.so.2"), "{why}");
    }

    #[test]
    fn what_is_more_than_a_program_is_in_no_image() {
        let refused = runtime_for_guest(Some(RuntimeName::Podman)).expect_err("of many programs");
        assert!(refused.to_string().contains("--runtime crun"), "{refused}");
    }
}
