//! A guest without a connection to a host: it runs one command, and shows the answer on the console. For hypervisors that can only boot an image.
//!
//! Either the kernel command line has the command, and run file and answer are written to a disk, as a tar archive; or the boot disk has a partition
//! with the command's words and files, and gets the result in a folder.

mod disk;
mod files;
mod partition;

use super::console::{self, say};
use disk::Disk;
use partition::Partition;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Working folder of the command.
const HOME: &str = "/run/triptime";
/// Names of its result files, also in the archive.
const FILES: [&str; 4] = ["run.triptime", "run.html", "answer.txt", "said.txt"];
/// Folder of the files in the archive; its name identifies a disk with an earlier result.
pub(super) const FOLDER: &str = "triptime/";

/// Runs `triptime WORDS`; writes the result to the disk of this name, or to the first that may be overwritten.
///
/// # Errors
/// The command cannot be run, or the result cannot be written.
pub(super) fn run(words: &[String], disk: Option<&str>) -> Result<(), String> {
    let disk = disk::choose(disk);
    let home = Path::new(HOME);
    command(words, home)?;
    let Disk { path, why } = disk?;
    leave(home, &path).map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!(
        "run file and answer are on {} ({why}), as a tar archive: tar -xf DISK",
        path.display()
    ));
    Ok(())
}

/// Runs the command whose words are on the partition of this name; writes the result into a folder there. If the command fails, the reason is written
/// there, too.
///
/// # Errors
/// There is no such partition, the command cannot be run, or the result cannot be written.
pub(super) fn run_from(partition: &str) -> Result<(), String> {
    let home = Path::new(HOME);
    let partition = Partition::find(partition)?;
    let folder = partition.with(|disk| files::take(disk, home))?;
    let done = files::words(home).and_then(|words| command(&words, home));
    if let Err(why) = &done {
        // The message is on the console in any case.
        let _ = std::fs::write(home.join("said.txt"), format!("triptime: {why}\n"));
    }
    let device = partition.device.display();
    say(&format!("writing the result to {device}: leave the power on"));
    partition.with(|disk| files::keep(home, &disk.join(&folder)))?;
    let what = match home.join(FILES[0]).is_file() {
        true => "run file and answer are",
        false => "no run file was written; the reason is",
    };
    say(&format!(
        "{what} in the folder {folder} of the disk {} ({device})",
        deploy::disk::LABEL
    ));
    done
}

/// Runs the command, and shows its output.
fn command(words: &[String], home: &Path) -> Result<(), String> {
    say(&format!(
        "running `triptime {}`; its output is shown when it has ended",
        words.join(" ")
    ));
    let status = measure(words, home).map_err(|error| format!("cannot run triptime: {error}"))?;
    for name in ["said.txt", "answer.txt"] {
        let said = std::fs::read(home.join(name)).map_err(|error| format!("{name}: {error}"))?;
        console::write(&said);
    }
    say(&format!("triptime ended with {status}"));
    Ok(())
}

/// Runs it with its output in files, for the archive.
fn measure(words: &[String], home: &Path) -> io::Result<ExitStatus> {
    std::fs::create_dir_all(home)?;
    Command::new("/proc/self/exe")
        .args(words)
        .args(["--out", "run.triptime"])
        .current_dir(home)
        .stdout(File::create(home.join("answer.txt"))?)
        .stderr(File::create(home.join("said.txt"))?)
        .status()
}

/// Writes the archive from the first byte of the disk.
fn leave(home: &Path, disk: &Path) -> io::Result<()> {
    let disk = OpenOptions::new().write(true).open(disk)?;
    archive(home, &disk)?;
    disk.sync_all()
}

fn archive(home: &Path, to: impl Write) -> io::Result<()> {
    let mut archive = tar::Builder::new(to);
    for name in FILES {
        let path = home.join(name);
        if path.is_file() {
            archive.append_path_with_name(&path, format!("{FOLDER}{name}"))?;
        }
    }
    archive.into_inner()?.flush()
}

#[cfg(test)]
mod tests {
    use super::archive;
    use super::disk::may_be_overwritten;

    #[test]
    fn the_archive_has_what_there_is_and_marks_its_disk() {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join("answer.txt"), "pass\n").expect("written");
        std::fs::write(home.path().join("run.triptime"), vec![1; 2000]).expect("written");
        let mut octets = Vec::new();
        archive(home.path(), &mut octets).expect("an archive");
        let mut read = tar::Archive::new(octets.as_slice());
        let names: Vec<String> = read
            .entries()
            .expect("entries")
            .map(|entry| {
                let entry = entry.expect("an entry");
                entry.path().expect("a name").display().to_string()
            })
            .collect();
        assert_eq!(names, ["triptime/run.triptime", "triptime/answer.txt"]);
        assert!(may_be_overwritten(&octets).is_some(), "a result of before");
    }
}
