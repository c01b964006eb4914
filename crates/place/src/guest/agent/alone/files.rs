//! Files of the boot disk: the task, and its result.

use super::FILES;
use deploy::disk::WORDS;
use std::fs::{File, create_dir, create_dir_all, read_dir};
use std::io;
use std::path::Path;

/// Prefix of the folders of results, before their number.
const RUN: &str = "run-";
/// Ending of a file's name until the file is complete.
const PART: &str = "part";

/// Copies the disk's files into `home`, and makes the next numbered folder for the result; returns its name.
///
/// # Errors
/// A file cannot be read or written, with its name.
pub(super) fn take(disk: &Path, home: &Path) -> Result<String, String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    create_dir_all(home).map_err(|error| failed(home, error))?;
    let mut last = 0;
    for entry in read_dir(disk).map_err(|error| failed(disk, error))? {
        let path = entry.map_err(|error| failed(disk, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(number) = number(&name) {
            last = last.max(number);
        }
        // Files with the names of results are not copied, because the measurement makes them.
        let is_taken = path.is_file() && !FILES.contains(&name.as_str());
        if is_taken {
            std::fs::copy(&path, home.join(&name)).map_err(|error| failed(&path, error))?;
        }
    }
    let name = format!("{RUN}{}", last + 1);
    create_dir(disk.join(&name)).map_err(|error| failed(&disk.join(&name), error))?;
    Ok(name)
}

fn number(name: &str) -> Option<u32> {
    name.to_ascii_lowercase().strip_prefix(RUN)?.parse().ok()
}

/// The words of the command, from their file.
///
/// # Errors
/// The file is missing or has no words.
pub(super) fn words(home: &Path) -> Result<Vec<String>, String> {
    let path = home.join(WORDS);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{WORDS} on the disk: {error}"))?;
    let words = words_of(&text);
    match words.is_empty() {
        true => Err(format!(
            "{WORDS} on the disk names no command, such as: qualify vm-wakeup --duration 10m"
        )),
        false => Ok(words),
    }
}

/// Lines that start with `#` are comments. Some editors write a byte order mark at the start of a file.
fn words_of(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('\u{feff}').lines();
    let told = lines.filter(|line| !line.trim_start().starts_with('#'));
    told.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// Copies the results into the folder; each file has a temporary name until it is complete and on the disk. A failure does not stop the other copies.
///
/// # Errors
/// The first file that failed, and the reason.
pub(super) fn keep(home: &Path, folder: &Path) -> Result<(), String> {
    let present = FILES.iter().filter(|name| home.join(name).is_file());
    let kept: Vec<Result<(), String>> = present.map(|name| keep_one(home, folder, name)).collect();
    kept.into_iter().collect()
}

fn keep_one(home: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let part = folder.join(format!("{name}.{PART}"));
    let done = copy(&home.join(name), &part)
        .and_then(|()| std::fs::rename(&part, folder.join(name)))
        .and_then(|()| File::open(folder)?.sync_all());
    done.map_err(|error| {
        // Frees the space for the next files.
        let _ = std::fs::remove_file(&part);
        let octets = std::fs::metadata(home.join(name)).map_or(0, |file| file.len());
        format!("{name} ({octets} bytes) cannot be written to the disk: {error}")
    })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::create(to)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{keep, keep_one, take, words, words_of};
    use std::path::Path;

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).expect("written");
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("read").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_taken_and_each_boot_has_a_folder_of_its_own() {
        let (disk, home) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
        let (disk, home) = (disk.path(), home.path());
        write(
            &disk.join("words.txt"),
            "\u{feff}# what\r\nqualify plan.toml\r\n  --duration 1s\r\n",
        );
        write(&disk.join("plan.toml"), "a plan");
        write(&disk.join("run.triptime"), "somebody's");
        std::fs::create_dir(disk.join("RUN-9")).expect("made");
        std::fs::create_dir(disk.join("run-x")).expect("made");
        assert_eq!(take(disk, home).as_deref(), Ok("run-10"));
        assert_eq!(take(disk, home).as_deref(), Ok("run-11"));
        assert_eq!(names(home), ["plan.toml", "words.txt"]);
        assert_eq!(
            words(home).expect("words"),
            ["qualify", "plan.toml", "--duration", "1s"]
        );
        assert!(words_of("# only\n\n").is_empty());
        write(&home.join("words.txt"), "#\n");
        assert!(words(home).expect_err("none").contains("vm-wakeup"));
    }

    #[test]
    fn a_file_that_breaks_off_has_no_name_of_a_whole_one() {
        let (home, folder) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
        let (home, folder) = (home.path(), folder.path());
        write(&home.join("answer.txt"), "pass");
        keep(home, folder).expect("kept");
        assert_eq!(names(folder), ["answer.txt"]);
        // It can be opened, but not read.
        std::fs::create_dir(home.join("run.html")).expect("made");
        let error = keep_one(home, folder, "run.html").expect_err("unreadable");
        assert!(error.contains("run.html"), "{error}");
        assert_eq!(names(folder), ["answer.txt"]);
    }
}
